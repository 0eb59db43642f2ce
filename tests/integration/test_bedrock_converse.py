"""The Bedrock stand-in on real sockets, driven by boto3 and by Strands."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import boto3
import botocore.exceptions
import httpx
import pytest
from botocore.config import Config
from strands import Agent
from strands.models import BedrockModel

from local.aws_wire.sigv4 import Verifier
from local.bedrock.converse import BedrockConverse, Pace, run_bedrock
from local.bedrock.replies import choose_reply, load_replies, tokens

MODEL_ID = "global.amazon.nova-2-lite-v1:0"
ROOT = Path(__file__).parents[2]


class Bedrock:
    """The stand-in's address, and what the tests ask of it."""

    def __init__(self, port: int, http: httpx.AsyncClient) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._http = http

    async def post(self, route: str, body: object = None) -> httpx.Response:
        return await self._http.post(f"{self.url}/local/{route}", json=body)

    async def order(self, route: str, body: object = None) -> None:
        (await self.post(route, body)).raise_for_status()

    async def stats(self) -> dict:
        return (await self._http.get(f"{self.url}/local/stats")).json()

    def client(self, secret: str = "S"):
        return boto3.client(
            "bedrock-runtime",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id="A",
            aws_secret_access_key=secret,
            config=Config(retries={"total_max_attempts": 1}),
        )

    def events(self, *texts: str, secret: str = "S", model_id: str = MODEL_ID) -> Iterator[dict]:
        """boto3's events; each text is a user message, with a reply before the next one."""
        messages: list[dict] = []
        for text in texts:
            if messages:
                messages.append({"role": "assistant", "content": [{"text": "Yes."}]})
            messages.append({"role": "user", "content": [{"text": text}]})
        yield from self.client(secret).converse_stream(modelId=model_id, messages=messages)[
            "stream"
        ]

    async def converse(self, *texts: str, **options: str) -> list[dict]:
        return await asyncio.to_thread(lambda: list(self.events(*texts, **options)))


def text_of(events: list[dict]) -> str:
    return "".join(deltas(events))


def deltas(events: list[dict]) -> list[str]:
    return [e["contentBlockDelta"]["delta"]["text"] for e in events if "contentBlockDelta" in e]


@pytest.fixture
async def bedrock() -> AsyncIterator[Bedrock]:
    verifier = Verifier("A", "S", "us-east-1", "bedrock")
    stand_in = BedrockConverse(verifier=verifier, pace=Pace(first_token_s=0.01, tokens_per_s=2000))
    async with (
        run_bedrock(stand_in) as port,
        httpx.AsyncClient(trust_env=False, timeout=30) as http,
    ):
        yield Bedrock(port, http)


async def test_boto3_gets_the_events_of_a_reply(bedrock: Bedrock) -> None:
    events = await bedrock.converse("Tell me about the harbor.")
    reply = choose_reply(load_replies(), "harbor")
    assert deltas(events) == tokens(reply)
    kinds = [next(iter(event)) for event in events]
    assert kinds[0] == "messageStart"
    assert kinds[-3:] == ["contentBlockStop", "messageStop", "metadata"]
    assert events[-2]["messageStop"] == {"stopReason": "end_turn"}
    assert events[-1]["metadata"]["usage"]["outputTokens"] == len(tokens(reply))


async def test_the_last_user_message_chooses_the_reply(bedrock: Bedrock) -> None:
    """A reply chosen from the whole conversation would be the same in every turn."""
    events = await bedrock.converse("Tell me about the harbor.", "And the weather?")
    assert text_of(events) == choose_reply(load_replies(), "weather")
    assert (await bedrock.stats())["last_message_count"] == 3


async def test_a_script_is_said_exactly_until_it_is_reset(bedrock: Bedrock) -> None:
    text = ' Dr. Smith paid $3.50 —\n"quoted"  twice, naïvely. 日本語 '
    await bedrock.order("script", {"text": text})
    for _ in range(2):
        assert text_of(await bedrock.converse("harbor")) == text
    await bedrock.order("script", {"text": None})
    assert text_of(await bedrock.converse("harbor")) == choose_reply(load_replies(), "harbor")


async def test_strands_streams_a_script(bedrock: Bedrock) -> None:
    """The agent's own stack: Strands on boto3."""
    await bedrock.order("script", {"text": "One sentence. Another one."})
    session = boto3.Session(
        aws_access_key_id="A", aws_secret_access_key="S", region_name="us-east-1"
    )
    model = BedrockModel(boto_session=session, model_id=MODEL_ID, endpoint_url=bedrock.url)
    agent = Agent(model=model, system_prompt="Be brief.", callback_handler=None)
    pieces = [e["data"] async for e in agent.stream_async("Hello?") if "data" in e]
    assert pieces == tokens("One sentence. Another one.")
    stats = await bedrock.stats()
    assert (stats["requests"], stats["model_ids"]) == (1, [MODEL_ID])


async def test_an_arn_is_a_model_id_too(bedrock: Bedrock) -> None:
    """Its slashes and colons are encoded in the path, and again in the signature."""
    arn = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-lite-v1:0"
    await bedrock.converse("Hello", model_id=arn)
    assert (await bedrock.stats())["model_ids"] == [arn]


