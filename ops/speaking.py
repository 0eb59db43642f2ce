"""Speaks over bidirectional streams, and checks whether the audio is speech."""

import array
import asyncio
import time
from collections import Counter
from dataclasses import dataclass

from ops.aws import Account
from speech_client.endpoint import SpeechEndpoint
from speech_client.errors import SpeechError
from speech_client.protocol import (
    Audio,
    RequestError,
    SpeechProtocol,
    SynthesisComplete,
    Unrecognized,
)

BYTES_PER_S = 48_000
"""Bytes per second of 16-bit mono PCM at 24 kHz, the container's default format."""
MIN_SPEECH_S = 0.5
SILENCE = 300
"""Audio with a peak below this, of 32 768, is not speech."""

STREAM_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Heard:
    """The audio of a reply.

    Attributes:
        pcm: 16-bit mono PCM at 24 kHz.
        first_audio_s: The seconds from the request to the first byte; None without audio.
    """

    pcm: bytes
    first_audio_s: float | None

    @property
    def duration_s(self) -> float:
        """The duration of the audio in seconds."""
        return len(self.pcm) / BYTES_PER_S

    def problem(self) -> str:
        """Return why the audio is not speech, or an empty text if it is."""
        if self.duration_s < MIN_SPEECH_S:
            return f"only {self.duration_s:.2f} s of audio arrived"
        samples = array.array("h", self.pcm[: len(self.pcm) // 2 * 2])
        if max(map(abs, samples)) < SILENCE:
            return f"{self.duration_s:.2f} s of silence arrived"
        return ""


def speech_endpoint(account: Account, name: str) -> SpeechEndpoint:
    """Return an endpoint to open streams on, with the configuration of the AWS SDKs."""
    return SpeechEndpoint(
        name,
        region=account.region,
        # The transport does not read this setting of the AWS SDKs itself.
        ca_file=account.botocore_session.get_config_variable("ca_bundle"),
        session=account.botocore_session,
    )


async def speak(account: Account, text: str) -> tuple[Heard, Counter[str]]:
    """Speak `text` over a new stream.

    Returns:
        The audio, and the number of payload parts with each `DataType`.

    Raises:
        SpeechError: Synthesis failed or is incomplete.
    """
    endpoint = speech_endpoint(account, account.settings.endpoint_name)
    protocol = SpeechProtocol()
    pcm = bytearray()
    first_audio_s: float | None = None
    data_types: Counter[str] = Counter()
    try:
        stream = await endpoint.open_stream()
        try:
            started_s = time.monotonic()
            await stream.send(protocol.speak(text, "smoke"))
            async with asyncio.timeout(STREAM_TIMEOUT_S):
                while (part := await stream.receive()) is not None:
                    data_types[part.data_type or "none"] += 1
                    match protocol.receive(
                        part.bytes_ or b"", part.data_type, part.completion_state
                    ):
                        case Audio(data=data):
                            if first_audio_s is None:
                                first_audio_s = time.monotonic() - started_s
                            pcm += data
                        case SynthesisComplete():
                            break
                        case RequestError() | Unrecognized() as event:
                            raise SpeechError(f"speech container: {event}")
                else:
                    raise SpeechError(
                        "speech container: ended the session in the middle of a sentence"
                    )
            await stream.send(protocol.close())
        finally:
            await stream.close()
    except TimeoutError:
        raise SpeechError(f"no complete response in {STREAM_TIMEOUT_S:.0f} s") from None
    finally:
        await endpoint.close()
    return Heard(bytes(pcm), first_audio_s), data_types
