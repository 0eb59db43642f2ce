"""Who writes the replies on a laptop: the scripted stand-in, real Bedrock, or another server.

The agent always speaks Bedrock's ConverseStream to a process on loopback; a source says which
program that is.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ReplySource:
    """The program behind the agent's Bedrock address.

    Attributes:
        description: Tells people who writes the replies.
        module: The program.
        arguments: Its arguments, beside its address and the credentials that it accepts.
        environment: Variables it needs beside those that every process gets.
        agent_environment: Settings that the agent needs with it.
    """

    description: str
    module: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    agent_environment: Mapping[str, str] = field(default_factory=dict)


SCRIPTED = ReplySource(
    "The replies are fixed texts; no language model is used. Start with BEDROCK=aws or "
    "BEDROCK=http://… to talk to a model.",
    "local.bedrock.converse",
)

_PATIENCE = {"VOICE_AGENT_MODEL_SILENCE_TIMEOUT_S": "300"}
"""A local server may load the model, tens of gigabytes, when it gets its first request."""


async def reply_source(bedrock: str, model: str | None) -> ReplySource:
    """Return the source that `bedrock` names, after checking that it can be used.

    Args:
        bedrock: `scripted`, `aws`, or the address of an OpenAI-compatible server.
        model: The model to ask; None for the source's default.

    Raises:
        UpstreamError: There are no credentials, or there is no server at that address.
    """
    if bedrock == "scripted":
        return SCRIPTED
    if bedrock == "aws":
        from local.bedrock.relay import Account

        account = await asyncio.to_thread(Account.from_environment)
        return ReplySource(
            f"A language model writes the replies: {account}",
            "local.bedrock.relay",
            ("--model", model) if model else (),
            _caller_environment("AWS_"),
        )

    from local.bedrock.openai_discovery import Server

    server = await asyncio.to_thread(Server.find, bedrock, model)
    return ReplySource(
        f"A language model writes the replies: {server}",
        "local.bedrock.openai_compatible",
        ("--url", server.url, "--model", server.model),
        _caller_environment(),
        _PATIENCE | {"VOICE_AGENT_MODEL_SERVER": server.url},
    )


def _caller_environment(*prefixes: str) -> dict[str, str]:
    """Return the caller's proxies, and the variables that begin with one of `prefixes`.

    The other processes get neither.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(prefixes) or name.lower().endswith("_proxy")
    }
