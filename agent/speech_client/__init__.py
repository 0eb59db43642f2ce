"""Speech from a SageMaker endpoint with the Kokoro container, sentence by sentence.

    from speech_client import Audio, SpeechEndpoint, SpeechSession

    endpoint = SpeechEndpoint("kokoro-dev", region="us-east-1")
    async with SpeechSession(endpoint) as session:
        utterance = await session.speak("Boats leave the bay.", "1", voice="af_heart")
        async for event in utterance:
            if isinstance(event, Audio):
                play(event.data)  # mono 16-bit little-endian samples at 24 kHz
    await endpoint.close()

A session is one conversation: its stream stays open between sentences, and sentences may be asked
for before the last one is spoken. `BatchSynthesizer` speaks a text in one request instead. Every
failure is a `SpeechError`, whose subclass says what failed.
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
