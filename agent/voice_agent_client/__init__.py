"""A typed client for the voice agent, over a WebSocket or server-sent events.

    from voice_agent_client import AgentConnection, Audio, TextDelta

    async with AgentConnection("http://127.0.0.1:8080") as agent:
        async for event in agent.ask("Tell me about the harbor."):
            match event:
                case TextDelta(text=text):
                    print(text, end="", flush=True)
                case Audio(data=data):
                    play(data)  # mono 16-bit little-endian samples at 24 kHz

The address is the URL of an agent (`http://host:port`), a presigned URL (`wss://…`) or
`AgentCore(arn)`. A connection is one conversation. `ask_ws` and `ask_sse` send a single prompt.
Every failure of the agent is an `AgentError`.
"""

from voice_agent_client.addresses import Address, AgentCore
from voice_agent_client.connection import AgentConnection, ask_ws
from voice_agent_client.errors import (
    AgentError,
    AgentLostError,
    AgentProtocolError,
    AgentRefusedError,
    AgentSilentError,
    AgentUnreachableError,
)
from voice_agent_client.protocol import (
    AgentEnd,
    AgentStart,
    Audio,
    AudioStreamEnd,
    AudioStreamStart,
    ErrorEvent,
    Event,
    Interrupted,
    Metrics,
    PromptSettings,
    Sentence,
    SentenceMetrics,
    TextDelta,
    UnknownEvent,
    Word,
    Words,
)
from voice_agent_client.sse import ask_sse

__all__ = [
    "Address", "AgentConnection", "AgentCore", "AgentEnd", "AgentError",
    "AgentLostError", "AgentProtocolError", "AgentRefusedError", "AgentSilentError", "AgentStart",
    "AgentUnreachableError", "Audio", "AudioStreamEnd", "AudioStreamStart", "ErrorEvent", "Event",
    "Interrupted", "Metrics", "PromptSettings", "Sentence", "SentenceMetrics", "TextDelta",
    "UnknownEvent", "Word", "Words", "ask_sse", "ask_ws",
]  # fmt: skip
