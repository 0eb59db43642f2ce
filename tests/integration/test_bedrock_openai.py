"""Replies of an OpenAI-compatible server at the agent's Bedrock address."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import boto3
import botocore.exceptions
import httpx
import pytest
from botocore.config import Config

from local.aws_wire.sigv4 import Verifier
from local.bedrock.http_client import UpstreamError
from local.bedrock.openai_compatible import run_openai_compatible
from local.bedrock.openai_discovery import Server
from tests.listening import listening
from tests.scripted_openai_server import OpenAIServer, run_openai_server, text_deltas
from voice_agent.model import BedrockError, ChatHistory, Text, create_model
from voice_agent.settings import Settings

pytestmark = pytest.mark.timeout(90)

ROOT = Path(__file__).parents[2]
TEXT = ' Dr. Smith paid $3.50 —\n"quoted"  twice, naïvely. 日本語 '
AGENTS_KEYS = ["--access-key-id", "AKIALOCAL", "--secret-access-key", "local"]
COMMAND = [sys.executable, "-m", "local.bedrock.openai_compatible"]
TOOL = {
    "toolSpec": {
        "name": "weather",
        "description": "The weather of a city.",
        "inputSchema": {"json": {"type": "object", "properties": {"city": {"type": "string"}}}},
    }
}


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with run_openai_server() as running:
        yield running


@pytest.fixture
async def bedrock_url(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """The address that the agent takes for Bedrock; the environment is the agent's."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "OPENAI_")):
            monkeypatch.delenv(name)
    verifier = Verifier("AKIALOCAL", "local", "us-east-1", "bedrock")
    async with run_openai_compatible(Server(server.url, "llama3.2"), verifier) as port:
        url = f"http://127.0.0.1:{port}"
        for name, value in {
            "AWS_ACCESS_KEY_ID": "AKIALOCAL",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": url,
        }.items():
            monkeypatch.setenv(name, value)
        yield url


@pytest.fixture
def history(server: OpenAIServer, bedrock_url: str) -> ChatHistory:
    """The agent's own model, as it runs in AWS but for its environment."""
    settings = Settings(
        endpoint_name="kokoro",
        region="us-east-1",
        system_prompt="Be brief.",
        max_reply_tokens=100,
        model_server=server.url,
    )
    return ChatHistory(create_model(settings), settings)


async def written(history: ChatHistory, prompt: str = "Hello?") -> str:
    async with aclosing(history.reply(prompt)) as reply:
        return "".join([part.text async for part in reply if isinstance(part, Text)])


def stream(url: str, secret: str = "local", **request: Any) -> Any:
    client = boto3.Session().client(
        "bedrock-runtime",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="AKIALOCAL",
        aws_secret_access_key=secret,
        config=Config(retries={"total_max_attempts": 1}),
    )
    messages = [{"role": "user", "content": [{"text": "Hello?"}]}]
    return client.converse_stream(**({"modelId": "any:0", "messages": messages} | request))[
        "stream"
    ]


async def converse(url: str, **request: Any) -> list[dict[str, Any]]:
    return await asyncio.to_thread(lambda: list(stream(url, **request)))


def deltas(events: list[dict[str, Any]]) -> list[str]:
    return [e["contentBlockDelta"]["delta"]["text"] for e in events if "contentBlockDelta" in e]


async def test_boto3_gets_the_events_of_a_reply(server, bedrock_url: str) -> None:
    server.deltas = text_deltas(TEXT)
    events = await converse(bedrock_url)
    words = [delta["content"] for delta in server.deltas]
    assert deltas(events) == words
    assert "".join(words) == TEXT
    kinds = [next(iter(event)) for event in events]
    assert kinds == [
        "messageStart",
        *["contentBlockDelta"] * len(words),
        "contentBlockStop",
        "messageStop",
        "metadata",
    ]
    assert events[-2]["messageStop"] == {"stopReason": "end_turn"}
    assert events[-1]["metadata"]["usage"]["outputTokens"] == len(words)


async def test_the_request_is_passed_on(server, bedrock_url: str) -> None:
    await converse(
        bedrock_url,
        system=[{"text": "Be brief."}, {"text": "Be kind."}],
        inferenceConfig={
            "maxTokens": 50,
            "temperature": 0.5,
            "topP": 0.75,
            "stopSequences": ["END"],
        },
    )
    (request,) = server.requests
    assert request["model"] == "llama3.2"
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert request["messages"][0]["content"] == "Be brief.\nBe kind."
    assert request["messages"][1]["content"] == "Hello?"
    assert (request["max_tokens"], request["temperature"]) == (50, 0.5)
    assert (request["top_p"], request["stop"]) == (0.75, ["END"])
    assert "tools" not in request


