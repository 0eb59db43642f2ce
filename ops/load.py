"""Many sessions that speak at once, and what their listeners notice."""

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
    """The playback of one utterance, which starts at its first audio.

    Attributes:
        first_audio_s: The time at which the first audio arrived; None before that.
        underruns: The number of buffer underruns: playback had reached the end of the audio that
            had arrived.
        ends_at_s: The time at which playback of the audio that has arrived so far ends.
    """

    def __init__(self) -> None:
        self.first_audio_s: float | None = None
        self.underruns = 0
        self.ends_at_s = 0.0

    def receive(self, at_s: float, duration_s: float) -> None:
        """Add `duration_s` seconds of audio that arrived at time `at_s`."""
        if self.first_audio_s is None:
            self.first_audio_s = self.ends_at_s = at_s
        elif at_s > self.ends_at_s:
            self.underruns += 1
            self.ends_at_s = at_s
        self.ends_at_s += duration_s


@dataclass
class Step:
    """The result of one step of the ladder.

    Attributes:
        sessions: The number of sessions that spoke at once.
        first_audio_ms: The milliseconds from request to first audio, for each utterance.
        underruns: The number of buffer underruns in all utterances.
        errors: The messages of what failed.
        speech_s: The total seconds of speech.
    """

    sessions: int
    first_audio_ms: list[float] = field(default_factory=list)
    underruns: int = 0
    errors: list[str] = field(default_factory=list)
    speech_s: float = 0.0

    def within(self, first_audio_p95_ms: float) -> bool:
        """Return whether nothing failed or underran, and 95 % of the utterances began in time."""
        return (
            not self.errors
            and not self.underruns
            and bool(self.first_audio_ms)
            and percentile(self.first_audio_ms, 95) <= first_audio_p95_ms
        )

    def line(self) -> str:
        """Return one line of the table, and a second one if there was an error."""
        p50, p95 = (
            f"{percentile(self.first_audio_ms, p):.0f}" if self.first_audio_ms else "–"
            for p in (50, 95)
        )
        line = (
            f"{self.sessions:8d}  {p50:>6}  {p95:>6}  {self.underruns:9d}  "
            f"{len(self.errors):6d}  {self.speech_s:11.1f}"
        )
        return f"{line}\n          {self.errors[0]}" if self.errors else line


def percentile(values: list[float], percent: float) -> float:
    """Return the smallest value that `percent` of the values do not exceed; NaN for no values."""
    if not values:
        return math.nan
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


async def climb(
    account: Account, endpoint_name: str, ladder: list[int], utterances: int
) -> AsyncIterator[Step]:
    """Let the sessions of each step speak at once; yield the step when all have finished.

    A session requests its next sentence when the playback of the previous one ends, like an agent
    with a long reply. The sessions of a step begin together, which is the worst case.

    Args:
        account: The account whose credentials sign the requests.
        endpoint_name: The name of the endpoint.
        ladder: The number of sessions in each step.
        utterances: The number of utterances that each session speaks in a step.
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
