"""The command line of `python -m local`, and of the `make` targets that call it.

Every value is checked before anything is downloaded or started. An error names the option or the
`make` variable as it was typed, and what is accepted.
"""

import argparse
import difflib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from voice_agent.settings import PREFIX, Settings

MAX_PROMPT_CHARS: int = Settings.model_fields["max_prompt_chars"].default
MAX_SYSTEM_CHARS = 20_000
"""Less than an environment variable can hold, which passes it to the agent."""
MAX_TEXT_CHARS = 20_000
"""What the speech server takes in one request, which the whole text is in mode batch."""

DEFAULT_PROMPT = "Tell me about the harbor."
DEFAULT_VOICE: str = Settings.model_fields["voice"].default
DEFAULT_PORT = 8080

DESCRIPTION = "Run the whole voice agent on this machine, with stand-ins for AWS."

MAKE_PREFIX = "GIVEN_"
"""The Makefile exports `GIVEN_TEXT` and so on: the values of its variables, verbatim."""

_COMMANDS_OF_MAKE = {
    "say": ["say"],
    "serve": ["serve"],
    "demo": ["serve", "--page"],
    "container": ["container"],
}
_ANSWERING = "VOICE SPEED SYSTEM BEDROCK MODEL JSON"
_VARIABLES_OF_MAKE = {
    "say": f"TEXT SAY MODE TRANSPORT OUT {_ANSWERING}",
    "serve": f"PORT {_ANSWERING}",
    "demo": f"PORT {_ANSWERING}",
    "container": "PORT",
}
_NAMES_IN_MAKE = {"prompt": "TEXT", "--text": "SAY"}


class CommandLine(argparse.ArgumentParser):
    """Reports a wrong argument in one line that says where help is."""

    help_command = "python -m local --help"

    def __init__(self, prog: str = "python -m local", **options: Any) -> None:
        super().__init__(prog=prog, **options)

    def name_of(self, option: str) -> str:
        """Return the name by which the user knows an option, or a positional argument."""
        return option if option.startswith("--") else option.upper()

    def error(self, message: str) -> NoReturn:
        """Print `message` and end the process with status 2."""
        wrong = re.fullmatch(r"argument (\S+): (.*)", message, re.DOTALL)
        if wrong:
            message = f"{self.name_of(wrong[1])}: {wrong[2]}"
        self.exit(2, f"error: {message}\n`{self.help_command}` lists what is accepted.\n")


class MakeCommandLine(CommandLine):
    """The same for people who typed `make say TEXT=…`: it names the variables of `make`."""

    help_command = "make help"

    def name_of(self, option: str) -> str:
        """Return the variable that stands for an option."""
        return _NAMES_IN_MAKE.get(option, option.removeprefix("--").upper())


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse and check the arguments of `python -m local`.

    Returns:
        The options by name, and `command`: the name of the command.

    Raises:
        SystemExit: An argument is wrong, which has been printed, or help was asked for.
    """
    return _parse(CommandLine(description=DESCRIPTION), arguments)


def parse_make(target: str, environment: Mapping[str, str]) -> argparse.Namespace:
    """Parse and check `make TARGET NAME=value …`.

    Args:
        target: `say`, `serve`, `demo` or `container`.
        environment: Holds `GIVEN_NAME` for each variable that was given.

    Returns:
        What `parse` returns.

    Raises:
        SystemExit: A variable is wrong, which has been printed.
    """
    parser = MakeCommandLine(description=DESCRIPTION)
    accepted = _VARIABLES_OF_MAKE[target].split()
    options, prompt = [], []
    for name, value in sorted(environment.items()):
        variable = name.removeprefix(MAKE_PREFIX)
        if variable == name:
            continue
        if variable not in accepted:
            parser.error(f"{variable}: `make {target}` takes {', '.join(accepted)}")
        if variable == "TEXT":
            prompt = ["--", value]
        else:
            option = "text" if variable == "SAY" else variable.lower()
            options.append(f"--{option}={value}")
    return _parse(parser, [*_COMMANDS_OF_MAKE[target], *options, *prompt])


def _parse(parser: CommandLine, arguments: Sequence[str]) -> argparse.Namespace:
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_say(commands.add_parser("say", help="speak one reply, or a text, into a WAV file"))
    _add_serve(commands.add_parser("serve", help="keep the agent running until Ctrl-C"))
    container = commands.add_parser("container", help="keep the speech server alone running")
    _add_port(container, "port of the speech server")
    options = parser.parse_args(arguments)
    if options.command == "say":
        if options.text and options.prompt:
            names = " and ".join(map(parser.name_of, ("prompt", "--text")))
            parser.error(f"{names}: give one of them, a prompt to answer or a text to read aloud")
        options.prompt = options.prompt or DEFAULT_PROMPT
        if options.text and options.bedrock != "scripted":
            name, bedrock = map(parser.name_of, ("--text", "--bedrock"))
            parser.error(f"{name}: is read aloud as it is, which needs no {bedrock}")
    if options.command != "container" and options.bedrock == "scripted":
        for option, given, lacking in (
            ("--model", options.model, "model"),
            ("--system", options.system, "system prompt"),
        ):
            if given:
                name, bedrock = map(parser.name_of, (option, "--bedrock"))
                parser.error(f"{name}: scripted replies have no {lacking}; give {bedrock} as well")
    return options


def agent_environment(options: argparse.Namespace) -> dict[str, str]:
    """Return the agent's settings that the options of `say` or `serve` change."""
    given = {"VOICE": options.voice, "SPEED": options.speed, "SYSTEM_PROMPT": options.system}
    return {PREFIX + name: str(value) for name, value in given.items() if value is not None}


