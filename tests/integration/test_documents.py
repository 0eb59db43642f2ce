"""Every block of README and docs that can run here, exactly as it is printed there.

The blocks of a document run in their order. A command that serves runs until another one serves, so
that the blocks after it can use it. To start it takes long, so a document that begins with the same
command finds it running.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from pathlib import Path

import pytest
from playwright.sync_api import expect

from bench.hearing import peak, read_wav, transcribe, word_error_rate
from tests.chromium import opened
from tests.command import Command, running
from tests.documents import ROOT, Block, blocks

pytestmark = pytest.mark.timeout(600)

# What a command prints once it serves; these run until Ctrl-C.
SERVING = {
    "make demo": "Open http",
    "make serve": "Serving",
    "make container": r"\bready:",
}
RUNNABLE = {"sh", "python", "html"}


def scenes() -> list[list[Block]]:
    """The runnable blocks, by document."""
    runnable = (block for block in blocks() if block.language in RUNNABLE)
    return [list(scene) for _, scene in groupby(runnable, lambda block: block.document)]


class Server:
    """The command that serves, if any: they use the same ports, so there is one at a time."""

    def __init__(self, start: Callable[..., Command]) -> None:
        self._start = start
        self._command: Command | None = None
        self._serving = ""

    def serve(self, command: str, pattern: str) -> None:
        """Start `command` and wait until it has printed `pattern`, unless it runs already."""
        if command != self._serving:
            self.stop()
            self._command = self._start("bash", "-c", f"exec {command}")
            self._command.wait_for(pattern)
            self._serving = command

    def stop(self) -> None:
        """End it with Ctrl-C."""
        if self._command is not None:
            command, self._command, self._serving = self._command, None, ""
            if command.process.poll() is None:  # it may have failed to start
                os.killpg(command.process.pid, signal.SIGINT)
            command.process.wait(30)
            assert "Traceback" not in command.output()
            assert command.left_behind() == []


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("server")) as start:
        server = Server(start)
        yield server
        server.stop()


@pytest.fixture
def new_files() -> Iterator[Callable[[], list[Path]]]:
    """A function: the files that have come into the repository's folder; all go at the end."""
    before = set(ROOT.iterdir())
    read: set[Path] = set()

    def unread() -> list[Path]:
        found = [path for path in ROOT.iterdir() if path.is_file() and path not in before | read]
        read.update(found)
        return found

    yield unread
    for path in set(ROOT.iterdir()) - before:
        if path.is_file():
            path.unlink()


@pytest.mark.parametrize("scene", scenes(), ids=lambda s: s[0].document)
def test_the_document_runs_as_printed(
    scene: list[Block], server: Server, new_files, tmp_path: Path
) -> None:
    """A document that drifts from the code loses its reader at the first command."""
    for block in scene:
        if block.language == "python":
            (ROOT / re.findall(r"`(\w+\.py)`", block.before)[-1]).write_text(block.code)
        elif block.language == "html":
            open_in_browser(block, tmp_path)
        else:
            for command in block.commands:
                if command == "make test":
                    continue  # it is what runs here
                if waits_for := next((SERVING[s] for s in SERVING if command.startswith(s)), None):
                    server.serve(command, waits_for)
                else:
                    run(command)
                for path in new_files():
                    if path.suffix == ".wav":
                        check_speech(path, command)


def run(command: str) -> None:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "Traceback" not in output
    assert '"type":"error"' not in output.replace(" ", "")
    if "--no-buffer" in command:
        assert '"audio_chunk"' in output
        assert '"agent_end"' in output


def check_speech(path: Path, command: str) -> None:
    audio, rate_hz = read_wav(path.read_bytes())
    assert peak(audio) > 0.1, command
    given = dict(word.split("=", 1) for word in shlex.split(command) if re.match("[A-Z]+=", word))
    if "SAY" in given and given.get("VOICE", "af_heart").startswith(("a", "b")):  # English
        assert word_error_rate(given["SAY"], transcribe(audio, rate_hz)) <= 0.1


def open_in_browser(block: Block, folder: Path) -> None:
    """Open the page beside copies of the modules it imports: it must show text and play."""
    site = folder / "site"
    site.mkdir()
    played = "<link rel='icon' href='data:,'><script type='module'>"
    played += "import { PcmPlayer } from './player.js'; const push = "
    played += "PcmPlayer.prototype.push; PcmPlayer.prototype.push = function (data) { push.call("
    played += "this, data); window.playing = this; };</script>\n"
    (site / "index.html").write_text(played + block.code)
    for module in re.findall(r'from "\./(\S+)"', block.code):
        shutil.copy(ROOT / "web" / module, site)
    with hosting(site) as url, opened(f"{url}/") as page:
        page.get_by_role("button").click()
        expect(page.locator("p")).to_contain_text("harbor", timeout=60_000)
        page.wait_for_function("window.playing && window.playing.playedS > 1", timeout=60_000)


@contextmanager
def hosting(folder: Path) -> Iterator[str]:
    handler = partial(SimpleHTTPRequestHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
