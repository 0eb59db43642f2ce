"""Utterances of no real text, and speech without a model."""

import math
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from kokoro_server.playback import Listener
from kokoro_server.synthesis import Speech
from kokoro_server.utterance import SpeechChunk, SpeechRequest, Utterance
from kokoro_voice.voices import Voice

VOICE = Voice("af_heart", (("af_heart", 1.0),))

Script = Callable[[Utterance], AsyncGenerator[SpeechChunk]]


def waiting_since(now_s: float) -> Listener:
    """A listener who has nothing to play."""
    listener = Listener()
    listener.await_audio(now_s)
    return listener


def playing_until(plays_until_s: float) -> Listener:
    """A listener who began to play at 0 s."""
    listener = waiting_since(0.0)
    listener.add_audio(plays_until_s, 0.0)
    return listener


def new_utterance(
    listener: Listener | None = None,
    chars: float = 1.0,
    received_s: float = 0.0,
    text: str | None = None,
    speed: float = 1.0,
) -> Utterance:
    """One of a text, or of so many characters, to a listener of its own unless one is passed."""
    if text is None:
        text = "x" * math.ceil(chars)
        speed = len(text) / chars if chars else 1.0
    return Utterance(SpeechRequest("", text, VOICE, speed), listener or Listener(), received_s)


class ScriptedSpeech(Speech):
    """Speaks every utterance as a script does, without a model.

    Attributes:
        spoken: The utterances, in order.
    """

    def __init__(self, script: Script) -> None:
        self.spoken: list[Utterance] = []
        self._script = script

    async def speak(self, utterance: Utterance) -> AsyncGenerator[SpeechChunk]:
        """Speak it by the script."""
        self.spoken.append(utterance)
        async with aclosing(self._script(utterance)) as chunks:
            async for chunk in chunks:
                yield chunk


def second(utterance: Utterance) -> SpeechChunk:
    """Hand out a second of silence."""
    utterance.add_audio(1.0, time.monotonic())
    return SpeechChunk(bytes(48_000))


async def failing(utterance: Utterance) -> AsyncGenerator[SpeechChunk]:
    """A script that fails inside, before any audio."""
    raise RuntimeError("the engine is broken")
    yield
