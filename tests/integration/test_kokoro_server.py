"""The Kokoro server as it runs: its own process, the real model, real sockets, whisper's ears."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from bench.hearing import longest_silence_s, peak, read_wav, transcribe, word_error_rate
from kokoro_server.engine_queue import EngineQueue
from kokoro_server.messages import Granularity
from kokoro_server.playback import Listener
from kokoro_server.scheduler import Scheduler
from kokoro_server.synthesis import Speech
from kokoro_server.utterance import SpeechRequest, Utterance
from kokoro_voice.audio import Samples
from kokoro_voice.engine import NormStatistics, Prosody
from kokoro_voice.errors import WorkCancelled
from kokoro_voice.onnx_model import Cancellation
from kokoro_voice.synthesizer import Synthesizer
from kokoro_voice.voices import Voice, Voices
from sentences.speakable import speakable

CONTAINER = Path(__file__).parent.parent.parent / "container"
RATE_HZ = 24_000
PATIENT = {"KOKORO_ADMISSION_HEADROOM": "0"}
"""The machine that runs tests may be too busy for two listeners at once."""
SENTENCES = [
    "The harbor was quiet in the early morning.",
    "Small boats came back with fish for the market.",
    "She bought a small house by the sea.",
]
LONG = " ".join(SENTENCES)


class Server:
    """A running server process."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.process = process
        self.log = log
        self.pings: list[int] = []
        assert process.stdout is not None
        listening = json.loads(process.stdout.readline())
        assert listening["event"] == "listening"
        self.address = f"{listening['host']}:{listening['port']}"

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"http://{self.address}{path}", timeout=60)

    def post(self, **body: Any) -> httpx.Response:
        return httpx.post(f"http://{self.address}/invocations", json=body, timeout=120)

    async def wait_until_ready(self) -> list[int]:
        """Poll `/ping` until it is 200. Return every status that was seen."""
        seen: list[int] = []
        while 200 not in seen:
            assert self.process.poll() is None, self.log.read_text()
            seen.append((await asyncio.to_thread(self.get, "/ping")).status_code)
            await asyncio.sleep(0.1)
        return seen


@contextmanager
def running(model_dir: Path, log: Path, **settings: str) -> Iterator[Server]:
    """A server that is stopped with SIGTERM, as on SageMaker, and must exit cleanly."""
    env = os.environ | {"KOKORO_MODEL_DIR": str(model_dir)} | PATIENT | settings
    with (
        log.open("w") as stderr,
        subprocess.Popen(
            [sys.executable, "-m", "kokoro_server", "serve", "--host", "127.0.0.1", "--port", "0"],
            cwd=CONTAINER,
            env=env,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        ) as process,
    ):
        try:
            yield Server(process, log)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=35)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
    assert process.returncode == 0
    assert "Traceback" not in log.read_text()