async def test_hold_keeps_back_the_last_delta_only(bedrock: Bedrock) -> None:
    await bedrock.order("script", {"text": "one two three"})
    await bedrock.order("hold")
    received: list[str] = []
    two = asyncio.Event()
    loop = asyncio.get_running_loop()

    def read() -> None:
        for event in bedrock.events("go"):
            received.extend(deltas([event]))
            if len(received) == 2:
                loop.call_soon_threadsafe(two.set)

    reading = asyncio.create_task(asyncio.to_thread(read))
    async with asyncio.timeout(20):
        await two.wait()
        assert (await bedrock.stats())["streams_open"] == 1
        assert received == ["one", " two"]
        await bedrock.order("release")
        await reading
    assert received == ["one", " two", " three"]
    assert text_of(await bedrock.converse("again")) == "one two three"


async def test_a_client_that_leaves_ends_its_reply(bedrock: Bedrock) -> None:
    """An interrupted agent hangs up; a reply that goes on would count as open for ever."""
    await bedrock.order("hold")

    def read_a_little() -> None:
        events = bedrock.events("harbor")
        next(events)
        events.close()

    await asyncio.to_thread(read_a_little)
    async with asyncio.timeout(20):
        # Over HTTP there is nothing to wait on.
        while (await bedrock.stats())["streams_open"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_the_model_breaks_where_it_is_told_to(bedrock: Bedrock) -> None:
    await bedrock.order("script", {"text": "one two three", "error_after_tokens": 2})
    received = []

    def read() -> None:
        for event in bedrock.events("go"):
            received.append(event)

    with pytest.raises(botocore.exceptions.EventStreamError, match="modelStreamErrorException"):
        await asyncio.to_thread(read)
    assert deltas(received) == ["one", " two"]


async def test_the_model_is_throttled_where_it_is_told_to(bedrock: Bedrock) -> None:
    await bedrock.order("script", {"error_after_tokens": 0})
    with pytest.raises(botocore.exceptions.ClientError) as error:
        await bedrock.converse("go")
    assert error.value.response["Error"]["Code"] == "ThrottlingException"
    assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 429


async def test_a_wrong_secret_is_denied(bedrock: Bedrock) -> None:
    with pytest.raises(botocore.exceptions.ClientError, match="InvalidSignatureException"):
        await bedrock.converse("go", secret="wrong")
    assert (await bedrock.stats())["requests"] == 0


async def test_a_conversation_without_messages_is_invalid(bedrock: Bedrock) -> None:
    def call() -> None:
        bedrock.client().converse_stream(modelId=MODEL_ID, messages=[])

    with pytest.raises(
        botocore.exceptions.ClientError, match=r"ValidationException.*messages: List"
    ):
        await asyncio.to_thread(call)


@pytest.mark.parametrize(
    ("route", "body", "named"),
    [
        ("script", {"text": ""}, "text: String should have at least 1 character, got ''"),
        ("script", {"words": "x"}, "words: Extra inputs are not permitted, got 'x'"),
        ("script", {"error_after_tokens": -1}, "error_after_tokens: "),
        ("script", [1], "body: "),
        ("pace", {"tokens_per_s": 0}, "tokens_per_s: Input should be greater than 0, got 0"),
        ("pace", {"first_token_s": "1"}, "first_token_s: "),
        ("hold", {"until": 1}, "until: Extra inputs are not permitted"),
    ],
)
async def test_a_bad_order_is_named_and_changes_nothing(
    bedrock: Bedrock, route: str, body: object, named: str
) -> None:
    await bedrock.order("script", {"text": "as before"})
    response = await bedrock.post(route, body)
    assert response.status_code == 400
    assert named in response.json()["error"]
    assert text_of(await bedrock.converse("go")) == "as before"


async def test_the_pace_can_be_set_in_parts(bedrock: Bedrock) -> None:
    assert (await bedrock.post("pace", {"first_token_s": 0.5})).json() == {
        "first_token_s": 0.5,
        "tokens_per_s": 2000,
    }
    assert (await bedrock.post("pace", {"tokens_per_s": 7})).json() == {
        "first_token_s": 0.5,
        "tokens_per_s": 7,
    }


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "local.bedrock.converse", *arguments]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_process_ends_cleanly_in_the_middle_of_a_reply(number: signal.Signals) -> None:
    with subprocess.Popen(
        command("--first-token-s", "0", "--tokens-per-s", "5"),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            line = json.loads(process.stdout.readline())
            assert line == {"event": "listening", "host": "127.0.0.1", "port": line["port"]}
            events = Bedrock(line["port"], httpx.AsyncClient()).events("harbor", secret="any")
            assert next(events) == {"messageStart": {"role": "assistant"}}
            process.send_signal(number)
            with pytest.raises(botocore.exceptions.EventStreamError, match="stopping"):
                list(events)
            output, log = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert output == b""
    assert b"Traceback" not in log


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--tokens-per-s", "0"], "tokens_per_s"),
        (["--first-token-s", "-1"], "first_token_s"),
        (["--access-key-id", "A"], "given together"),
    ],
)
def test_bad_arguments_are_named(arguments: list[str], named: str) -> None:
    result = subprocess.run(
        command(*arguments), cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 2
    assert named in result.stderr
    assert "Traceback" not in result.stderr