async def test_a_conversation_has_its_earlier_turns(server, history: ChatHistory) -> None:
    server.deltas = text_deltas("It is Ada.")
    assert await written(history, "What is my name?") == "It is Ada."
    assert await written(history, "Spell it.") == "It is Ada."
    first, second = server.requests
    assert first["max_tokens"] == second["max_tokens"] == 100
    assert [(m["role"], m["content"]) for m in second["messages"]] == [
        ("system", "Be brief."),
        ("user", "What is my name?"),
        ("assistant", "It is Ada."),
        ("user", "Spell it."),
    ]


async def test_a_message_is_a_plain_string(server, bedrock_url: str) -> None:
    """Many servers answer a list of parts with an error, or ignore it."""
    await converse(
        bedrock_url,
        messages=[
            {"role": "user", "content": [{"text": "One."}, {"text": "Two."}]},
            {"role": "assistant", "content": [{"text": "Yes."}]},
            {"role": "user", "content": [{"text": "Three."}]},
        ],
    )
    contents = [message["content"] for message in server.requests[-1]["messages"]]
    assert contents == ["One.\nTwo.", "Yes.", "Three."]


async def test_the_reply_is_passed_on_as_it_is_written(server, history: ChatHistory) -> None:
    server.deltas = text_deltas("one two three")
    server.released.clear()
    received = []
    async with asyncio.timeout(20), aclosing(history.reply("Go.")) as reply:
        async for part in reply:
            if isinstance(part, Text):
                received.append(part.text)
            if received == ["one", " two"]:
                server.released.set()
    assert received == ["one", " two", " three"]


async def test_a_reply_that_is_too_long_is_cut_off(server, bedrock_url: str) -> None:
    server.deltas = text_deltas("one two three four")
    events = await converse(bedrock_url, inferenceConfig={"maxTokens": 2})
    assert deltas(events) == ["one", " two"]
    assert {"messageStop": {"stopReason": "max_tokens"}} in events


async def test_a_server_may_have_the_new_name_of_the_length(server, history: ChatHistory) -> None:
    """OpenAI's reasoning models refuse `max_tokens`, and every prompt failed."""
    server.length_name = "max_completion_tokens"
    assert await written(history) == "Yes. It is."
    assert await written(history) == "Yes. It is."
    assert len(server.requests) == 3  # the name is learned once


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_thoughts_in_a_field_of_their_own_are_left_out(
    server, history: ChatHistory, bedrock_url: str, name: str
) -> None:
    server.deltas = [{name: "Hmm."}, {name: " A greeting?"}, *text_deltas("Hello there.")]
    events = await converse(bedrock_url)
    assert deltas(events) == ["Hello", " there."]
    stops = [e["contentBlockStop"] for e in events if "contentBlockStop" in e]
    assert stops == [{"contentBlockIndex": 0}]
    assert await written(history) == "Hello there."
    assert history.messages[-1]["content"] == [{"text": "Hello there."}]


async def test_thoughts_in_the_text_are_left_out(server, history: ChatHistory) -> None:
    server.deltas = [
        {"content": text}
        for text in (
            "<th",
            "ink>\nA gree",
            "ting?\n</thi",
            "nk>",
            "\n\n",
            "Hello",
            " there",
            " <",
            "3",
        )
    ]
    assert await written(history) == "Hello there <3"
    assert history.messages[-1]["content"] == [{"text": "Hello there <3"}]


