"""Compare the time to first audio: sentence by sentence against the whole reply in one request.

    python -m bench.first_words [--rounds 5] [--out bench/results/first_words.md]

Both modes run over both transports against one local agent, with the same prompt, reply, voice and
weights. The four combinations take turns, so that a drift of the machine's speed affects all of
them alike. Time to first audio is the time from sending the prompt until the first byte of audio
reaches the client.

With `--out`, the figures of every turn are written next to the report, as JSON.
`python -m bench.first_words_picture` draws its picture from that file.
"""

import asyncio
import datetime
import sys
import time
from contextlib import aclosing
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from bench.report import argument_parser, document, machine, publish, spread, table
from local.progress import show
from local.supervisor import Supervisor
from local.timeline import ReplyTimeline, Report
from voice_agent_client import AgentConnection, ask_sse

Mode = Literal["bidi", "batch"]
Transport = Literal["ws", "sse"]

PROMPT = "Tell me about the harbor."
COMBINATIONS: list[tuple[Mode, Transport]] = [
    (mode, transport) for transport in get_args(Transport) for mode in get_args(Mode)
]


class Result(BaseModel):
    """The figures of one run of this benchmark.

    Attributes:
        command: The command that measured them.
        date: The day of the measurement.
        machine: The processor and its number of cores.
        turns: The turns in the order in which they ran: in each round, one of every combination.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: str
    date: datetime.date
    machine: str
    turns: list[Report]

    def turns_of(self, mode: Mode, transport: Transport) -> list[Report]:
        """Return the turns of one combination, one for each round."""
        return [turn for turn in self.turns if (turn.mode, turn.transport) == (mode, transport)]

    def ttfa_s(self, mode: Mode, transport: Transport) -> list[float]:
        """Return the time to first audio of one combination in seconds, for each round."""
        return [turn.ttfa_s or 0.0 for turn in self.turns_of(mode, transport)]


async def measure(agent_url: str, mode: Mode, transport: Transport) -> Report:
    """Run one turn in a conversation of its own.

    Raises:
        RuntimeError: The turn failed, so there is nothing to measure.
    """
    timeline = ReplyTimeline()
    async with AgentConnection(agent_url) as agent:
        started_s = time.monotonic()
        turn = (
            ask_sse(agent_url, PROMPT, mode=mode)
            if transport == "sse"
            else agent.ask(PROMPT, mode=mode)
        )
        async with aclosing(turn) as events:
            async for event in events:
                timeline.feed(event, time.monotonic() - started_s)
    if timeline.errors:
        raise RuntimeError(f"{mode} over {transport}: {timeline.errors[0].message}")
    return timeline.report(mode=mode, transport=transport)


async def run(rounds: int) -> list[Report]:
    """Run `rounds` turns of every combination, interleaved, after one turn to warm up."""
    turns: list[Report] = []
    async with Supervisor(show) as supervisor:
        url = supervisor.addresses.agent_url
        await measure(url, "bidi", "ws")
        for number in range(rounds):
            for mode, transport in COMBINATIONS:
                turn = await measure(url, mode, transport)
                turns.append(turn)
                print(f"round {number + 1}: {mode} {transport} {turn.ttfa_s} s", file=sys.stderr)
    return turns


def report(result: Result) -> str:
    """Return the results as Markdown."""
    reply = result.turns_of("bidi", "ws")[0]
    rows = []
    for transport in get_args(Transport):
        bidi, batch = result.ttfa_s("bidi", transport), result.ttfa_s("batch", transport)
        ratios = [slow / fast for slow, fast in zip(batch, bidi, strict=True)]
        rows.append(f"{transport} | {spread(bidi)} | {spread(batch)} | {spread(ratios)}")
    return document(
        "# Time to first audio: sentence by sentence against the whole reply",
        f"`{result.command}`, {result.date}, {result.machine}. The reply has "
        f"{len(reply.sentences)} sentences and {reply.audio_s:.1f} s of speech; the Bedrock "
        "stand-in writes it at its default pace. Each figure is the median (minimum – maximum) of "
        "the rounds.",
        table(
            "transport | sentence by sentence (`bidi`): first audio, s | "
            "whole reply in one request (`batch`): first audio, s | ratio within a round",
            rows,
        ),
    )


def write_json(result: Result, path: Path) -> None:
    """Write `result` to `path`, from which `Result.model_validate_json` reads it."""
    path.write_text(result.model_dump_json(indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Measure, print the report, and write it and the figures if `--out` names a file."""
    parser = argument_parser("first_words", __doc__)
    parser.add_argument("--rounds", type=int, default=5, help="turns of every combination")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error(f"--rounds {arguments.rounds}: must be 1 or more")
    result = Result(
        command=f"python -m bench.first_words --rounds {arguments.rounds}",
        date=datetime.date.today(),
        machine=machine(),
        turns=asyncio.run(run(arguments.rounds)),
    )
    publish(report(result), arguments.out)
    if arguments.out is not None:
        write_json(result, arguments.out.with_suffix(".json"))


if __name__ == "__main__":
    main()
