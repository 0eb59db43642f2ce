"""How much sooner speech begins: bidi against batch, over both transports, on this machine.

    python -m bench.first_words [--rounds 5] [--out bench/results/first_words.md]

One local agent, the same prompt, reply, voice and weights; the four combinations take turns, so
that a drift of the machine's speed reaches all alike. t0 is the prompt's sending, first audio its
first byte at the client.
"""

import asyncio
import sys
import time
from contextlib import aclosing
from datetime import date
from typing import Literal, get_args

from bench.report import argument_parser, document, machine, publish, spread, table
from local.supervisor import Supervisor
from local.timeline import ReplyTimeline, Report
from voice_agent_client import AgentConnection, ask_sse

Mode = Literal["bidi", "batch"]

PROMPT = "Tell me about the harbor."
COMBINATIONS: list[tuple[Mode, str]] = [
    (mode, transport) for transport in ("ws", "sse") for mode in get_args(Mode)
]


async def measure(agent_url: str, mode: Mode, transport: str) -> Report:
    """One turn in a conversation of its own.

    Raises:
        RuntimeError: the turn failed; a failed turn is no measurement.
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


async def run(rounds: int) -> dict[tuple[Mode, str], list[Report]]:
    """`rounds` interleaved turns of every combination, after one turn to warm up."""
    reports: dict[tuple[Mode, str], list[Report]] = {key: [] for key in COMBINATIONS}
    async with Supervisor(lambda line: print(line, file=sys.stderr)) as supervisor:
        url = supervisor.addresses.agent_url
        await measure(url, "bidi", "ws")
        for number in range(rounds):
            for mode, transport in COMBINATIONS:
                report = await measure(url, mode, transport)
                reports[mode, transport].append(report)
                print(f"round {number + 1}: {mode} {transport} {report.ttfa_s} s", file=sys.stderr)
    return reports


def report(reports: dict[tuple[Mode, str], list[Report]]) -> str:
    """The results as Markdown."""
    first = reports["bidi", "ws"][0]
    rounds = len(reports["bidi", "ws"])
    rows = []
    for transport in ("ws", "sse"):
        bidi, batch = (
            [one.ttfa_s or 0.0 for one in of]
            for of in (reports["bidi", transport], reports["batch", transport])
        )
        ratios = [slow / fast for slow, fast in zip(batch, bidi, strict=True)]
        rows.append(f"{transport} | {spread(bidi)} | {spread(batch)} | {spread(ratios)}")
    return document(
        "# First words: sentence by sentence against the whole reply",
        f"`python -m bench.first_words --rounds {rounds}`, {date.today()}, {machine()}; a reply of "
        f"{len(first.sentences)} sentences, {first.audio_s:.1f} s of speech, written by the "
        "Bedrock stand-in at its default pace. Median (minimum – maximum) of the rounds.",
        table(
            "transport | bidi, first audio, s | batch, first audio, s | ratio, pair by pair", rows
        ),
    )


def main() -> None:
    """Measure, print the table, and write it where `--out` says."""
    parser = argument_parser("first_words", __doc__)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    publish(report(asyncio.run(run(arguments.rounds))), arguments.out)


if __name__ == "__main__":
    main()