async def test_a_tool_is_offered_and_called(server, bedrock_url: str) -> None:
    call = {"index": 0, "id": "call-1", "type": "function"}
    server.deltas = [
        {"content": "Let me see."},
        {"tool_calls": [call | {"function": {"name": "weather", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"city": "Bonn"}'}}]},
    ]
    server.finish_reason = "tool_calls"
    events = await converse(bedrock_url, toolConfig={"tools": [TOOL], "toolChoice": {"any": {}}})
    (request,) = server.requests
    assert request["tools"][0]["function"]["name"] == "weather"
    assert request["tool_choice"] == "required"
    assert events[3] == {
        "contentBlockStart": {
            "start": {"toolUse": {"name": "weather", "toolUseId": "call-1"}},
            "contentBlockIndex": 1,
        }
    }
    used = [e["contentBlockDelta"]["delta"] for e in events if "contentBlockDelta" in e]
    assert "".join(d["toolUse"]["input"] for d in used[1:]) == '{"city": "Bonn"}'
    assert {"messageStop": {"stopReason": "tool_use"}} in events

    server.deltas, server.finish_reason = text_deltas("Rain."), "stop"
    use = {"toolUseId": "call-1", "name": "weather", "input": {"city": "Bonn"}}
    result = {"toolUseId": "call-1", "content": [{"json": {"sky": "grey"}}]}
    await converse(
        bedrock_url,
        toolConfig={"tools": [TOOL]},
        messages=[
            {"role": "user", "content": [{"text": "The weather?"}]},
            {"role": "assistant", "content": [{"toolUse": use}]},
            {"role": "user", "content": [{"toolResult": result}]},
        ],
    )
    _, assistant, tool = server.requests[-1]["messages"]
    assert assistant["tool_calls"][0]["id"] == "call-1"
    assert (tool["role"], tool["content"]) == ("tool", '{"sky": "grey"}')


@pytest.mark.parametrize(
    ("status", "message", "code", "bedrock_status"),
    [
        (400, "the prompt is too short", "ValidationException", 400),
        (400, "maximum context length is 4096 tokens", "ValidationException", 400),
        (401, "Incorrect API key provided.", "AccessDeniedException", 403),
        (404, "model 'llama3.2' not found", "ValidationException", 400),
        (429, "Rate limit reached.", "ThrottlingException", 429),
        (500, "llama runner process has terminated", "ModelErrorException", 424),
        (503, "Loading model", "ModelErrorException", 424),
    ],
)
async def test_a_refusal_has_bedrocks_name_and_the_servers_message(
    server, bedrock_url: str, status: int, message: str, code: str, bedrock_status: int
) -> None:
    server.refusal = (status, message)
    with pytest.raises(botocore.exceptions.ClientError) as error:
        await converse(bedrock_url)
    assert len(server.requests) == 1
    response = error.value.response
    assert response["ResponseMetadata"]["HTTPStatusCode"] == bedrock_status
    assert response["Error"]["Code"] == code
    assert response["Error"]["Message"].startswith(f"{server.url}: status {status}: {message}")


async def test_the_agent_names_the_servers_error(server, history: ChatHistory) -> None:
    """ "Bedrock failed" sent people with a server of their own to the quotas of an AWS account."""
    server.refusal = (404, "model 'llama3.2' not found")
    with pytest.raises(BedrockError) as error:
        await written(history)
    assert str(error.value) == (
        f"the model server at {server.url} failed: status 404: model 'llama3.2' not found; check "
        "that it is running and has the model, and read its log"
    )
    server.refusal = (400, "No system prompts.")
    with pytest.raises(BedrockError, match=r"No system prompts; .*; try another model$"):
        await written(history)
    server.refusal = (429, "Rate limit reached.")
    with pytest.raises(BedrockError, match=r"failed: status 429: Rate limit reached$"):
        await written(history)
    server.refusal = (500, "llama runner process has terminated")
    with pytest.raises(BedrockError, match=r"has terminated; read its log$"):
        await written(history)


@pytest.mark.parametrize(
    ("failure", "named"),
    [
        ({"break_after": 2}, "broke off|peer closed"),
        ({"error_after": 2}, "out of memory"),
        ({"finish_reason": None}, "without a finish_reason"),
    ],
)
async def test_a_failure_in_the_middle_is_an_event(
    server, bedrock_url: str, history: ChatHistory, caplog, failure: dict[str, Any], named: str
) -> None:
    """An agent that takes half of a reply for all of it keeps it in the conversation."""
    server.deltas = text_deltas("one two three")
    for name, value in failure.items():
        setattr(server, name, value)
    received: list[dict[str, Any]] = []

    def read() -> None:
        for event in stream(bedrock_url):
            received.append(event)

    with pytest.raises(botocore.exceptions.EventStreamError, match=named) as error:
        await asyncio.to_thread(read)
    assert error.value.response["Error"]["Code"] == "modelStreamErrorException"
    assert deltas(received)[:2] == ["one", " two"]
    with pytest.raises(BedrockError, match=named):
        await written(history)
    assert history.messages == []
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    "answer", [{"streams": False}, {"deltas": [], "finish_reason": None}], ids=["JSON", "no text"]
)
async def test_a_server_that_does_not_stream_is_told_what_it_must_do(
    server, bedrock_url: str, history: ChatHistory, answer: dict[str, Any]
) -> None:
    """The reply was empty, and nothing said why."""
    for name, value in answer.items():
        setattr(server, name, value)
    with pytest.raises(botocore.exceptions.EventStreamError, match="did not stream") as error:
        await converse(bedrock_url)
    assert error.value.response["Error"]["Code"] == "modelStreamErrorException"
    with pytest.raises(BedrockError) as failed:
        await written(history)
    assert str(failed.value) == (
        f"the model server at {server.url} failed: the server did not stream a reply: it must "
        "answer `stream: true` with server-sent events, the last of which has a finish_reason"
    )


async def test_an_empty_reply_is_no_error(server, bedrock_url: str) -> None:
    """A model may have nothing to say; its server says so with a finish_reason."""
    server.deltas = []
    events = await converse(bedrock_url)
    assert deltas(events) == []
    assert {"messageStop": {"stopReason": "end_turn"}} in events


async def test_a_silent_server_is_named(server, bedrock_url: str) -> None:
    server.released.clear()
    settings = Settings(
        endpoint_name="kokoro",
        region="us-east-1",
        model_silence_timeout_s=0.5,
        model_server=server.url,
    )
    with pytest.raises(BedrockError) as error:
        await written(ChatHistory(create_model(settings), settings))
    assert str(error.value) == (
        f"the model server at {server.url} sent nothing for 0.5 s; check that it is running and "
        "has the model, and read its log"
    )


async def test_leaving_a_reply_stops_the_server(server, history: ChatHistory, caplog) -> None:
    """A laptop's model writes one reply at a time: the next one would wait for it."""
    server.deltas = text_deltas("word " * 80)
    server.interval_s = 0.2  # sixteen seconds, unless something stops the reply
    async with aclosing(history.reply("Hello?")) as reply:
        assert isinstance(await anext(reply), Text)
        assert server.streams_open == 1
    async with asyncio.timeout(8):
        while server.streams_open:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []


async def test_an_unsigned_request_does_not_reach_the_server(server, bedrock_url: str) -> None:
    """Any program on this machine can connect, and the API key may cost money."""
    with pytest.raises(botocore.exceptions.ClientError, match="InvalidSignatureException"):
        await converse(bedrock_url, secret="guessed")
    async with httpx.AsyncClient(trust_env=False) as http:
        response = await http.post(f"{bedrock_url}/model/any/converse-stream", json={})
    assert response.status_code == 403
    assert server.requests == []


async def test_a_request_that_cannot_be_translated_is_invalid(server, bedrock_url: str) -> None:
    video = {"video": {"format": "mp4", "source": {"bytes": b"mp4"}}}
    with pytest.raises(botocore.exceptions.ClientError, match=r"ValidationException.*video"):
        await converse(bedrock_url, messages=[{"role": "user", "content": [video]}])
    with pytest.raises(botocore.exceptions.ClientError, match=r"ValidationException.*messages"):
        await converse(bedrock_url, messages=[])
    assert server.requests == []


async def test_the_api_key_is_the_users(server, bedrock_url: str, monkeypatch) -> None:
    await converse(bedrock_url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    await converse(bedrock_url)
    await asyncio.to_thread(Server.find, server.url)
    assert server.keys == {"no-key", "sk-mine"}


async def test_a_server_that_is_gone_is_named(history: ChatHistory, server) -> None:
    server.url = ""
    async with run_openai_server() as other:
        pass
    verifier = Verifier("AKIALOCAL", "local", "us-east-1", "bedrock")
    async with run_openai_compatible(Server(other.url, "x"), verifier) as port:
        with pytest.raises(botocore.exceptions.ClientError) as error:
            await converse(f"http://127.0.0.1:{port}")
    assert error.value.response["Error"]["Code"] == "ServiceUnavailableException"
    assert f"{other.url}: cannot be reached" in str(error.value)


async def test_the_check_names_the_model_that_answers(server) -> None:
    def check(model: str | None = None) -> str:
        return str(Server.find(server.url, model))

    assert await asyncio.to_thread(check) == f"llama3.2 at {server.url}"
    server.models = ["gemma3:4b", "qwen3", "llama3.2"]
    assert await asyncio.to_thread(check) == (
        f"gemma3:4b at {server.url} (also there: qwen3, llama3.2)"
    )
    assert await asyncio.to_thread(check, "qwen3") == (
        f"qwen3 at {server.url} (also there: gemma3:4b, llama3.2)"
    )
    server.refusal = (404, "not here")
    assert await asyncio.to_thread(check, "qwen3") == f"qwen3 at {server.url}"


async def test_a_model_that_is_not_listed_is_an_error(server) -> None:
    """It was noticed at the first reply, half a minute later."""
    server.models = ["gemma3:4b", "qwen3"]
    with pytest.raises(UpstreamError) as error:
        await asyncio.to_thread(Server.find, server.url, "llama3.2")
    assert str(error.value) == (
        f"the server at {server.url} has no model 'llama3.2'; it lists gemma3:4b, qwen3; choose "
        "one with MODEL=… (make) or --model … (python -m local)"
    )


@pytest.mark.parametrize("typed", ["llama3.2", "llama3.2:latest", "Llama3.2"])
async def test_the_tag_latest_may_be_left_out(server, typed: str) -> None:
    """Ollama lists `llama3.2:latest` and takes `llama3.2`, in upper or lower case."""
    server.models = ["qwen3", "llama3.2:latest"]
    found = await asyncio.to_thread(Server.find, server.url, typed)
    assert found.model == typed
    assert str(found) == f"{typed} at {server.url} (also there: qwen3)"


@pytest.mark.parametrize("models", [[], None])
async def test_a_server_without_a_model_is_named(server, models: list[str] | None) -> None:
    """Ollama lists null instead of an empty list."""
    server.models = models
    with pytest.raises(UpstreamError, match=f"server at {server.url} has no model: add one"):
        await asyncio.to_thread(Server.find, server.url)


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "set OPENAI_API_KEY"), (404, "It usually ends in /v1"), (500, "usually ends in /v1")],
)
async def test_a_server_that_refuses_to_list_is_named(server, status: int, advice: str) -> None:
    server.refusal = (status, "no")
    with pytest.raises(
        UpstreamError, match=f"{server.url} answers /models with status {status}: .*{advice}"
    ):
        await asyncio.to_thread(Server.find, server.url)


