"""A client that streams speech, sentence by sentence, from a SageMaker endpoint with Kokoro.

    from speech_client import Audio, SpeechEndpoint, SpeechSession

    endpoint = SpeechEndpoint("kokoro-dev", region="us-east-1")
    async with SpeechSession(endpoint) as session:
        utterance = await session.speak("Boats leave the bay.", "1", voice="af_heart")
        async for event in utterance:
            if isinstance(event, Audio):
                play(event.data)  # mono 16-bit little-endian samples at 24 kHz
    await endpoint.close()

A session is one conversation. Its stream stays open between sentences, and you can request a
sentence before the previous one has been spoken. `BatchSynthesizer` speaks a text in one request
instead. Every failure is a `SpeechError`; the subclass says which component failed.
"""

from speech_client.batch import BatchSynthesizer
from speech_client.endpoint import SpeechEndpoint, SpeechStream
from speech_client.errors import (
    SpeechConnectionError,
    SpeechContainerError,
    SpeechError,
    SpeechInputError,
    SpeechTimeoutError,
)
from speech_client.protocol import (
    Audio,
    Cancelled,
    SpeakSettings,
    SpeechProtocol,
    SynthesisComplete,
    SynthesisStart,
    Timing,
    Word,
)
from speech_client.session import SpeechSession, Utterance

__all__ = [
    "Audio", "BatchSynthesizer", "Cancelled", "SpeakSettings", "SpeechConnectionError",
    "SpeechContainerError", "SpeechEndpoint", "SpeechError", "SpeechInputError", "SpeechProtocol",
    "SpeechSession", "SpeechStream", "SpeechTimeoutError", "SynthesisComplete", "SynthesisStart",
    "Timing", "Utterance", "Word",
]  # fmt: skip
