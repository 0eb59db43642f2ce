"""The cost of a message before it is admitted: in proportion to its length, whatever it says."""

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx
import pydantic_core
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import connect

from kokoro_server.admission import Admission
from kokoro_server.app import MAX_BODY_BYTES, SpeechApp
from kokoro_server.counters import Counters
from kokoro_server.http_server import listen, make_http_server
from kokoro_server.messages import ProtocolError, decode_batch
from kokoro_server.session import Session
from kokoro_server.settings import Settings
from kokoro_server.utterance import SpeechRequest
from kokoro_voice.text import segments
from kokoro_voice.voices import Voices
from tests.utterances import ScriptedSpeech, failing

VOICES = Voices(
    ["af_heart", "ef_dora", "ff_siwis", "hf_alpha", "if_sara", "jf_alpha", "pf_dora", "zf_xiaoni"],
    "af_heart",
)
PIECES = [
    "1", "1,", "1.", "1/", "1-", "1:", "$1 ", "1e5 ", "10:30 ", "2024-01-01 ", "+1 ", "½", "①", "٣",
    "'", "’", '"', "“", "«", "`", "``` ", "~~~\n", "(", ")", "[", "]", "](", "[a](", "[a](/b/)",
    "[a](=b)", "[a b](fr-fr) ", "[pause:", "[pause:1ms]", "<", "<b>", "<=", "&amp;", "*", "**a** ",
    "_", "#", "@", "|", "\\", "a", "a ", "a.", "a;", "I. ", "Dr. ", "e.g. ", "U.S.A. ", "No. ",
    "p. ", "XIV ", "A1", "'s ", "don't ", "https://a.b/c ", "a@b.c ", "v1.2.3 ", "C:\\a\\", ". ",
    "?! ", "...", "…", ". \n", "\n", "\n\n", "\t", "\u00a0", "\u200b", "\u200d", "\u2028", "-", "—",
    "😀", "👨‍👩‍👧 ", "б", "ж ", "か", "漢", "한", "ا", "ﷺ", "क्", "ไทย", "।", "。", "「",
    "e\u0301", "\u0301",
]  # fmt: skip
ELEMENTS = [
    "<p/>", "<s>a</s>", "<break time='1ms'/>", "<sub alias='b'>a</sub>", "a&lt;", "A. ",
    "<prosody rate='fast'>a</prosody>b", "<phoneme ph='a'>a</phoneme>", "<prosody rate='fast'>",
    "<lang xml:lang='fr'>a</lang>", "<say-as interpret-as='characters'>A1</say-as>",
    "<say-as interpret-as='telephone'>555-12</say-as>",
    "<say-as interpret-as='cardinal'>7</say-as>",
    "<say-as interpret-as='date' format='mdy'>1/2/25</say-as>", "[pause:1ms]",
]  # fmt: skip
CONTENTS = ["a ", "1 ", "A1 ", "7-", "[", "1,"]
SHORT, LONG = 4000, 32_000


def new_session() -> Session:
    limits = Settings(model_dir=Path("unused"), max_text_chars=2 * LONG)
    return Session(limits, VOICES, Counters(), Admission(0.0), now_s=0.0)


def repeated(pattern: str, length: int) -> str:
    return (pattern * (length // len(pattern) + 1))[:length]


def whole(pattern: str, length: int) -> str:
    return pattern * (length // len(pattern))


def ssml(body: str) -> str:
    return f"<speak>{body}</speak>"


def cost_s(text: str, voice: str) -> float:
    """The CPU time of everything that is done with a text before it is pronounced."""
    frame = json.dumps({"type": "speak", "text": text, "voice": voice})
    began_s = time.thread_time()
    message = new_session().read(frame, 0.0)
    assert isinstance(message, SpeechRequest | ProtocolError)
    if isinstance(message, SpeechRequest):
        assert message.chars >= 0
        for span in message.spans:
            list(segments(span.text, message.voice.language))
    return time.thread_time() - began_s


def is_linear(text: Callable[[int], str], voice: str) -> bool:
    """Whether eight times the text takes about eight times as long; not 64 times, its square.

    A busy machine may delay one measurement, but not all of them.
    """
    return any(
        cost_s(text(LONG), voice) < 30 * max(0.002, cost_s(text(SHORT), voice)) for _ in range(4)
    )


PATTERNS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), min_size=1, max_size=3)
A_VOICE = st.sampled_from(VOICES.names)


@settings(max_examples=150, deadline=None)
@given(PATTERNS.map("".join).filter(bool), A_VOICE)
def test_any_repeated_pattern_is_read_in_linear_time(pattern: str, voice: str) -> None:
    """Guards against a crash, and against a text that keeps the server from all other work."""
    assert is_linear(lambda length: repeated(pattern, length), voice)


@pytest.mark.parametrize("pattern", PIECES)
def test_known_patterns_are_read_in_linear_time(pattern: str) -> None:
    """Guards against what the rules of the languages look for, in numbers that nobody writes."""
    assert is_linear(lambda length: repeated(pattern, length), "af_heart")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(ELEMENTS), min_size=1, max_size=3).map("".join), A_VOICE)
@example("<say-as interpret-as='cardinal'>7</say-as>", "ff_siwis")
def test_any_repeated_element_is_read_in_linear_time(pattern: str, voice: str) -> None:
    """Guards against documents whose elements are compared with each other, or parsed twice."""
    assert is_linear(lambda length: ssml(whole(pattern, length)), voice)