@pytest.fixture(scope="module")
def server(model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(model_dir, tmp_path_factory.mktemp("server") / "log") as running_server:
        asyncio.run(running_server.wait_until_ready())
        yield running_server


@pytest.fixture(scope="module")
def strict_server(model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that admits one listener and writes metrics.

    Starting a server takes most of the time of the tests that need one, so they share it. The
    first needs it as it is after its start; the last one stops it.
    """
    with running(
        model_dir,
        tmp_path_factory.mktemp("strict-server") / "log",
        KOKORO_ADMISSION_HEADROOM="1000",
        KOKORO_METRICS_NAMESPACE="VoiceAgent",
        KOKORO_ENDPOINT_NAME="kokoro-test",
    ) as running_server:
        running_server.pings = asyncio.run(running_server.wait_until_ready())
        yield running_server


@pytest.fixture(scope="module")
def synthesizer(model_dir: Path) -> Synthesizer:
    return Synthesizer(model_dir, threads=2)


@asynccontextmanager
async def session(server: Server) -> AsyncIterator[ClientConnection]:
    uri = f"ws://{server.address}/invocations-bidirectional-stream"
    async with connect(uri, max_size=None) as websocket:
        yield websocket


async def speak(websocket: ClientConnection, **fields: Any) -> None:
    await websocket.send(json.dumps(fields))


async def next_event(websocket: ClientConnection) -> Any:
    """The next frame: an event as an object, audio as bytes."""
    async with asyncio.timeout(60):
        frame = await websocket.recv()
    return json.loads(frame) if isinstance(frame, str) else frame


async def until(websocket: ClientConnection, kind: str) -> tuple[Any, bytes]:
    """The next event of this type, and the audio that came before it."""
    audio = b""
    while True:
        event = await next_event(websocket)
        if isinstance(event, bytes):
            audio += event
        elif event["type"] == kind:
            return event, audio
        else:
            assert event["type"] == "synthesis_start", event


def samples(pcm: bytes) -> NDArray[np.float32]:
    return np.frombuffer(pcm, "<i2").astype(np.float32) / 32768


def wrong_words(text: str, audio: NDArray[np.float32]) -> float:
    return word_error_rate(text, transcribe(audio, RATE_HZ))


def test_batch_speech_is_heard_word_for_word(server: Server) -> None:
    """Guards against noise, silence, clipping and long gaps in the WAV of `POST /invocations`.

    In a mix of voices, which is a style the model was never trained on.
    """
    text = " ".join(SENTENCES)
    answer = server.post(input=text, model="kokoro", voice="bf_emma+bf_isabella(0.5)")
    assert answer.headers["content-type"] == "audio/wav"
    audio, rate_hz = read_wav(answer.content)
    assert rate_hz == RATE_HZ
    assert wrong_words(text, audio) <= 0.1
    assert 0.1 <= peak(audio) <= 1.0
    assert 0.2 <= longest_silence_s(audio, RATE_HZ) <= 0.7


def test_batch_pcm_and_speed(server: Server) -> None:
    """Guards against a WAV header in PCM, and a speed that is accepted but not used."""
    normal = server.post(text=SENTENCES[0], format="pcm")
    fast = server.post(text=SENTENCES[0], format="pcm", speed=2)
    assert normal.headers["content-type"] == "audio/pcm;rate=24000;channels=1"
    assert wrong_words(SENTENCES[0], samples(normal.content)) <= 0.1
    assert len(fast.content) < 0.7 * len(normal.content)


async def test_pipelined_requests_are_answered_in_order_and_heard(server: Server) -> None:
    """Guards the protocol's core: many requests in flight, each framed by start and end."""
    opened = server.get("/stats").json()["streams_opened"]
    async with session(server) as websocket:
        for number, sentence in enumerate(SENTENCES):
            await speak(websocket, text=sentence, request_id=f"s{number}")
        for number, sentence in enumerate(SENTENCES):
            start = await next_event(websocket)
            assert start == {
                "type": "synthesis_start",
                "request_id": f"s{number}",
                "voice": "af_heart",
                "format": "pcm",
                "sample_rate": RATE_HZ,
                "channels": 1,
            }
            complete, audio = await until(websocket, "synthesis_complete")
            assert complete["request_id"] == f"s{number}"
            assert complete["total_duration_s"] == pytest.approx(len(audio) / 2 / RATE_HZ, abs=1e-3)
            assert 0 <= complete["queued_s"] <= complete["first_audio_s"] <= complete["elapsed_s"]
            assert wrong_words(sentence, samples(audio)) <= 0.1
    assert server.get("/stats").json()["streams_opened"] == opened + 1


async def test_words_are_heard_at_their_times(server: Server) -> None:
    """Guards against early word times, and times with a wrong origin in a second sentence.

    What is cut out at a phrase's times, and 0.03 s around it, must be the phrase; 0.15 s earlier or
    later, whisper hears something else.
    """
    text = "Small boats came back with fish for the market. She bought a large house by the sea."
    async with session(server) as websocket:
        await speak(websocket, text=text, timestamps=True)
        words: list[Any] = []
        heard = b""
        while (
            not isinstance(frame := await next_event(websocket), dict) or "elapsed_s" not in frame
        ):
            if isinstance(frame, bytes):
                heard += frame
            elif frame["type"] == "timing":
                assert all(word["start_s"] >= len(heard) / 2 / RATE_HZ for word in frame["words"])
                words += frame["words"]
    assert "".join(word["text"] for word in words).strip() == text
    moments = [moment for word in words for moment in (word["start_s"], word["end_s"])]
    assert moments == sorted(moments)
    assert moments[-1] <= frame["total_duration_s"]
    for first, last in ((0, 1), (2, 5), (7, 8), (11, 13)):
        begin_s, end_s = words[first]["start_s"] - 0.03, words[last]["end_s"] + 0.03
        phrase = "".join(word["text"] for word in words[first : last + 1])
        cut = samples(heard)[round(begin_s * RATE_HZ) : round(end_s * RATE_HZ)]
        assert wrong_words(phrase, np.pad(cut, RATE_HZ // 4)) == 0, phrase


@pytest.mark.parametrize(
    ("voice", "text"),
    [
        ("jf_alpha", "港の朝は早い。「iPhone 15」は、8,600円です。"),
        ("zm_yunxi", "今天天气很好。Apple Store里有2台电脑，一共3,200元。"),
    ],
)
async def test_languages_without_blanks_are_spoken_word_by_word(
    server: Server, voice: str, text: str
) -> None:
    """Guards against voices that are refused or silent, and against captions with blanks."""
    async with session(server) as websocket:
        await speak(websocket, text=text, voice=voice, timestamps=True)
        words: list[Any] = []
        heard = b""
        while (
            not isinstance(frame := await next_event(websocket), dict) or "elapsed_s" not in frame
        ):
            if isinstance(frame, bytes):
                heard += frame
            elif frame["type"] == "timing":
                words += frame["words"]
    assert "".join(word["text"] for word in words) == text
    assert len(words) > 8
    moments = [moment for word in words for moment in (word["start_s"], word["end_s"])]
    assert moments == sorted(moments)
    assert moments[-1] <= frame["total_duration_s"]
    assert 4 < frame["total_duration_s"] < 9
    for word in words:
        begin, end = (round(word[name] * RATE_HZ) for name in ("start_s", "end_s"))
        assert np.abs(samples(heard)[begin:end]).max() > 0.02, word


async def test_a_long_request_is_heard_from_its_first_sentence_on(server: Server) -> None:
    """Guards against synthesizing a whole text before the first byte, and a blocked `/ping`.

    The ping is answered after the first audio and before the request is complete.
    """
    async with session(server) as websocket:
        completed = server.get("/stats").json()["completed"]
        await speak(websocket, text=LONG)
        while not isinstance(await next_event(websocket), bytes):
            pass
        async with httpx.AsyncClient(base_url=f"http://{server.address}") as client:
            assert (await client.get("/ping")).status_code == 200
            assert (await client.get("/stats")).json()["completed"] == completed
        await until(websocket, "synthesis_complete")


async def test_cancel_stops_what_plays_and_what_waits(server: Server) -> None:
    """Guards against sound after `cancelled`, and against a session that is stuck after it."""
    async with session(server) as websocket:
        for request_id in ("playing", "queued"):
            await speak(websocket, text=LONG, request_id=request_id)
        while not isinstance(await next_event(websocket), bytes):
            pass
        await speak(websocket, type="cancel", request_id="unknown")
        await speak(websocket, type="cancel")
        first, _ = await until(websocket, "cancelled")
        assert first["request_id"] == "playing"
        assert first["sent_duration_s"] > 0
        second = await next_event(websocket)
        assert second == {"type": "cancelled", "request_id": "queued", "sent_duration_s": 0.0}
        await speak(websocket, text="After.", request_id="after")
        start = await next_event(websocket)
        assert (start["type"], start["request_id"]) == ("synthesis_start", "after")
        await until(websocket, "synthesis_complete")


async def test_cancel_before_the_first_audio_leaves_only_cancelled(server: Server) -> None:
    """Guards against audio that the engine delivers after the request was cancelled."""
    async with session(server) as websocket:
        await speak(websocket, text=LONG, request_id="cut")
        await speak(websocket, type="cancel", request_id="cut")
        await speak(websocket, text="Yes.", request_id="next")
        cancelled = await next_event(websocket)
        assert cancelled == {"type": "cancelled", "request_id": "cut", "sent_duration_s": 0.0}
        complete, _ = await until(websocket, "synthesis_complete")
        assert complete["request_id"] == "next"


def begun(text: str, voice: Voice, granularity: Granularity) -> Utterance:
    """An utterance that has begun."""
    request = SpeechRequest("", text, voice, granularity=granularity)
    utterance = Utterance(request, Listener(), 0.0)
    utterance.begin(0.0)
    return utterance


async def test_cancelling_stops_the_engine_itself(
    synthesizer: Synthesizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against a new utterance that waits for the synthesis of a cancelled one."""
    began, cancelled = threading.Event(), threading.Event()
    whole = synthesizer.engine.whole

    def watched(prosody: Prosody, cancellation: Cancellation) -> tuple[Samples, NormStatistics]:
        began.set()
        try:
            return whole(prosody, cancellation)
        except WorkCancelled:
            cancelled.set()
            raise

    monkeypatch.setattr(synthesizer.engine, "whole", watched)
    speech = Speech(synthesizer, EngineQueue(Scheduler()))
    voice = Voices(["af_heart"], "af_heart").default
    utterance = begun(" ".join(["harbor"] * 34), voice, "sentence")
    speaking = asyncio.ensure_future(anext(speech.speak(utterance)))
    assert await asyncio.to_thread(began.wait, 60)
    speaking.cancel()
    assert await asyncio.to_thread(cancelled.wait, 60)
    await speech.close()


async def test_who_is_spoken_in_windows_and_who_in_sentences(synthesizer: Synthesizer) -> None:
    """Guards against a granularity without effect, and windows of voices that fail the gate."""
    speech = Speech(synthesizer, EngineQueue(Scheduler()))
    voices = Voices(["af_heart", "af_jessica"], "af_heart")
    usual = (await speech.warm_up(voices.default, "window")).tally
    assert usual.engine_s > 0
    assert usual.chunks > 2  # of windows: admission reserves time for one chunk
    text = "The ferry leaves at half past eight, so please bring your ticket and a warm coat."
    sounding = {}
    cases: list[tuple[str, Granularity]] = [
        ("af_heart", "window"),
        ("af_heart", "sentence"),
        ("af_jessica", "window"),
    ]
    for name, granularity in cases:
        chunks = speech.speak(begun(text, voices.resolve(name), granularity))
        pcm = [chunk.pcm async for chunk in chunks if any(chunk.pcm)]
        assert 3 < sum(map(len, pcm)) / 48_000 < 6
        sounding[name, granularity] = len(pcm)
    await speech.close()
    assert sounding["af_heart", "window"] > 2
    assert sounding["af_heart", "sentence"] <= 2  # the trimmer keeps a little until the end
    assert sounding["af_jessica", "window"] <= 2


async def test_close_answers_everything_then_closes_with_1000(server: Server) -> None:
    """Guards against requests that vanish at the end of a conversation."""
    async with session(server) as websocket:
        await speak(websocket, text=LONG, request_id="a")
        await speak(websocket, text=LONG, request_id="b")
        await speak(websocket, type="close")
        assert [(await next_event(websocket))["request_id"] for _ in "ab"] == ["a", "b"]
        with pytest.raises(ConnectionClosed) as closed:
            await websocket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1000


async def test_every_bad_frame_is_answered_and_the_session_goes_on(server: Server) -> None:
    """Guards against Starlette's KeyError on binary frames, 1009 for big ones, and silence."""
    bad: list[tuple[str | bytes, str]] = [
        ("", "invalid"),
        (b"", "invalid"),
        ("Hello.", "invalid"),
        (b"\x00\xff", "invalid"),
        ('{"text": "Hi.", "tempo": 3}', "invalid"),
        ('{"text": ""}', "invalid"),
        ('{"text": "Hi.", "voice": "nobody"}', "unknown_voice"),
        (json.dumps({"text": "a" * 1024 * 1024}), "too_long"),
        (json.dumps({"text": "b" * 1024 * 1024}).encode(), "too_long"),
        (json.dumps({"text": "A word. " * 8750}), "too_long"),
        ('{"text": "😊"}', "unreadable"),
        ('{"text": "... !"}', "unreadable"),
    ]
    async with session(server) as websocket:
        for frame, code in bad:
            await websocket.send(frame)
            error = await next_event(websocket)
            assert (error["type"], error["code"]) == ("error", code), frame[:60]
        await websocket.send(b'{"text": "Hello there, friend."}')
        _, audio = await until(websocket, "synthesis_complete")
        assert wrong_words("Hello there, friend.", samples(audio)) == 0


def test_words_without_punctuation_are_all_spoken(server: Server) -> None:
    """Guards against losing text over the model's 510 phonemes."""
    words = (
        "the old man walked down to the river and sat under a tall green tree while "
        "his brown dog ran along the water looking for something to eat and the warm "
        "wind moved the long grass on the other side of the bridge where two young "
        "girls were reading a book about a ship that went around the world "
    )
    text = " ".join((words * 3).split()[:125])  # 601 phonemes
    audio, _ = read_wav(server.post(text=text, speed=1.2).content)
    assert wrong_words(text, audio) <= 0.1
    assert longest_silence_s(audio, RATE_HZ) < 0.7


@pytest.mark.parametrize("text", ["4.", "Beauty.", "Thanks."])
def test_short_words_end_in_silence(server: Server, text: str) -> None:
    """Guards against the noise that the model leaves after very short texts."""
    audio, _ = read_wav(server.post(text=text).content)
    assert 0.5 < len(audio) / RATE_HZ < 1.3
    assert peak(audio[-round(0.3 * RATE_HZ) :]) == 0
    loudest = int(np.argmax(np.abs(audio)))
    assert peak(audio[-round(0.38 * RATE_HZ) :]) < 0.02 * abs(audio[loudest])


def test_emoji_beside_words_make_no_sound(server: Server) -> None:
    """Guards against 'smiling face with smiling eyes'."""
    with_emoji = server.post(text="Good morning. 😊", format="pcm").content
    assert with_emoji == server.post(text="Good morning.", format="pcm").content


def test_other_languages_speak(server: Server) -> None:
    """Guards against a voice that is listed and fails: espeak-ng pronounces it."""
    audio, _ = read_wav(server.post(text="Buenos días a todos.", voice="ef_dora").content)
    assert len(audio) > RATE_HZ
    assert peak(audio) > 0.1


async def test_two_clients_progress_at_once(server: Server) -> None:
    """Guards against one long request that delays all others until its end.

    The long request's peer does not read meanwhile, which must hold up nobody either.
    """
    async with session(server) as long, session(server) as short:
        await speak(long, text=f"{LONG} {SENTENCES[0]}")
        while not isinstance(await next_event(long), bytes):
            pass
        completed = server.get("/stats").json()["completed"]
        await speak(short, text="I am next.")
        await until(short, "synthesis_complete")
        assert server.get("/stats").json()["completed"] == completed + 1
        await until(long, "synthesis_complete")


async def test_too_big_a_message_ends_its_own_session_only(server: Server) -> None:
    """Guards against a huge frame that is kept in memory or affects other sessions."""
    failed = server.get("/stats").json()["failed"]
    async with session(server) as hostile, session(server) as other:
        await speak(other, text=SENTENCES[0])
        await speak(hostile, text=LONG)
        while not isinstance(await next_event(hostile), bytes):
            pass
        with pytest.raises(ConnectionClosed) as closed:
            await hostile.send(" " * 9_000_000)
            await until(hostile, "synthesis_complete")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
        await until(other, "synthesis_complete")
    assert server.get("/stats").json()["failed"] == failed


async def test_vanished_clients_leave_nothing_behind(server: Server) -> None:
    """Guards against sessions, batch requests and work that outlive their client."""
    before = server.get("/stats").json()
    for _ in range(3):
        async with session(server) as websocket:
            await speak(websocket, text=LONG)
            await speak(websocket, text=LONG)
            while not isinstance(await next_event(websocket), bytes):
                pass
            websocket.transport.abort()
    async with httpx.AsyncClient(base_url=f"http://{server.address}", timeout=60) as client:
        body = client.stream("POST", "/invocations", json={"text": LONG})
        async with body as answer:
            await anext(answer.aiter_raw())
        async with asyncio.timeout(30):
            while True:
                now = (await client.get("/stats")).json()
                if now["streams_open"] == now["batch_open"] == 0:
                    break
                await asyncio.sleep(0.05)
    assert now["streams_opened"] == before["streams_opened"] + 3
    assert now["cancelled"] == before["cancelled"] + 6
    assert now["completed"] == before["completed"]


def test_a_damaged_model_is_one_clear_error(model_dir: Path, tmp_path: Path) -> None:
    """Guards against a traceback, and against a server that never becomes ready."""
    model = model_dir / "prosody-cpu.onnx"
    with model.open("rb") as file:
        (tmp_path / model.name).write_bytes(file.read(1_000_000))
    for name in ("vocab.json", "voices"):
        (tmp_path / name).symlink_to(model_dir / name)
    result = subprocess.run(
        [sys.executable, "-m", "kokoro_server", "serve", "--host", "127.0.0.1", "--port", "0"],
        cwd=CONTAINER,
        env=os.environ | {"KOKORO_MODEL_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 1
    assert model.name in result.stderr
    assert "Traceback" not in result.stderr


async def test_a_voice_of_ones_own_speaks(model_dir: Path, tmp_path: Path) -> None:
    """Guards against a file that is checked and listed, but not spoken with."""
    folder = tmp_path / "voices"
    folder.mkdir()
    styles = np.fromfile(model_dir / "voices" / "am_michael.bin", "<f4").reshape(510, 1, 256)
    np.save(folder / "am_mike.npy", styles)
    with running(model_dir, tmp_path / "log", KOKORO_VOICES_DIR=str(folder)) as server:
        await server.wait_until_ready()
        own, models = (
            server.post(text="Hi there.", voice=voice, format="pcm", granularity="sentence")
            for voice in ("am_mike", "am_michael")
        )
        assert len(own.content) > RATE_HZ
        assert own.content == models.content
        assert "am_mike" in server.post(text="Hi.", voice="nobody").json()["message"]
    assert "voice am_mike: sha256 " in (tmp_path / "log").read_text()


def test_without_a_gpu_the_gpu_image_does_not_start(model_dir: Path) -> None:
    """Guards against an expensive instance that synthesizes on its CPU and looks healthy."""
    result = subprocess.run(
        [sys.executable, "-m", "kokoro_server", "serve", "--host", "127.0.0.1", "--port", "0"],
        cwd=CONTAINER,
        env=os.environ | {"KOKORO_MODEL_DIR": str(model_dir), "KOKORO_EXECUTION_PROVIDER": "cuda"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 1
    assert "CUDAExecutionProvider is not active" in result.stderr
    assert "Traceback" not in result.stderr


MODEL_CONTROL = [
    "And the winner is [pause:dramatic] Ann.",
    "And the winner [pause: is Ann.",
    "The winner [Ann](/bad is here.",
    "The winner `[Ann](/h€/)` is here.",
    "The winner [Ann](=) is <break time='99s'/> here.",
    "<speak>The winner is <shout>Ann</shout>.</speak>",
    "&lt;speak&gt;The winner is Ann.",
    "`<speak>` The winner is <unknown attribute=1> Ann.",
    "<prosody rate='900%'>The winner is Ann.",
]


async def test_control_in_a_models_sentence_never_costs_the_sentence(server: Server) -> None:
    """Guards against a refusal of what the agent lets through: it would end the turn."""
    async with session(server) as websocket:
        for number, text in enumerate(MODEL_CONTROL):
            await speak(websocket, text=speakable(text), sentence=True, request_id=f"s{number}")
            complete, audio = await until(websocket, "synthesis_complete")
            assert complete["unspoken"] == []
            assert len(audio) > RATE_HZ, text


PATTERNS = [
    "1",
    "1/",
    "$1 ",
    "'",
    "[pause:",
    "U.S.A. ",
    "I. ",
    "[",
    "<",
    "😀",
    "б",
    "漢",
    "ا",
    "\u0301",
]
HOSTILE = [
    *(pattern * (length // len(pattern)) for pattern in PATTERNS for length in (20_000, 2_000_000)),
    f"<speak><say-as interpret-as='digits'>{'a ' * 9900}1</say-as></speak>",
    f"<speak>{"<say-as interpret-as='ordinal'>1234567</say-as>" * 400}</speak>",
    f"<speak>{"<prosody rate='fast'>a</prosody>b" * 550}</speak>",
]


PING = """
import json, select, sys, time, httpx
slowest_s, count = 0.0, 0
with httpx.Client(base_url=sys.argv[1], timeout=60) as client:
    while not select.select([sys.stdin], [], [], 0.02)[0]:
        began_s = time.perf_counter()
        assert client.get("/ping").status_code == 200
        slowest_s, count = max(slowest_s, time.perf_counter() - began_s), count + 1
print(json.dumps([slowest_s, count]))
"""


@contextmanager
def pinging(server: Server) -> Iterator[list[float]]:
    """Pings all the time. The list has the longest answer, in seconds, and their number in the end.

    This is a process of its own: the test's work with long texts would delay its pings.
    """
    result: list[float] = []
    command = [sys.executable, "-c", PING, f"http://{server.address}"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield result
        result += json.loads(process.communicate("")[0])


@pytest.mark.soak
async def test_ping_is_answered_in_time_whatever_is_sent(server: Server) -> None:
    """Guards against a text that keeps the server from SageMaker's health checks.

    The machine must have no other work: on a busy one, every process waits this long.
    """
    with pinging(server) as answers:
        for text in HOSTILE:
            async with session(server) as websocket:
                with suppress(ConnectionClosed):  # What is longer than a frame may be.
                    await speak(websocket, text=text)
                    await next_event(websocket)
            async with httpx.AsyncClient(timeout=120) as client:
                url = f"http://{server.address}/invocations"
                async with client.stream("POST", url, json={"text": text}) as answer:
                    assert answer.status_code in {200, 400, 413}
                    await anext(answer.aiter_raw())
    slowest_s, count = answers
    assert count > 100
    assert slowest_s <= 0.2


def wait_until_idle(server: Server) -> None:
    """Wait for the end of all sessions, so that the next caller is alone."""
    while server.get("/stats").json()["streams_open"]:
        time.sleep(0.05)


async def test_a_fresh_server_knows_what_speech_costs(strict_server: Server) -> None:
    """Guards against admitting every caller before the first utterance has ended."""
    async with session(strict_server) as first, session(strict_server) as second:
        await speak(first, text=LONG)
        await until(first, "synthesis_start")
        await speak(second, text="Yes.")
        refused, _ = await until(second, "error")
        assert refused["code"] == "busy"
    wait_until_idle(strict_server)


async def test_every_utterance_is_a_line_of_metrics(strict_server: Server) -> None:
    """Guards against alarms without data, and against a wrong time of the first audio."""
    async with session(strict_server) as websocket:
        await speak(websocket, text=SENTENCES[0], request_id="a")
        complete, _ = await until(websocket, "synthesis_complete")
    wait_until_idle(strict_server)
    assert strict_server.post(text=SENTENCES[1]).status_code == 200
    assert strict_server.process.stdout is not None
    streamed, batch = (json.loads(strict_server.process.stdout.readline()) for _ in range(2))
    for metrics in (streamed, batch):
        assert (metrics["Endpoint"], metrics["Requests"], metrics["Errors"]) == (
            "kokoro-test",
            1,
            0,
        )
        assert metrics["RealTimeFactor"] > 0
    assert 0 < streamed["FirstAudio"] <= 1000 * complete["first_audio_s"] + 1


async def test_sigterm_in_mid_speech_lets_it_finish_and_exits_with_0(strict_server: Server) -> None:
    """Guards against cut sentences when SageMaker removes an instance.

    Also that `/ping` is 503 until the model has spoken once.
    """
    assert strict_server.pings[0] == 503
    async with session(strict_server) as websocket:
        await speak(websocket, text="Good morning. Good night.", request_id="a")
        while not isinstance(await next_event(websocket), bytes):
            pass
        strict_server.process.send_signal(signal.SIGTERM)
        going_away, early = await until(websocket, "going_away")
        assert going_away == {"type": "going_away", "reason": "shutdown", "deadline_s": 25.0}
        assert strict_server.get("/ping").status_code == 503
        complete, late = await until(websocket, "synthesis_complete")
        assert complete["request_id"] == "a"
        assert len(early) + len(late) > 0
        with pytest.raises(ConnectionClosed) as closed:
            await websocket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1001
    assert await asyncio.to_thread(strict_server.process.wait, 10) == 0
