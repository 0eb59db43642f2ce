"""The commands a newcomer types, as processes, and that they leave none behind."""

import json
import os
import signal
import socket
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


def test_make_say_writes_speech_that_is_understood(run, tmp_path: Path, monkeypatch) -> None:
    """Every variable is passed on: noise, clipping, holes or lost sentences are heard here.

    It is the same where the environment names a proxy, which does not lead to loopback.
    """
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    out, figures = tmp_path / "a.wav", tmp_path / "a.json"
    command = run(
        "make", "say", "TEXT=Tell me about the harbor.", f"OUT={out}", f"JSON={figures}",
        "MODE=batch", "TRANSPORT=sse", "VOICE=am_michael",
    )  # fmt: skip
    assert command.process.wait(200) == 0, command.output()
    assert "FIRST AUDIO" in command.output()
    assert json.loads(figures.read_text()).keys() == Report.model_fields.keys()
    report = Report.model_validate_json(figures.read_text())
    assert (report.mode, report.transport) == ("batch", "sse")
    audio, rate_hz = read_wav(out)
    assert word_error_rate(report.text, transcribe(audio, rate_hz)) <= 0.10
    assert 0.1 <= peak(audio) <= 1.0
    assert longest_silence_s(audio, rate_hz) <= 1.0
    assert report.audio_s == pytest.approx(len(audio) / rate_hz, abs=0.01)
    assert report.streams_opened == 0
    spoken = " ".join(sentence.text for sentence in report.sentences)
    assert spoken.split() == report.text.split()
    assert command.left_behind() == []


def test_a_text_is_read_aloud_exactly_as_it_was_typed(run, tmp_path: Path) -> None:
    """Make expands a dollar sign, and the shell in a recipe quotes: "$5" was read as nothing."""
    out, figures = tmp_path / "a.wav", tmp_path / "a.json"
    text = 'It costs $5, not $HOME. What\'s more: "quotes" and `ticks`.'
    command = run("make", "say", f"SAY={text}", f"OUT={out}", f"JSON={figures}")
    assert command.process.wait(200) == 0, command.output()
    report = Report.model_validate_json(figures.read_text())
    assert report.text == text
    assert (report.mode, report.streams_opened) == ("bidi", 1)
    with wave.open(str(out)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24000)


def test_a_wrong_value_is_reported_before_anything_starts(run) -> None:
    """A wrong voice was found out after 70 seconds, and argparse's usage named other options."""
    command = run("make", "say", "VOICE=nobody")
    assert command.process.wait(60) == 2
    assert "error: VOICE: unknown voice 'nobody'; use one of af_alloy" in command.output()
    assert "model" not in command.output()
    assert "usage" not in command.output()
    assert "Traceback" not in command.output()


def test_python_names_its_own_options(run) -> None:
    """Whoever typed `--mode` knows no MODE."""
    command = run(*python("say", "--mode", "stream"))
    assert command.process.wait(60) == 2
    assert "error: --mode: 'stream' is not accepted; choose bidi or batch" in command.output()
    assert "Traceback" not in command.output()


def test_a_port_in_use_is_named_before_anything_starts(run) -> None:
    """It was reported by the agent's log, after the model was loaded."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        command = run("make", "serve", f"PORT={port}")
        assert command.process.wait(60) != 0
    assert f"error: port {port} cannot be used (Address already in use)" in command.output()
    assert "model" not in command.output()


@pytest.mark.parametrize(
    ("moment", "sent", "code"),
    [
        ("bedrock ready", [signal.SIGINT], 130),
        ("bedrock ready", [signal.SIGTERM], 143),
        (r"agent: \S+", [signal.SIGINT] * 3, 130),
    ],
    ids=["Ctrl-C at the start", "SIGTERM at the start", "Ctrl-C three times in a reply"],
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
    """A killed command cannot clean up: the reaper does, once its pipe closes."""
    command = run(*python("say", "Tell me about the harbor."))
    command.wait_for("agent ready")  # the last process to start; the model may still be loading
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
    command.wait_for(r"agent: \S+")
    os.kill(pid, signal.SIGKILL)
    assert command.process.wait(30) == 1
    assert "error: the agent" in command.output()
    assert "Traceback" not in command.output()
    assert command.left_behind() == []


def test_serve_lists_its_addresses_and_starts_dead_processes_again(run, tmp_path: Path) -> None:
    """Programs read the file; a crash of one process must not end an evening's work."""
    figures = tmp_path / "where.json"
    command = run("make", "serve", f"JSON={figures}", "PORT=0")
    command.wait_for("Serving")
    assert "no language model is used" in command.output()
    assert figures.stat().st_mode & 0o077 == 0  # it holds a secret
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
