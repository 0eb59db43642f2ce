"""What the container says of each utterance to CloudWatch, and what it counts as an error."""

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kokoro_server.app import SpeechApp
from kokoro_server.messages import ProtocolError
from kokoro_server.metrics import metric_line, recorder
from kokoro_server.settings import Settings
from kokoro_server.utterance import Utterance
from kokoro_voice.voices import Voices
from tests.utterances import ScriptedSpeech, failing, new_utterance

SETTINGS = Settings(
    model_dir=Path("unused"),
    threads=1,
    metrics_namespace="VoiceAgent",
    endpoint_name="kokoro-test",
)


def begun() -> Utterance:
    """An utterance that arrived at 1 s and began at 2 s."""
    utterance = new_utterance(received_s=1.0)
    utterance.begin(2.0)
    return utterance


def test_the_line_is_the_embedded_metric_format() -> None:
    """Guards against a line that CloudWatch treats as plain text, so that alarms have no data."""
    utterance = begun()
    utterance.add_audio(1.5, 2.1234)
    utterance.add_audio(0.5, 9.0)
    utterance.tally.engine_s = 0.5
    utterance.complete()
    line = metric_line(utterance, "VoiceAgent", "kokoro-dev", unix_s=1_700_000_000.25)
    assert "\n" not in line
    assert json.loads(line) == {
        "_aws": {
            "Timestamp": 1_700_000_000_250,
            "CloudWatchMetrics": [
                {
                    "Namespace": "VoiceAgent",
                    "Dimensions": [["Endpoint"]],
                    "Metrics": [
                        {"Name": "Requests", "Unit": "Count"},
                        {"Name": "Errors", "Unit": "Count"},
                        {"Name": "FirstAudio", "Unit": "Milliseconds"},
                        {"Name": "RealTimeFactor", "Unit": "None"},
                    ],
                }
            ],
        },
        "Endpoint": "kokoro-dev",
        "Requests": 1,
        "Errors": 0,
        "FirstAudio": 123.4,
        "RealTimeFactor": 0.25,
    }


def test_without_audio_there_are_no_figures_about_it() -> None:
    """Guards against a division by zero, and against a first audio of 0 ms for a failure."""
    utterance = begun()
    utterance.fail(ProtocolError("internal", "why"))
    metrics = json.loads(metric_line(utterance, "VoiceAgent", "kokoro-dev", 0.0))
    assert (metrics["Requests"], metrics["Errors"]) == (1, 1)
    assert not {"FirstAudio", "RealTimeFactor"} & metrics.keys()


def test_words_without_a_sound_are_counted() -> None:
    """Guards against words that are left out unnoticed, and against a metric that is always 0."""
    utterance = begun()
    utterance.complete()
    assert "UnspokenWords" not in metric_line(utterance, "VoiceAgent", "kokoro-dev", 0.0)
    utterance.unspoken += ["ꙮ", "ꙮꙮ"]
    line = metric_line(utterance, "VoiceAgent", "kokoro-dev", 0.0)
    assert json.loads(line)["UnspokenWords"] == 2
    assert "ꙮ" not in json.dumps(json.loads(line), ensure_ascii=False)


def test_waiting_is_not_the_engines_work() -> None:
    """Guards against an alarm because somebody listens at the pace of speech.

    Or because others use the engine: what the waiter waits for is their time.
    """
    utterance = begun()
    utterance.tally.engine_s = 1.0
    for now_s in (2.5, 30.0):  # the reader, or the engine, takes half a minute in between
        utterance.add_audio(1.0, now_s)
    utterance.complete()
    metrics = json.loads(metric_line(utterance, "VoiceAgent", "kokoro-dev", 0.0))
    assert (metrics["FirstAudio"], metrics["RealTimeFactor"]) == (500.0, 0.5)


@pytest.mark.parametrize(
    ("error", "count"),
    [
        (ProtocolError("internal", "the engine"), 1),
        (ProtocolError("unreadable", "nothing to say"), 0),
    ],
)
def test_only_faults_of_the_server_are_errors(
    error: ProtocolError, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Guards against a rollback of a deployment because a client sends only emoji."""
    utterance = begun()
    utterance.add_audio(1.0, 3.0)
    utterance.fail(error)
    recorder(SETTINGS)(utterance)
    assert json.loads(capsys.readouterr().out)["Errors"] == count


def test_an_interrupted_utterance_is_not_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    """Guards against cancelled utterances in the percentiles."""
    utterance = begun()
    utterance.add_audio(1.0, 3.0)
    utterance.cancel()
    recorder(SETTINGS)(utterance)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("namespace", ["VoiceAgent", None])
def test_stream_and_batch_report_a_failure(
    namespace: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Guards against failures that are not recorded, and against metrics without a namespace."""
    settings = SETTINGS.model_copy(update={"metrics_namespace": namespace})
    app = SpeechApp(settings, Voices(["af_heart"], "af_heart"))
    app.speech = ScriptedSpeech(failing)
    client = TestClient(app.asgi)
    with client.websocket_connect("/invocations-bidirectional-stream") as session:
        session.send_json({"text": "Hi."})
        assert session.receive_json()["code"] == "internal"
    assert client.post("/invocations", json={"text": "Hi."}).status_code == 500
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    errors = [(line["Endpoint"], line["Errors"]) for line in lines]
    assert errors == ([("kokoro-test", 1)] * 2 if namespace else [])


def test_nothing_is_written_without_a_namespace(capsys: pytest.CaptureFixture[str]) -> None:
    """Guards against a local server that prints JSON for every sentence."""
    utterance = begun()
    utterance.complete()
    recorder(Settings(model_dir=Path("unused"), threads=1))(utterance)
    assert capsys.readouterr().out == ""