@pytest.mark.parametrize("ending", ["", "/", "/v1/chat/completions", "/v1/models"])
@pytest.mark.parametrize("model", [None, "llama3.2"])
async def test_a_base_url_that_is_nearly_right_is_corrected(
    server, ending: str, model: str | None
) -> None:
    """With MODEL, it was noticed at the first reply, as "404 page not found"."""
    typed = server.url.removesuffix("/v1") + ending
    with pytest.raises(UpstreamError) as error:
        await asyncio.to_thread(Server.find, typed, model)
    assert str(error.value) == (
        f"{typed} answers /models with status 404: did you mean BEDROCK={server.url}?"
    )


async def test_a_slash_at_the_end_of_the_base_url_is_right(server, bedrock_url: str) -> None:
    typed = server.url + "/"
    found = await asyncio.to_thread(Server.find, typed)
    verifier = Verifier("AKIALOCAL", "local", "us-east-1", "bedrock")
    async with run_openai_compatible(found, verifier) as port:
        assert "".join(deltas(await converse(f"http://127.0.0.1:{port}"))) == "Yes. It is."


async def test_a_wrong_base_url_is_corrected_at_the_first_reply(server, bedrock_url: str) -> None:
    """A server that lists no models cannot be checked at the start."""
    typed = server.url.removesuffix("/v1")
    verifier = Verifier("AKIALOCAL", "local", "us-east-1", "bedrock")
    async with run_openai_compatible(Server(typed, "llama3.2"), verifier) as port:
        with pytest.raises(botocore.exceptions.ClientError) as error:
            await converse(f"http://127.0.0.1:{port}")
    assert f"{typed}: status 404: Not Found (did you mean BEDROCK={server.url}?)" in str(
        error.value
    )


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/v1", "127.0.0.1:9/v1", "ftp://127.0.0.1", "http://", "http://["]
)
def test_a_server_that_is_not_there_is_named_as_it_was_typed(url: str) -> None:
    with pytest.raises(UpstreamError) as error:
        Server.find(url)
    assert f"no OpenAI-compatible server answers at {url} (" in str(error.value)
    assert "start it first" in str(error.value)


async def test_the_process_serves_and_ends_cleanly_in_the_middle_of_a_reply(
    server, bedrock_url: str
) -> None:
    server.models = ["gemma3:4b", "qwen3"]
    server.released.clear()
    async with listening(*COMMAND, "--url", server.url, *AGENTS_KEYS) as process:
        events = await asyncio.to_thread(stream, f"http://127.0.0.1:{process.port}")
        first = await asyncio.to_thread(next, iter(events))
        assert first == {"messageStart": {"role": "assistant"}}
        assert server.requests[-1]["model"] == "gemma3:4b"
        log = await process.end(signal.SIGTERM)
    assert b"Replies come from gemma3:4b at" in log


def test_the_process_does_not_start_without_the_server() -> None:
    result = subprocess.run(
        [*COMMAND, "--url", "http://127.0.0.1:9/v1", *AGENTS_KEYS],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert result.returncode == 1
    assert result.stderr.startswith("error: no OpenAI-compatible server answers at http://127")
    assert result.stderr.count("\n") == 1
