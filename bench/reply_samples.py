"""Records one reply as a listener hears it: streamed, and as one batch.

    python -m bench.reply_samples

It starts the agent, the speech server and the stand-ins for AWS on this machine and asks for the
same reply in both modes over a WebSocket, after one turn to warm up. Each file in `docs/samples`
begins when the prompt is sent. It holds the measured silence before the first audio, then the
speech, and silence wherever playback had to wait for audio.
"""

import asyncio
import time
from contextlib import aclosing
from typing import NamedTuple

from bench.first_words import PROMPT, Mode
from bench.hearing import transcribe, word_error_rate
from bench.playback import Chunk, as_heard, duration_s, underrun_s
from bench.samples import FOLDER, REPLIES, write_mp3
from kokoro_voice.audio import SAMPLE_RATE_HZ
from local.progress import show
from local.supervisor import Supervisor
from voice_agent_client import AgentConnection, Audio, ErrorEvent, TextDelta


class Reply(NamedTuple):
    """A reply: its text, and its audio with the seconds since the prompt was sent."""

    text: str
    chunks: list[Chunk]

    def summary(self) -> str:
        """Return what was measured and how much of it is recognised, in one line."""
        heard = transcribe(as_heard(self.chunks), SAMPLE_RATE_HZ)
        return (
            f"first audio after {self.chunks[0].at_s:.2f} s, {duration_s(self.chunks):.1f} s of "
            f"speech, {underrun_s(self.chunks):.2f} s of silence in buffer underruns, "
            f"word error rate {word_error_rate(self.text, heard):.1%}"
        )


async def ask(agent_url: str, mode: Mode) -> Reply:
    """Ask for the reply in a conversation of its own.

    Raises:
        RuntimeError: The turn failed.
    """
    text, chunks = "", []
    async with AgentConnection(agent_url) as agent:
        started_s = time.monotonic()
        async with aclosing(agent.ask(PROMPT, mode=mode)) as events:
            async for event in events:
                match event:
                    case TextDelta():
                        text += event.text
                    case Audio(data=data):
                        chunks.append(Chunk.of_pcm(time.monotonic() - started_s, data))
                    case ErrorEvent(message=message):
                        raise RuntimeError(f"mode {mode}: {message}")
    return Reply(text, chunks)


async def record() -> dict[Mode, Reply]:
    """Ask in both modes, after one turn to warm up."""
    async with Supervisor(show) as supervisor:
        url = supervisor.addresses.agent_url
        await ask(url, "bidi")
        return {mode: await ask(url, mode) for mode in REPLIES}


def main() -> None:
    """Record both samples, and print what was measured."""
    for mode, reply in asyncio.run(record()).items():
        path = FOLDER / REPLIES[mode]
        write_mp3(path, as_heard(reply.chunks))
        print(f"{path.name}: {reply.summary()}, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