def _add_say(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "prompt",
        type=_words(MAX_PROMPT_CHARS),
        nargs="?",
        help=f"what you say to the agent ({DEFAULT_PROMPT})",
    )
    parser.add_argument(
        "--text", type=_words(MAX_TEXT_CHARS), help="a text to read aloud instead of a reply"
    )
    parser.add_argument(
        "--mode",
        type=_one_of("bidi", "batch"),
        default="bidi",
        help="bidi: speech begins at the first sentence; batch: after the last (%(default)s)",
    )
    parser.add_argument(
        "--transport",
        type=_one_of("ws", "sse"),
        default="ws",
        help="WebSocket or server-sent events (%(default)s)",
    )
    parser.add_argument(
        "--out", type=_wav, default=Path("reply.wav"), help="WAV file (%(default)s)"
    )
    parser.add_argument("--json", type=_output, help="file for the timeline in numbers")
    _add_agent(parser)


def _add_serve(parser: argparse.ArgumentParser) -> None:
    _add_port(parser, "port of the agent; the speech server has the next, the page the one after")
    parser.add_argument("--json", type=_output, help="file for all addresses and credentials")
    parser.add_argument("--page", action="store_true", help="serve the page in web/ as well")
    _add_agent(parser)


def _add_port(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument(
        "--port",
        type=_port,
        default=DEFAULT_PORT,
        help=f"{text}; 0 takes free ones (%(default)s)",
    )


def _add_agent(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--voice", type=_voice, help=f"voice of the replies, a name or a mix ({DEFAULT_VOICE})"
    )
    parser.add_argument(
        "--speed", type=_speed, help="speed of the speech, 0.5 to 2; 1 is the voice's own pace (1)"
    )
    parser.add_argument(
        "--system",
        type=_words(MAX_SYSTEM_CHARS),
        help="system prompt: instructions for the model, in place of the agent's own",
    )
    parser.add_argument(
        "--bedrock",
        type=_bedrock,
        metavar="SOURCE",
        default="scripted",
        help="who writes the replies: `scripted`, `aws` (Amazon Bedrock with your credentials), or "
        "the address of an OpenAI-compatible server, http://127.0.0.1:11434/v1 (%(default)s)",
    )
    parser.add_argument("--model", help="model of that source (default: the source decides)")


def _one_of(*choices: str) -> Callable[[str], str]:
    def check(argument: str) -> str:
        if argument not in choices:
            raise argparse.ArgumentTypeError(
                f"{argument!r} is not accepted; choose {' or '.join(choices)}"
            )
        return argument

    return check


def _words(max_chars: int) -> Callable[[str], str]:
    def check(argument: str) -> str:
        if not argument.strip():
            raise argparse.ArgumentTypeError("there is nothing in it to say")
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise argparse.ArgumentTypeError("it is not UTF-8") from None
        if len(argument) > max_chars:
            raise argparse.ArgumentTypeError(
                f"it has {len(argument):,} characters; at most {max_chars:,} are accepted"
            )
        return argument

    return check


def _voice(argument: str) -> str:
    # Imported here because they take half a second, which `serve` need not wait for.
    from kokoro_voice.errors import UnknownVoiceError, VoiceError
    from kokoro_voice.voices import MODEL_VOICES, Voices

    voices = Voices(list(MODEL_VOICES), DEFAULT_VOICE)
    try:
        return voices.resolve(argument).name
    except UnknownVoiceError as error:
        message = str(error)
        for component in argument.split("+"):
            name = component.partition("(")[0]
            if name not in voices.names and (meant := _similar_voice(name, voices.names)):
                message = (
                    f"unknown voice {name[:60]!r}; did you mean {meant}? "
                    "docs/voices.md lists all voices"
                )
                break
        raise argparse.ArgumentTypeError(message) from None
    except VoiceError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _similar_voice(name: str, voices: Sequence[str]) -> str | None:
    """Return the voice that `name` resembles, with or without its prefix such as `af_`."""
    wanted = name.strip().casefold().replace("-", "_").replace(" ", "_")
    if close := difflib.get_close_matches(wanted, voices, 1, 0.75):
        return close[0]
    plain = {voice.partition("_")[2]: voice for voice in reversed(voices)}
    close = difflib.get_close_matches(wanted, plain, 1, 0.75)
    return plain[close[0]] if close else None


def _speed(argument: str) -> float:
    if not re.fullmatch(r"\d{1,3}(\.\d{1,6})?", argument, re.ASCII) or not (
        0.5 <= float(argument) <= 2
    ):
        raise argparse.ArgumentTypeError(
            f"{argument!r} is not accepted; give a number from 0.5 to 2, such as 1.2"
        )
    return float(argument)


def _bedrock(argument: str) -> str:
    if argument not in ("scripted", "aws") and not re.fullmatch(r"https?://[^/\s]+\S*", argument):
        raise argparse.ArgumentTypeError(
            f"{argument!r} is not accepted; give scripted, aws, or the address of an "
            "OpenAI-compatible server, such as http://127.0.0.1:11434/v1"
        )
    return argument


def _wav(argument: str) -> Path:
    if Path(argument).suffix.lower() != ".wav":
        raise argparse.ArgumentTypeError(
            f"{argument!r}: the speech is written as a WAV file; give a name that ends in .wav"
        )
    return _output(argument)


def _output(argument: str) -> Path:
    path = Path(argument)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{argument!r}: there is no folder {path.parent}")
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{argument!r} is a folder; name a file")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{argument!r} cannot be written")
    return path


def _port(argument: str) -> int:
    if not re.fullmatch(r"\d{1,5}", argument, re.ASCII) or int(argument) > 65_500:
        raise argparse.ArgumentTypeError(
            f"{argument!r} is not accepted; give a number from 1 to 65500, or 0 for free ports"
        )
    return int(argument)
