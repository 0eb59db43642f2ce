"""From an utterance to its audio, without the model's work: whose time goes into whose tally."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from kokoro_server.admission import Admission
from kokoro_server.engine_queue import EngineQueue
from kokoro_server.messages import ProtocolError
from kokoro_server.metrics import metric_line
from kokoro_server.scheduler import Scheduler
from kokoro_server.synthesis import Speech
from kokoro_server.utterance import SpeechChunk, Utterance
from kokoro_text.lexicon import Lexicon
from kokoro_voice.audio import Samples
from kokoro_voice.decoding import Decoding
from kokoro_voice.dictionaries import Dictionaries
from kokoro_voice.synthesizer import AudioChunk, Pronunciation, Synthesizer
from kokoro_voice.timing import WordTime
from kokoro_voice.voices import Voice
from kokoro_voice.windows import SpokenFrames
from tests.utterances import VOICE, new_utterance

WORK_S = 0.2


class ScriptedSynthesizer(Synthesizer):
    """A second of sound and one word for each segment that has a letter in it."""

    def __init__(self) -> None:
        self.prepared: list[dict[str, Any]] = []
        self.lexicons: Any = ()

    def pronounce(self, segment: Any, voice: Any, lexicons: Any = ()) -> Pronunciation:
        self.lexicons = lexicons
        sentence: Any = SimpleNamespace(pause_s=segment.pause_s)
        unspoken = [word for word in segment.text.split() if word.startswith("1")]
        return Pronunciation([sentence] if any(map(str.isalpha, segment.text)) else [], unspoken)

    def prepare(self, sentence: Any, voice: Any, speed: float, *_: Any, **options: Any) -> Any:
        self.prepared.append({"voice": voice, "speed": speed} | options)
        decoding = Decoding(40, SpokenFrames(0, 4, 40), windowed=False)
        return SimpleNamespace(decoding=decoding, tail=lambda: np.zeros(0, np.float32))

    def decode(self, *_: Any) -> AudioChunk:
        time.sleep(WORK_S)
        return AudioChunk(_second(), [WordTime("Word.", 0.1, 0.9004)])


def _second() -> Samples:
    return np.full(24_000, 0.5, np.float32)


@pytest_asyncio.fixture
async def speech() -> AsyncIterator[Speech]:
    speech = Speech(ScriptedSynthesizer(), EngineQueue(Scheduler()), sentence_pause_s=0.5)
    yield speech
    await speech.close()


def utterance(text: str, speed: float = 1.0) -> Utterance:
    begun = new_utterance(text=text, speed=speed)
    begun.begin(time.monotonic())
    return begun


async def spoken(speech: Speech, begun: Utterance) -> Sequence[SpeechChunk]:
    chunks = [chunk async for chunk in speech.speak(begun)]
    begun.complete()
    return chunks


async def test_audio_words_and_pauses_add_up(speech: Speech) -> None:
    """Guards against word times that count from the wrong zero, and a pause of fixed length."""
    begun = utterance("One. Two.", speed=2.0)
    chunks = await spoken(speech, begun)
    pcm = b"".join(chunk.pcm for chunk in chunks)
    assert len(pcm) / 48_000 == begun.tally.audio_s == 2.5
    assert begun.tally.chunks == len(chunks) == 6  # of each sentence: sound, its tail, the pause
    times = [(word.start_s, word.end_s) for chunk in chunks for word in chunk.words]
    assert times == [(0.1, 0.9), (1.35, 2.15)]


@pytest.mark.parametrize(("is_sentence", "pauses"), [(False, 2), (True, 1)])
async def test_a_sentence_has_no_pause_inside(
    speech: Speech, is_sentence: bool, pauses: int
) -> None:
    """Guards against a server that splits again what the client sent as one sentence."""
    begun = utterance("See page five. Or six.")
    begun.request = replace(begun.request, sentence=is_sentence)
    chunks = await spoken(speech, begun)
    assert begun.tally.audio_s == pauses * 1.5  # of each sentence: a second, and the pause
    assert len([chunk for chunk in chunks if chunk.words]) == pauses


async def test_a_pause_of_the_text_replaces_the_sentences_own(speech: Speech) -> None:
    """Guards against pauses that depend on the speed, or are added to those between sentences."""
    begun = utterance("[pause:1s][pause:1s]One.[pause:3s] Two. Three[pause:0s]", speed=2.0)
    chunks = await spoken(speech, begun)
    lengths = [len(chunk.pcm) / 48_000 for chunk in chunks if chunk.pcm]
    assert lengths == [2.0, 1.0, 3.0, 1.0, 0.25, 1.0]
    times = [word.start_s for chunk in chunks for word in chunk.words]
    assert times == [2.1, 6.1, 7.35]
    assert (begun.tally.audio_s, begun.tally.pause_s, begun.tally.spoken_s) == (8.25, 5.0, 3.25)


async def test_pauses_alone_are_silence_and_teach_nothing(speech: Speech) -> None:
    """Guards against a division by zero, and a real-time factor of silence."""
    begun = utterance("[pause:1s]\n[pause:2s]")
    chunks = await spoken(speech, begun)
    assert [len(chunk.pcm) / 48_000 for chunk in chunks] == [3.0]
    admission = Admission(1.0)
    assert admission.accept(begun)
    admission.end(begun)
    assert "RealTimeFactor" not in metric_line(begun, "N", "e", 0.0)


async def test_an_unreadable_text_is_an_error_before_its_pause(speech: Speech) -> None:
    """Guards against audio of a request that then fails."""
    with pytest.raises(ProtocolError) as caught:
        await anext(speech.speak(utterance("[pause:1s] 12")))
    assert caught.value.code == "unreadable"


async def test_a_rate_is_a_factor_on_the_speed() -> None:
    """Guards against a rate that replaces the request's speed."""
    synthesizer = ScriptedSynthesizer()
    speech = Speech(synthesizer, EngineQueue(Scheduler()), sentence_pause_s=0.5)
    text = "<speak>One <prosody rate='slow'>two.</prosody> Three</speak>"
    chunks = await spoken(speech, utterance(text, speed=2.0))
    await speech.close()
    assert [options["speed"] for options in synthesizer.prepared] == [2.0, 1.5, 2.0]
    lengths = [len(chunk.pcm) / 48_000 for chunk in chunks if chunk.pcm]
    assert lengths == [1.0, 1.0, pytest.approx(0.5 / 1.5, abs=1e-4), 1.0, 0.25]


