"""The commands a newcomer types, as processes, and that they leave none behind."""

import json
import os
import signal
import time
import wave
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from bench.hearing import longest_silence_s, peak, read_wav, transcribe, word_error_rate
from local.supervisor import ROOT, Addresses
from local.timeline import Report
from tests.command import START_TIMEOUT_S, free_port, running

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def run(tmp_path: Path) -> Iterator:
    with running(tmp_path) as start:
        yield start


def python(*arguments: str | bytes) -> list[str | bytes]:
    return [str(ROOT / ".venv/bin/python"), "-m", "local", *arguments]


@pytest.mark.parametrize(("mode", "transport"), [("bidi", "ws"), ("batch", "ws"), ("bidi", "sse")])
def test_make_say_writes_speech_that_is_understood(
    run, tmp_path: Path, mode: str, transport: str
) -> None:
    """The README's command: noise, clipping, holes or lost sentences are heard here."""
    out, figures = tmp_path / "a.wav", tmp_path / "a.json"
    command = run(
        "make", "say", "TEXT=Tell me about the harbor.", f"OUT={out}", f"JSON={figures}",
        f"MODE={mode}", f"TRANSPORT={transport}",
    )  # fmt: skip
    assert command.process.wait(200) == 0, command.output()
    assert "FIRST AUDIO" in command.output()
    report = Report.model_validate_json(figures.read_text())
    assert (report.mode, report.transport) == (mode, transport)
    audio, rate_hz = read_wav(out)
    assert word_error_rate(report.text, transcribe(audio, rate_hz)) <= 0.10
    assert 0.1 <= peak(audio) <= 1.0
    assert longest_silence_s(audio, rate_hz) <= 1.0
    assert report.audio_s == pytest.approx(len(audio) / rate_hz, abs=0.01)
    assert report.streams_opened == (1 if mode == "bidi" else 0)
    spoken = " ".join(sentence.text for sentence in report.sentences)
    assert spoken.split() == report.text.split()
    assert command.left_behind() == []


def test_say_speaks_the_text_it_is_given(run, tmp_path: Path, monkeypatch) -> None:
    """`--text` replaces the scripted reply word for word; JSON holds its documented keys.

    It is the same where the environment names a proxy, which does not lead to loopback.
    """
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    out, figures = tmp_path / "a.wav", tmp_path / "a.json"
    text = "The ferry leaves at seven. Bring a warm coat."
    command = run(*python("say", "--text", text, "--out", str(out), "--json", str(figures)))
    assert command.process.wait(200) == 0, command.output()
    assert json.loads(figures.read_text()).keys() == Report.model_fields.keys()
    report = Report.model_validate_json(figures.read_text())
    assert report.text == text
    assert [sentence.text for sentence in report.sentences] == [
        "The ferry leaves at seven.",
        "Bring a warm coat.",
    ]
    with wave.open(str(out)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24000)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--text", ""], "--text"),
        ([" "], "prompt"),
        (["--text", b"caf\xe9"], "UTF-8"),
        (["Hello.", "--out", "/nonexistent/a.wav"], "/nonexistent"),
        (["Hello.", "--json", "/"], "--json"),
        ([], "PROMPT"),
    ],
)
def test_say_refuses_what_cannot_work_before_it_starts(run, arguments, word: str) -> None:
    """Found out at the end, a path without a folder costs the reply; a blank text, a traceback."""
    command = run(*python("say", *arguments))
    assert command.process.wait(60) == 2
    assert word in command.output()
    assert "ready" not in command.output()
    assert "Traceback" not in command.output()


def test_a_full_disk_is_named(run) -> None:
    """'No space left on device' sends nobody to the right disk."""
    command = run(*python("say", "--text", "Yes.", "--out", "/dev/full"))
    assert command.process.wait(200) == 1
    assert "error: [Errno 28] No space left on device: '/dev/full'" in command.output()
    assert "Traceback" not in command.output()
    assert command.left_behind() == []


def test_say_with_an_unknown_voice_says_which_exist(run, tmp_path: Path) -> None:
    """The container's refusal must reach the person at the keyboard, without a traceback."""
    command = run(*python("say", "Hello.", "--voice", "nobody"))
    assert command.process.wait(200) == 1
    assert "nobody" in command.output()
    assert "af_heart" in command.output()
    assert "Traceback" not in command.output()
    assert command.left_behind() == []


