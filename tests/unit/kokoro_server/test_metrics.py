"""What the container says of each utterance to CloudWatch, and what it counts as an error."""

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kokoro_server.app import SpeechApp
from kokoro_server.messages import ProtocolError
from kokoro_server.metrics import Outcome, measured, metric_line, recorder
from kokoro_server.settings import Settings
from kokoro_server.synthesis import Part, Speech
from kokoro_voice.voices import Voices

SECOND = Part(bytes(48_000))


async def parts(*made: Part | Exception) -> AsyncGenerator[Part]:
    for part in made:
        if isinstance(part, Exception):
            raise part
        yield part


def ticking(*times_s: float) -> Iterator[float]:
    return iter(times_s)


def test_the_line_is_the_embedded_metric_format() -> None:
    """Guards against a line that CloudWatch takes for text: then alarms never have data."""
    outcome = Outcome(first_audio_s=0.1234, work_s=0.5, audio_s=2.0)
    line = metric_line(outcome, "VoiceAgent", "kokoro-dev", unix_s=1_700_000_000.25)
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
    metrics = json.loads(metric_line(Outcome(failed=True), "VoiceAgent", "kokoro-dev", 0.0))
    assert (metrics["Requests"], metrics["Errors"]) == (1, 1)
    assert not {"FirstAudio", "RealTimeFactor"} & metrics.keys()


async def test_waiting_for_a_slow_reader_is_not_the_engines_work() -> None:
    """Guards against an alarm because somebody listens at the pace of speech."""
    outcomes: list[Outcome] = []
    clock = ticking(0.0, 0.5, 10.5, 11.0, 30.0, 30.0)  # asked for and got, part by part
    heard = [
        part async for part in measured(parts(SECOND, SECOND), outcomes.append, clock.__next__)
    ]
    assert heard == [SECOND, SECOND]
    assert outcomes == [Outcome(first_audio_s=0.5, work_s=1.0, audio_s=2.0)]


@pytest.mark.parametrize(
    ("error", "failed"),
    [(RuntimeError("engine"), True), (ProtocolError("unreadable", "nothing to say"), False)],
)
async def test_only_faults_of_the_server_are_errors(error: Exception, failed: bool) -> None:
    """Guards against a rollout that is taken back because a client sends emoji."""
    outcomes: list[Outcome] = []
    with pytest.raises(type(error)):
        async for _ in measured(parts(SECOND, error), outcomes.append):
            pass
    assert [outcome.failed for outcome in outcomes] == [failed]


async def test_an_interrupted_utterance_is_not_recorded() -> None:
    """Guards against half utterances in the percentiles, and against parts left open."""
    outcomes: list[Outcome] = []
    source = parts(SECOND, SECOND)
    async with aclosing(measured(source, outcomes.append)) as speech:
        await anext(speech)
    assert outcomes == []
    with pytest.raises(StopAsyncIteration):
        await anext(source)


@pytest.mark.parametrize("namespace", ["VoiceAgent", None])
def test_stream_and_batch_report_a_failure(
    namespace: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Guards against a route that fails unseen, and against metrics nobody asked for."""
    settings = Settings(
        model_dir=Path("unused"),
        threads=1,
        metrics_namespace=namespace,
        endpoint_name="kokoro-test",
    )
    speech = Speech(settings.model_dir, settings.threads)
    speech.ready = True  # it was never loaded, so that every request fails inside
    client = TestClient(SpeechApp(settings, Voices(["af_heart"], "af_heart"), speech).asgi)
    with client.websocket_connect("/invocations-bidirectional-stream") as session:
        session.send_json({"text": "Hi."})
        assert session.receive_json()["code"] == "internal"
    assert client.post("/invocations", json={"text": "Hi."}).status_code == 500
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    errors = [(line["Endpoint"], line["Errors"]) for line in lines]
    assert errors == ([("kokoro-test", 1)] * 2 if namespace else [])


def test_nothing_is_written_without_a_namespace(capsys: pytest.CaptureFixture[str]) -> None:
    """Guards against a local server that prints JSON for every sentence."""
    recorder(Settings(model_dir=Path("unused"), threads=1))(Outcome())
    assert capsys.readouterr().out == ""
