"""The command line of the local commands: what is wrong is named as it was typed."""

import pytest

from kokoro_voice.voices import MODEL_VOICES
from local.command_line import agent_environment, parse, parse_make
from voice_agent.settings import Settings

WRONG = [
    (["say", "TEXT="], "TEXT: there is nothing in it to say"),
    (["say", "SAY= "], "SAY: there is nothing in it to say"),
    (["say", "SAY=caf\udce9"], "SAY: it is not UTF-8"),
    (["say", f"SAY={'a' * 20_001}"], "SAY: it has 20,001 characters; at most 20,000"),
    (["say", f"TEXT={'a' * 4001}"], "TEXT: it has 4,001 characters; at most 4,000"),
    (["say", "TEXT=a", "SAY=b"], "TEXT and SAY: give one of them"),
    (["say", "MODE=stream"], "MODE: 'stream' is not accepted; choose bidi or batch"),
    (["say", "TRANSPORT=http"], "TRANSPORT: 'http' is not accepted; choose ws or sse"),
    (["say", "VOICE=nobody"], "VOICE: unknown voice 'nobody'; use one of af_alloy"),
    (["say", "VOICE=af_hart"], "VOICE: unknown voice 'af_hart'; did you mean af_heart?"),
    (["demo", "VOICE=Heart"], "VOICE: unknown voice 'Heart'; did you mean af_heart?"),
    (["serve", "VOICE=af_bella(2)+af_skye"], "VOICE: unknown voice 'af_skye'; did you mean af_sky"),
    (["demo", "SPEED=fast"], "SPEED: 'fast' is not accepted; give a number from 0.5 to 2"),
    (["serve", "SPEED=2.1"], "SPEED: '2.1' is not accepted; give a number from 0.5 to 2"),
    (["demo", "SYSTEM="], "SYSTEM: there is nothing in it to say"),
    (["say", "SYSTEM=Be brief."], "SYSTEM: scripted replies have no system prompt; give BEDROCK"),
    (["say", "OUT=reply.mp3"], "OUT: 'reply.mp3': the speech is written as a WAV file"),
    (["say", "OUT=reply"], "OUT: 'reply': the speech is written as a WAV file"),
    (["say", "VOICE=af_heart(0)"], "VOICE: invalid weight in 'af_heart(0)'"),
    (["say", "OUT=/nonexistent/a.wav"], "OUT: '/nonexistent/a.wav': there is no folder"),
    (["say", "JSON=/"], "JSON: '/' is a folder; name a file"),
    (["say", "BEDROCK=ollama"], "BEDROCK: 'ollama' is not accepted; give scripted, aws"),
    (["say", "MODEL=nova"], "MODEL: scripted replies have no model; give BEDROCK"),
    (["say", "SAY=a", "BEDROCK=aws"], "SAY: is read aloud as it is, which needs no BEDROCK"),
    (["say", "PORT=1"], "PORT: `make say` takes TEXT, SAY"),
    (["serve", "PORT=http"], "PORT: 'http' is not accepted; give a number"),
    (["demo", "PORT=65535"], "PORT: '65535' is not accepted; give a number"),
    (["serve", "TEXT=Hello"], "TEXT: `make serve` takes PORT"),
    (["container", "MODE=bidi"], "MODE: `make container` takes PORT"),
]


def make(target: str, *variables: str):
    given = dict(variable.split("=", 1) for variable in variables)
    return parse_make(target, {f"GIVEN_{name}": value for name, value in given.items()})


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=[words[:30] for _, words in WRONG])
def test_a_wrong_variable_of_make_is_named(arguments, words: str, capsys) -> None:
    """argparse named `--text`, which nobody had typed, under another program's usage."""
    with pytest.raises(SystemExit, match="2"):
        make(*arguments)
    error = capsys.readouterr().err
    assert error.startswith(f"error: {words}")
    assert "usage" not in error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["say", "--mode", "stream"], "--mode: 'stream' is not accepted; choose bidi or batch"),
        (["say", " "], "PROMPT: there is nothing in it to say"),
        (["say", "a", "--text", "b"], "PROMPT and --text: give one of them"),
        (["say", "--text"], "--text: expected one argument"),
        (["sing"], "COMMAND: invalid choice: 'sing'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_python_names_its_own_options(arguments, words: str, capsys) -> None:
    """Whoever typed `--mode` knows no MODE."""
    with pytest.raises(SystemExit, match="2"):
        parse(arguments)
    assert capsys.readouterr().err.startswith(f"error: {words}")


def test_values_reach_their_options() -> None:
    """A text that looks like an option or holds a `=` is a text."""
    options = make("say", "TEXT=--mode is 1=1", "MODE=batch", "TRANSPORT=sse", "VOICE=bm_george")
    assert (options.command, options.prompt) == ("say", "--mode is 1=1")
    assert (options.mode, options.transport, options.voice) == ("batch", "sse", "bm_george")
    assert make("say", "SAY=-5 = 5?").text == "-5 = 5?"
    demo = make("demo", "BEDROCK=http://127.0.0.1:11434/v1", "MODEL=llama3.2", "PORT=0")
    assert (demo.command, demo.page, demo.port) == ("serve", True, 0)
    assert (demo.bedrock, demo.model) == ("http://127.0.0.1:11434/v1", "llama3.2")


@pytest.mark.parametrize("target", ["say", "serve", "demo"])
def test_voice_speed_and_system_prompt_become_the_agents_settings(target: str) -> None:
    """`make demo` had no voice but the default one, and no way to give the model a role."""
    system = "You are a pirate; it costs $5."
    given = [f"SYSTEM={system}", "BEDROCK=http://127.0.0.1:11434/v1"]
    environment = agent_environment(make(target, "VOICE=bm_george", "SPEED=1.2", *given))
    settings = Settings.from_environment(
        {"AWS_REGION": "us-east-1", "VOICE_AGENT_ENDPOINT_NAME": "kokoro"} | environment
    )
    assert (settings.voice, settings.speed) == ("bm_george", 1.2)
    assert settings.system_prompt == system
    assert agent_environment(make(target)) == {}


def test_the_longest_prompt_is_the_agents() -> None:
    """A prompt that is let through here and refused by the agent costs the start."""
    longest = "a" * Settings.model_fields["max_prompt_chars"].default
    assert make("say", f"TEXT={longest}").prompt == longest


@pytest.mark.parametrize("voice", MODEL_VOICES)
def test_every_voice_that_is_served_is_accepted(voice: str) -> None:
    assert make("say", f"VOICE={voice}").voice == voice