@pytest.mark.parametrize("moment", ["bedrock ready", r"agent  \S+"], ids=["start", "reply"])
@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ([signal.SIGINT], 130),
        ([signal.SIGTERM], 143),
        ([signal.SIGINT] * 3, 130),
    ],
    ids=["Ctrl-C", "SIGTERM", "Ctrl-C three times"],
)
def test_say_interrupted_leaves_nothing(
    run, tmp_path: Path, monkeypatch, moment: str, sent: list[signal.Signals], code: int
) -> None:
    """Processes live in sessions of their own, so nothing ends them but the command itself.

    An impatient second Ctrl-C must not end the ending, with tracebacks and files left.
    """
    work = tmp_path / "tmp"
    work.mkdir()
    monkeypatch.setenv("TMPDIR", str(work))
    command = run(*python("say", "Tell me about the harbor."))
    command.wait_for(moment)
    for count, number in enumerate(sent):
        if count:
            command.wait_for("stopping")
        command.process.send_signal(number)
    assert command.process.wait(60) == code
    assert command.left_behind() == []
    assert "Traceback" not in command.output()
    assert list(work.glob("first-sentence-*")) == []


def test_say_killed_leaves_no_process(run) -> None:
    """A killed command cannot clean up: the guard does, once its pipe closes."""
    command = run(*python("say", "Tell me about the harbor."))
    command.wait_for("container ready")
    os.kill(command.process.pid, signal.SIGKILL)
    command.process.wait(10)
    deadline = time.monotonic() + 20
    while command.left_behind() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert command.left_behind() == []


def test_say_reports_an_agent_that_dies(run) -> None:
    """The reader learns which process went, in one line, with an exit code."""
    command = run(*python("say", "Tell me about the harbor."))
    pid = int(command.wait_for(r"agent ready \(pid (\d+)")[1])
    command.wait_for(r"agent  \S+")
    os.kill(pid, signal.SIGKILL)
    assert command.process.wait(30) == 1
    assert "error: the agent" in command.output()
    assert "Traceback" not in command.output()
    assert command.left_behind() == []


def test_serve_lists_its_addresses_and_starts_dead_processes_again(run, tmp_path: Path) -> None:
    """Programs read the file; a crash of one process must not end an evening's work."""
    figures = tmp_path / "where.json"
    command = run("make", "serve", f"JSON={figures}")
    command.wait_for("Serving")
    where = Addresses.model_validate_json(figures.read_text())
    assert httpx.get(where.agent_url + "/ping").status_code == 200
    assert httpx.get(where.container_url + "/ping").status_code == 200
    assert where.secret_access_key not in command.output()
    pid = int(command.wait_for(r"container ready \(pid (\d+)")[1])
    os.kill(pid, signal.SIGKILL)
    command.wait_for("container ready", count=2)
    assert httpx.get(where.container_url + "/ping").status_code == 200
    os.killpg(command.process.pid, signal.SIGINT)
    command.process.wait(30)
    assert command.left_behind() == []
    assert "Traceback" not in command.output()


def test_make_container_without_a_model_does_not_start(run, tmp_path: Path, monkeypatch) -> None:
    """`export X="$(command)"` hides that the command failed: the server then blames a setting."""
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    monkeypatch.setenv("FIRST_SENTENCE_CACHE", str(in_the_way / "cache"))
    command = run("make", "container", f"PORT={free_port()}")
    assert command.process.wait(100) != 0
    assert str(in_the_way) in command.output()
    assert "KOKORO_MODEL_DIR:" not in command.output()
    assert "Traceback" not in command.output()


def test_make_container_serves_alone(run) -> None:
    """The Kokoro server is useful without the agent; `make container` is its door."""
    port = free_port()
    command = run("make", "container", f"PORT={port}")
    command.wait_for('"listening"')
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + START_TIMEOUT_S
    while httpx.get(url + "/ping").status_code != 200:
        assert time.monotonic() < deadline, command.output()
        time.sleep(0.1)
    answer = httpx.post(url + "/invocations", json={"text": "Good morning."}, timeout=60)
    audio, rate_hz = read_wav(answer.content)
    assert word_error_rate("Good morning.", transcribe(audio, rate_hz)) == 0
    os.killpg(command.process.pid, signal.SIGINT)
    command.process.wait(30)
    assert command.left_behind() == []
