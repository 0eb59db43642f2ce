"""Speaking sessions, many at once, and what their listeners notice."""

import asyncio
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from ops.aws import Account
from ops.speaking import BYTES_PER_S, speech_endpoint
from speech_client.endpoint import SpeechEndpoint
from speech_client.errors import SpeechError
from speech_client.protocol import Audio
from speech_client.session import SpeechSession

SENTENCES = (
    "The harbor wakes early, long before the town above it does.",
    "Boats leave the bay at dawn.",
    "White birds follow them out and come back with them in the evening.",
    "Would you like to hear about the lighthouse, too?",
)


class Playback:
    """One utterance as a listener hears it: played from its first audio on.

    Attributes:
        first_audio_s: When the first audio came, None before.
        underruns: How often playback came to the end of what had arrived.
        ends_at_s: When playback of what has arrived so far ends.
    """

    def __init__(self) -> None:
        self.first_audio_s: float | None = None
        self.underruns = 0
        self.ends_at_s = 0.0

    def receive(self, at_s: float, duration_s: float) -> None:
        """Take `duration_s` seconds of audio that arrived at `at_s`."""
        if self.first_audio_s is None:
            self.first_audio_s = self.ends_at_s = at_s
        elif at_s > self.ends_at_s:
            self.underruns += 1
            self.ends_at_s = at_s
        self.ends_at_s += duration_s


@dataclass
class Step:
    """What `sessions` sessions that spoke at once got.

    Attributes:
        first_audio_ms: Of every utterance, milliseconds since it was asked for.
        underruns: Of all utterances together.
        errors: What failed, in words.
        speech_s: Seconds of speech altogether.
    """

    sessions: int
    first_audio_ms: list[float] = field(default_factory=list)
    underruns: int = 0
    errors: list[str] = field(default_factory=list)
    speech_s: float = 0.0

    def within(self, first_audio_p95_ms: float) -> bool:
        """Whether everybody was served without a gap, and 95 % of the utterances in time."""
        return (
            not self.errors
            and not self.underruns
            and bool(self.first_audio_ms)
            and percentile(self.first_audio_ms, 95) <= first_audio_p95_ms
        )

    def line(self) -> str:
        """One line of the table, and one for the first error."""
        p50, p95 = (percentile(self.first_audio_ms, p) for p in (50, 95))
        line = (
            f"{self.sessions:8d}  {p50:6.0f}  {p95:6.0f}  {self.underruns:9d}  "
            f"{len(self.errors):6d}  {self.speech_s:11.1f}"
        )
        return f"{line}\n          {self.errors[0]}" if self.errors else line


def percentile(values: list[float], percent: float) -> float:
    """The smallest value that `percent` of the values do not exceed; NaN of none."""
    if not values:
        return math.nan
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


async def climb(
    account: Account, endpoint_name: str, ladder: list[int], utterances: int
) -> AsyncIterator[Step]:
    """Let each step's sessions speak at once; yields the step when all have finished.

    A session asks for its next sentence when the last one's playback ends, as a conversation does
    that has much to say. The sessions of a step begin together, which is the worst case.

    Args:
        account: Whose credentials sign.
        endpoint_name: Where to speak.
        ladder: Sessions of each step.
        utterances: How many each session speaks in a step.
    """
    endpoint = speech_endpoint(account, endpoint_name)
    try:
        for sessions in ladder:
            step = Step(sessions)
            await asyncio.gather(
                *(_converse(endpoint, step, number, utterances) for number in range(sessions))
            )
            yield step
    finally:
        await endpoint.close()


async def _converse(endpoint: SpeechEndpoint, step: Step, number: int, utterances: int) -> None:
    clock = asyncio.get_running_loop().time
    try:
        async with SpeechSession(endpoint) as session:
            await session.open()
            for count in range(utterances):
                playback = Playback()
                asked_s = clock()
                text = SENTENCES[(number + count) % len(SENTENCES)]
                async for event in await session.speak(text, f"{number}-{count}"):
                    if isinstance(event, Audio):
                        duration_s = len(event.data) / BYTES_PER_S
                        playback.receive(clock(), duration_s)
                        step.speech_s += duration_s
                step.underruns += playback.underruns
                if playback.first_audio_s is None:
                    step.errors.append("an utterance without audio")
                    continue
                step.first_audio_ms.append(1000 * (playback.first_audio_s - asked_s))
                await asyncio.sleep(max(0.0, playback.ends_at_s - clock()))
    except SpeechError as error:
        step.errors.append(str(error))