async def test_the_requests_lexicon_precedes_the_deployments() -> None:
    """Guards against a lexicon that does not reach the pronunciation."""
    synthesizer = ScriptedSynthesizer()
    deployment, own = Lexicon.of({"a": "b"}, "en-us"), Lexicon.of({"c": "d"}, "en-us")
    speech = Speech(synthesizer, EngineQueue(Scheduler()), deployment)
    begun = utterance("One.")
    begun.request = replace(begun.request, lexicon=own)
    await spoken(speech, begun)
    await speech.close()
    assert synthesizer.lexicons == (own, deployment)


async def test_the_request_reaches_the_synthesizer() -> None:
    """Guards against a field of the request that does not reach the engine."""
    synthesizer = ScriptedSynthesizer()
    speech = Speech(synthesizer, EngineQueue(Scheduler()))
    await spoken(speech, utterance("One.", speed=1.5))
    await speech.close()
    (options,) = synthesizer.prepared
    assert (options["voice"], options["speed"], options["windowed"]) == (VOICE, 1.5, True)


async def test_a_loud_voice_is_made_quieter_if_levels_are_set() -> None:
    """Guards against a setting that is accepted but not used."""
    voice = Voice("if_sara", (("if_sara", 1.0),))
    for level_voices, (quietest, loudest) in ((False, (0.49, 0.51)), (True, (0.1, 0.25))):
        speech = Speech(ScriptedSynthesizer(), EngineQueue(Scheduler()), level_voices=level_voices)
        begun = utterance("One.")
        begun.request = replace(begun.request, voice=voice)
        chunks = await spoken(speech, begun)
        await speech.close()
        assert quietest < np.frombuffer(chunks[0].pcm, "<i2").max() / 32767 < loudest


async def test_what_cannot_be_spoken_is_unreadable(speech: Speech) -> None:
    """Guards against reporting success without any audio."""
    begun = utterance("... !")
    with pytest.raises(ProtocolError) as caught:
        await anext(speech.speak(begun))
    assert caught.value.code == "unreadable"
    assert begun.tally.chunks == 0


async def test_words_without_a_sound_are_reported(speech: Speech) -> None:
    """Guards against a number that vanishes from a sentence, which nobody is told."""
    begun = utterance("Take 10 of them. And 12.")
    await spoken(speech, begun)
    assert begun.unspoken == ["10", "12."]
    with pytest.raises(ProtocolError, match="no sound is known for '12'; give at least a word"):
        await anext(speech.speak(utterance("12")))


async def test_who_waits_for_the_engine_has_the_real_time_factor_of_who_is_alone(
    speech: Speech,
) -> None:
    """Guards against an alarm about a slow engine when there are many sessions.

    Both sessions need the engine for 0.2 s of each second of audio; together they take twice that.
    """
    both = [utterance("One. Two. Three."), utterance("One. Two. Three.")]
    began_s = time.monotonic()
    await asyncio.gather(*(spoken(speech, each) for each in both))
    elapsed_s = time.monotonic() - began_s
    assert all(each.tally.engine_s >= 3 * WORK_S for each in both)
    assert sum(each.tally.engine_s for each in both) <= elapsed_s  # one thread; waiting counts not
    for each in both:
        metrics = json.loads(metric_line(each, "VoiceAgent", "kokoro-dev", 0.0))
        assert metrics["RealTimeFactor"] == round(each.tally.engine_s / each.tally.audio_s, 4)


async def test_a_dictionary_that_is_loaded_delays_no_other_language(
    speech: Speech, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against English that waits seconds for the first Japanese word of another caller."""
    finish = threading.Event()
    loaded: list[frozenset[str]] = []

    def load(self: Dictionaries, languages: frozenset[str]) -> None:
        assert finish.wait(10)
        loaded.append(languages)

    monkeypatch.setattr(Dictionaries, "load", load)
    japanese = asyncio.create_task(spoken(speech, utterance("Say こんにちは.")))
    await asyncio.sleep(0)
    assert await spoken(speech, utterance("Hello."))
    assert not japanese.done()
    finish.set()
    assert await japanese
    assert loaded == [frozenset({"ja"})]
