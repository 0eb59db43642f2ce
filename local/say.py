"""`python -m local say`: one reply, or one text, spoken into a WAV file."""

import io
import time
import wave
from argparse import Namespace
from contextlib import aclosing

import httpx

from local.bedrock.reply_sources import ReplySource
from local.command_line import agent_environment
from local.files import write
from local.progress import show
from local.supervisor import Supervisor
from local.timeline import SAMPLE_WIDTH_BYTES, ReplyTimeline
from voice_agent_client import PromptSettings, TextDelta, ask_sse, ask_ws


async def say(options: Namespace, source: ReplySource) -> int:
    """Start everything, ask once, and write the speech to a file.

    Returns:
        The exit status: 0, or 1 when an error was reported.
    """
    supervisor = Supervisor(show, source=source, agent_environment=agent_environment(options))
    async with supervisor:
        if options.text is not None:
            await _set_reply(supervisor.addresses.bedrock_url, options.text)
            print("\nreading your text aloud, as the agent's reply:\n", flush=True)
        else:
            print(f"\nyou:   {options.prompt}\nagent: ", end="", flush=True)
        timeline = await _ask(supervisor.addresses.agent_url, options)
    print("\n\n" + "\n".join(timeline.lines()))
    for error in timeline.errors:
        show(f"error: {error.message}")
    if not timeline.audio:
        show("error: no speech came")
        return 1
    write(options.out, _wav(timeline))
    print(f"           speech written to {options.out}")
    if options.json:
        report = timeline.report(mode=options.mode, transport=options.transport)
        write(options.json, report.model_dump_json(indent=2).encode() + b"\n")
    return 1 if timeline.errors else 0


async def _set_reply(bedrock_url: str, text: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as http:
        url = f"{bedrock_url}/local/script"
        (await http.post(url, json={"text": text})).raise_for_status()


async def _ask(agent_url: str, options: Namespace) -> ReplyTimeline:
    prompt = options.prompt if options.text is None else "Read this aloud."
    settings: PromptSettings = {"mode": options.mode}
    timeline = ReplyTimeline()
    started_s = time.monotonic()
    ask = ask_sse if options.transport == "sse" else ask_ws
    async with aclosing(ask(agent_url, prompt, **settings)) as events:
        async for event in events:
            timeline.feed(event, time.monotonic() - started_s)
            if isinstance(event, TextDelta):
                print(event.text, end="", flush=True)
    return timeline


def _wav(timeline: ReplyTimeline) -> bytes:
    wav = io.BytesIO()
    with wave.open(wav, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(SAMPLE_WIDTH_BYTES)
        file.setframerate(timeline.sample_rate_hz)
        file.writeframes(timeline.audio)
    return wav.getvalue()