@pytest.mark.parametrize("kind", ["characters", "digits", "telephone", "cardinal", "date"])
@pytest.mark.parametrize("content", CONTENTS)
def test_a_long_element_is_read_in_linear_time(kind: str, content: str) -> None:
    """Guards against a look at the whole content for each of its words."""
    element = "<say-as interpret-as='{}'>{}1</say-as>"
    assert is_linear(lambda length: ssml(element.format(kind, whole(content, length))), "af_heart")


def keys(value: str, length: int) -> str:
    return "{" + ",".join(f'"k{number}":{value}' for number in range(length // 10)) + "}"


HOSTILE: dict[str, Callable[[int], str]] = {
    "arrays": lambda length: f"[{whole('[],', length)}1]",
    "open arrays": lambda length: "[" * length,
    "unknown keys": lambda length: keys("1", length),
    "an object as type": lambda length: f'{{"type":{keys("1", length)}}}',
    "an object as text": lambda length: f'{{"text":{keys("1", length)}}}',
    "arrays as text": lambda length: f'{{"text":[{whole("[],", length)}1]}}',
    "a lexicon of numbers": lambda length: f'{{"text":"a","lexicon":{keys("1", length)}}}',
    "a lexicon of words": lambda length: f'{{"text":"a","lexicon":{keys(chr(34) * 2, length)}}}',
    "a long word": lambda length: json.dumps({"text": "a", "lexicon": {"a" * length: "b"}}),
    "marks": lambda length: json.dumps({"text": "a", "lexicon": {whole("é ", length): "b"}}),
    "a respelling": lambda length: json.dumps({"text": "a", "lexicon": {"a": whole("b ", length)}}),
    "a mix": lambda length: json.dumps({"text": "a", "voice": whole("a+", length)}),
    "brackets as voice": lambda length: json.dumps({"text": "a", "voice": whole("()", length)}),
    "an id": lambda length: json.dumps({"text": "a", "request_id": "a" * length}),
    "a number": lambda length: '{"text":"a","speed":3.' + "1" * length + "}",
    "blanks": lambda length: json.dumps({"text": " " * length}),
    "a text": lambda length: json.dumps({"text": whole("$1 ", length)}),
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_a_refusal_costs_little_more_than_its_json(hostile: Callable[[int], str]) -> None:
    """Guards against an error for each of a million keys, and against quoting all of a value."""
    frame = hostile(MAX_BODY_BYTES - 100)
    began_s = time.thread_time()
    with suppress(ValueError):
        pydantic_core.from_json(frame)
    parsed_s = time.thread_time() - began_s
    for read in (lambda: new_session().read(frame, 0.0), lambda: read_batch(frame)):
        began_s = time.thread_time()
        error = read()
        assert time.thread_time() - began_s < 0.05 + 3 * parsed_s
        assert isinstance(error, ProtocolError)
        assert len(error.message) < 1000


def read_batch(body: str) -> SpeechRequest | ProtocolError:
    try:
        message = decode_batch(body.encode())
        return SpeechRequest.of(message, VOICES, Settings(model_dir=Path("unused")))
    except ProtocolError as error:
        return error


class LoopWork:
    """The longest CPU time that the event loop has spent without looking at other tasks."""

    def __init__(self) -> None:
        self.longest_s = 0.0

    async def watch(self) -> None:
        while True:
            before_s = time.thread_time()
            await asyncio.sleep(0)
            self.longest_s = max(self.longest_s, time.thread_time() - before_s)


async def test_long_texts_are_read_away_from_the_event_loop() -> None:
    """Guards against one caller's text that stops the audio of all others, and `/ping`.

    Of what is measured, a tenth of the time is the client's, who shares the loop.
    """
    texts = [
        ssml(f"<say-as interpret-as='digits'>{'1 2 ' * 4900}</say-as>"),
        ssml("<say-as interpret-as='cardinal'>7</say-as>" * 450),
        ssml("<prosody rate='fast'>a</prosody>b" * 550),
    ]
    app = SpeechApp(Settings(model_dir=Path("unused"), admission_headroom=0), VOICES)
    app.speech = ScriptedSpeech(failing)
    with listen("127.0.0.1", 0) as listener:
        http = make_http_server(app.asgi, Settings(model_dir=Path("unused")))
        serving = asyncio.create_task(http.serve(sockets=[listener]))
        host, port = listener.getsockname()
        address = f"{host}:{port}"
        async with (
            httpx.AsyncClient() as client,
            connect(f"ws://{address}/invocations-bidirectional-stream") as session,
        ):
            # The first of everything takes longer.
            await client.post(f"http://{address}/invocations", json={"text": "Hi."})
            await session.send('{"text": "Hi."}')
            await session.recv()
            work = LoopWork()
            watching = asyncio.create_task(work.watch())
            for text in texts:
                answer = await client.post(f"http://{address}/invocations", json={"text": text})
                assert answer.status_code == 500  # It was admitted; the scripted speech fails.
                await session.send(json.dumps({"text": text}))
                assert json.loads(await session.recv())["code"] == "internal"
            watching.cancel()
        http.should_exit = True
        await serving
    assert 0 < work.longest_s < 0.03
