"""`python -m kokoro_server serve`: runs the speech server."""

import argparse
import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from kokoro_server.app import SpeechApp
from kokoro_server.engine_queue import EngineQueue, Work
from kokoro_server.http_server import listen, make_http_server
from kokoro_server.scheduler import Scheduler
from kokoro_server.settings import Settings, SettingsError
from kokoro_server.synthesis import Speech
from kokoro_text.lexicon import Lexicon, LexiconError
from kokoro_voice.errors import ModelError, VoiceError, VoiceFileError
from kokoro_voice.own_voices import OwnVoice, read_own_voices
from kokoro_voice.synthesizer import Synthesizer
from kokoro_voice.voices import Voices

_EXIT_FAILED, _EXIT_USAGE = 1, 2
_LEXICON_PATH = Path(__file__).parents[1] / "lexicon.toml"
_VOICES_DIR = Path(__file__).parents[1] / "voices"

logger = logging.getLogger(__name__)


def _lexicon(path: Path | None) -> Lexicon:
    """Read the deployment's lexicon. Without a setting there need not be one.

    Raises:
        SettingsError: It cannot be read, or a line of it is wrong.
    """
    file = path or _LEXICON_PATH
    if path is None and not file.exists():
        return Lexicon()
    try:
        return Lexicon.parse(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"KOKORO_LEXICON: {file} cannot be read: {error}") from None
    except LexiconError as error:
        raise SettingsError(f"KOKORO_LEXICON: {file}, {error}") from None


def _own_voices(folder: Path | None) -> dict[str, OwnVoice]:
    """Read the deployment's own voices, and log their hashes. Without a setting there may be none.

    Raises:
        SettingsError: They cannot be read, or a file is not a voice.
    """
    if folder is None and not _VOICES_DIR.exists():
        return {}
    try:
        voices = read_own_voices(folder or _VOICES_DIR)
    except VoiceFileError as error:
        raise SettingsError(f"KOKORO_VOICES_DIR: {error}") from None
    for name, voice in voices.items():
        logger.info("voice %s: sha256 %s", name, voice.sha256)
    return voices


async def _serve(
    settings: Settings,
    voices: Voices,
    own_voices: Mapping[str, OwnVoice],
    lexicon: Lexicon,
    listener: socket.socket,
    scheduler: Scheduler[Work],
) -> int:
    app = SpeechApp(settings, voices)
    http = make_http_server(app.asgi, settings)
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    host, port = listener.getsockname()[:2]
    print(json.dumps({"event": "listening", "host": host, "port": port}), flush=True)
    exit_code = 0

    async def load(resources: AsyncExitStack) -> None:
        nonlocal exit_code
        try:
            synthesizer = await asyncio.to_thread(
                Synthesizer,
                settings.model_dir,
                settings.threads,
                settings.execution_provider,
                own_styles={name: voice.styles for name, voice in own_voices.items()},
                name_pictures=settings.name_pictures,
            )
            speech = Speech(
                synthesizer,
                EngineQueue(scheduler),
                lexicon,
                sentence_pause_s=settings.sentence_pause_s,
                level_voices=settings.level_voices,
            )
            resources.push_async_callback(speech.close)
            app.admission.learn(await speech.warm_up(voices.default, settings.granularity))
        except ModelError as error:
            logger.error("%s", error)
            exit_code = _EXIT_FAILED
            stopping.set()
            return
        app.speech = speech
        logger.info(
            "ready: %d voices, %d threads, %s",
            len(voices.names),
            settings.threads,
            settings.execution_provider,
        )

    async with AsyncExitStack() as resources, asyncio.TaskGroup() as tasks:
        tasks.create_task(http.serve(sockets=[listener]))
        loading = tasks.create_task(load(resources))
        await stopping.wait()
        loading.cancel()
        await app.drain()
        http.should_exit = True
    return exit_code


def main(arguments: list[str] | None = None, scheduler: Scheduler[Work] | None = None) -> int:
    """Run the command.

    Args:
        arguments: Command-line arguments; those of the process by default.
        scheduler: Decides which work the engine does next; by default, earliest deadline first.

    Returns:
        The exit status: 0 after a normal end, 1 for a failure, 2 for invalid settings.
    """
    parser = argparse.ArgumentParser(prog="python -m kokoro_server")
    serve = parser.add_subparsers(required=True).add_parser("serve", help="run the server")
    serve.add_argument("--host", default="0.0.0.0", help="address to listen on (default: all)")
    serve.add_argument(
        "--port", type=int, default=8080, help="port (default: 8080); 0 chooses a free one"
    )
    serve.add_argument(
        "--model-dir", type=Path, help="model directory (default: $KOKORO_MODEL_DIR)"
    )
    options = parser.parse_args(arguments)
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    try:
        settings = Settings.from_environment(os.environ, options.model_dir)
        own_voices = _own_voices(settings.voices_dir)
        voices = Voices.in_directory(settings.model_dir, settings.default_voice, own_voices)
        lexicon = _lexicon(settings.lexicon)
    except SettingsError as error:
        print(f"error: {error}", file=sys.stderr)
        return _EXIT_USAGE
    except VoiceError as error:
        print(f"error: KOKORO_DEFAULT_VOICE: {error}", file=sys.stderr)
        return _EXIT_USAGE
    try:
        listener = listen(options.host, options.port)
    except OSError as error:
        print(f"error: cannot listen on {options.host}:{options.port}: {error}", file=sys.stderr)
        return _EXIT_FAILED
    with listener:
        return asyncio.run(
            _serve(settings, voices, own_voices, lexicon, listener, scheduler or Scheduler())
        )


if __name__ == "__main__":
    sys.exit(main())
