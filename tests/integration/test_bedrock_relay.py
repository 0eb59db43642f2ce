"""The relay to Amazon Bedrock, with the Bedrock stand-in as the caller's account."""

import asyncio
import datetime as dt
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import boto3
import botocore.exceptions
import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials

from local.aws_wire.sigv4 import Verifier
from local.bedrock.converse import BedrockConverse, Pace, run_bedrock
from local.bedrock.http_client import UpstreamError
from local.bedrock.relay import Account, run_relay
from local.bedrock.replies import choose_reply, load_replies
from local.bedrock.server_common import event
from tests.listening import listening
from voice_agent.model import BedrockError, ChatHistory, Text, create_model
from voice_agent.settings import Settings

pytestmark = pytest.mark.timeout(90)

ROOT = Path(__file__).parents[2]
REGION = "eu-central-1"
KEY_ID, SECRET = "AKIACALLER", "callers/secret+key"
TOKEN = "FwoGZXIvYXdzEXAMPLE//////////token=="
CALLER = {"AWS_REGION": REGION, "AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET}
AGENTS_KEYS = ["--access-key-id", "AKIALOCAL", "--secret-access-key", "local"]
AGENTS_VERIFIER = Verifier("AKIALOCAL", "local", "us-east-1", "bedrock")
MODEL_ID = "global.amazon.nova-2-lite-v1:0"
ARN = "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.amazon.nova-lite-v1:0"
PROMPT = "Tell me about the harbor."
REPLY = choose_reply(load_replies(), PROMPT)


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """A function that replaces all AWS variables of the environment."""

    def replace(**values: str) -> None:
        for name in list(os.environ):
            if name.startswith("AWS_"):
                monkeypatch.delenv(name)
        values = {
            "HOME": str(tmp_path),
            "AWS_CONFIG_FILE": str(tmp_path / "config"),
            "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
            "AWS_EC2_METADATA_DISABLED": "true",
            **values,
        }
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    replace()
    return replace


class Relay:
    """A relay, the stand-in behind it, and a client with the agent's keys."""

    def __init__(self, port: int, bedrock_url: str) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.bedrock_url = bedrock_url

    async def stats(self) -> dict[str, Any]:
        async with httpx.AsyncClient(base_url=self.bedrock_url, trust_env=False) as http:
            return (await http.get("/local/stats")).json()

    async def order(self, route: str, body: object = None) -> None:
        async with httpx.AsyncClient(base_url=self.bedrock_url, trust_env=False) as http:
            (await http.post(f"/local/{route}", json=body)).raise_for_status()

    def stream(self, model_id: str = MODEL_ID, secret: str = "local") -> Any:
        client = boto3.Session().client(
            "bedrock-runtime",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id="AKIALOCAL",
            aws_secret_access_key=secret,
            config=Config(retries={"total_max_attempts": 1}),
        )
        messages = [{"role": "user", "content": [{"text": PROMPT}]}]
        return client.converse_stream(modelId=model_id, messages=messages)["stream"]

    async def text(self, **options: str) -> str:
        events = await asyncio.to_thread(lambda: list(self.stream(**options)))
        return "".join(deltas(events))


def deltas(events: list[dict[str, Any]]) -> list[str]:
    return [e["contentBlockDelta"]["delta"]["text"] for e in events if "contentBlockDelta" in e]


@asynccontextmanager
async def relaying(upstream_url: str, model_id: str | None = None) -> AsyncIterator[Relay]:
    """A relay for the caller that the environment describes."""
    account = Account.from_environment(upstream_url)
    async with run_relay(account, AGENTS_VERIFIER, model_id) as port:
        yield Relay(port, upstream_url)


@asynccontextmanager
async def callers_bedrock(session_token: str | None = None, **pace: float) -> AsyncIterator[str]:
    """A Bedrock that accepts the caller's keys only."""
    verifier = Verifier(KEY_ID, SECRET, REGION, "bedrock", session_token)
    speed = Pace(**({"first_token_s": 0.0, "tokens_per_s": 2000.0} | pace))
    async with run_bedrock(BedrockConverse(verifier=verifier, pace=speed)) as port:
        yield f"http://127.0.0.1:{port}"


class Canned:
    """A server that answers every request with the same bytes and then closes, or never answers."""

    def __init__(self, answer: bytes | None) -> None:
        self._answer = answer
        self.requests: list[bytes] = []
        self.received = asyncio.Event()
        self.left = asyncio.Event()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.requests.append(await reader.readuntil(b"\r\n\r\n"))
        self.received.set()
        if self._answer is None:
            while await reader.read(65536):
                pass
            self.left.set()
        else:
            writer.write(self._answer)
            await writer.drain()
        writer.close()

    @classmethod
    @asynccontextmanager
    async def serving(cls, answer: bytes | None) -> AsyncIterator[tuple["Canned", str]]:
        canned = cls(answer)
        async with await asyncio.start_server(canned.connected, "127.0.0.1", 0) as server:
            yield canned, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def refusal(status: str, code: str, message: str) -> bytes:
    body = json.dumps({"message": message}).encode()
    return (
        f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\nx-amzn-ErrorType: {code}\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    ).encode() + body


def agents_history(environ: Callable[..., None], relay: Relay) -> ChatHistory:
    """The agent's own model, as it runs in AWS but for its environment."""
    environ(
        AWS_ACCESS_KEY_ID="AKIALOCAL",
        AWS_SECRET_ACCESS_KEY="local",
        AWS_ENDPOINT_URL_BEDROCK_RUNTIME=relay.url,
    )
    settings = Settings(endpoint_name="kokoro", region="us-east-1")
    return ChatHistory(create_model(settings), settings)


async def written(history: ChatHistory) -> str:
    async with aclosing(history.reply(PROMPT)) as reply:
        return "".join([part.text async for part in reply if isinstance(part, Text)])


@pytest.mark.parametrize("model_id", [MODEL_ID, ARN])
async def test_a_request_is_signed_with_the_callers_credentials(environ, model_id: str) -> None:
    """A colon or a slash that is encoded in another way invalidates the signature."""
    environ(**CALLER)
    async with callers_bedrock() as url, relaying(url) as relay:
        assert await relay.text(model_id=model_id) == REPLY
        assert (await relay.stats())["model_ids"] == [model_id]


async def test_the_agent_converses_through_the_relay(environ) -> None:
    environ(**CALLER)
    async with callers_bedrock() as url, relaying(url) as relay:
        history = agents_history(environ, relay)
        assert await written(history) == REPLY
        assert await written(history) == REPLY
        assert (await relay.stats())["last_message_count"] == 3


@pytest.mark.parametrize("model_id", ["eu.anthropic.claude-haiku-4-5-20251001-v1:0", ARN])
async def test_the_model_can_be_replaced(environ, model_id: str) -> None:
    environ(**CALLER)
    async with callers_bedrock() as url, relaying(url, model_id) as relay:
        await relay.text()
        assert (await relay.stats())["model_ids"] == [model_id]


async def test_temporary_credentials_have_their_token(environ) -> None:
    async with callers_bedrock(TOKEN) as url:
        environ(**CALLER, AWS_SESSION_TOKEN=TOKEN)
        async with relaying(url) as relay:
            assert await relay.text() == REPLY
        environ(**CALLER)
        async with relaying(url) as relay:
            with pytest.raises(
                botocore.exceptions.ClientError, match="UnrecognizedClientException"
            ):
                await relay.text()


async def test_a_profile_has_credentials_and_a_region(environ, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(f"[profile dev]\nregion = {REGION}\n")
    (tmp_path / "credentials").write_text(
        f"[dev]\naws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET}\n"
    )
    environ(AWS_PROFILE="dev")
    assert str(Account.from_environment()) == (
        "Amazon Bedrock in eu-central-1, with credentials from the profile dev "
        "(shared-credentials-file)"
    )
    async with callers_bedrock() as url, relaying(url) as relay:
        assert await relay.text() == REPLY


async def test_expired_credentials_are_refreshed_or_named(environ, tmp_path: Path) -> None:
    """A conversation may outlast the credentials that the relay began with."""
    source = tmp_path / "credentials.json"
    (tmp_path / "config").write_text(
        f"[profile dev]\nregion = {REGION}\ncredential_process = cat {source}\n"
    )
    environ(AWS_PROFILE="dev")
    with pytest.raises(UpstreamError, match=r"cannot be used: .*cat: .*aws sso login"):
        Account.from_environment()
    # botocore refreshes credentials that expire within ten minutes.
    expiry = dt.datetime.now(dt.UTC) + dt.timedelta(minutes=5)
    credentials = {
        "Version": 1,
        "AccessKeyId": KEY_ID,
        "SecretAccessKey": "old",
        "Expiration": expiry.isoformat(),
    }
    source.write_text(json.dumps(credentials))
    async with callers_bedrock() as url, relaying(url) as relay:
        source.write_text(json.dumps(credentials | {"SecretAccessKey": SECRET}))
        history = agents_history(environ, relay)
        assert await written(history) == REPLY
        source.unlink()
        with pytest.raises(BedrockError, match="the AWS credentials cannot be refreshed"):
            await written(history)
        assert (await relay.stats())["requests"] == 1


async def test_wrong_credentials_are_named_as_by_bedrock(environ) -> None:
    environ(**CALLER | {"AWS_SECRET_ACCESS_KEY": "wrong"})
    async with callers_bedrock() as url, relaying(url) as relay:
        with pytest.raises(BedrockError, match=r"^Bedrock failed: The request signature"):
            await written(agents_history(environ, relay))


async def test_an_api_key_replaces_the_signature(environ) -> None:
    environ(AWS_REGION=REGION, AWS_BEARER_TOKEN_BEDROCK="bedrock-api-key-abc")
    assert str(Account.from_environment()).endswith("with the key in AWS_BEARER_TOKEN_BEDROCK")
    answer = refusal("403 Forbidden", "AccessDeniedException", "The key has expired.")
    async with Canned.serving(answer) as (canned, url), relaying(url) as relay:
        environ()
        with pytest.raises(botocore.exceptions.ClientError, match="The key has expired"):
            await relay.text()
    assert b"\r\nauthorization: Bearer bedrock-api-key-abc\r\n" in canned.requests[0]


async def test_an_unsigned_request_does_not_reach_the_callers_account(environ) -> None:
    """Any program on this machine can connect to the relay."""
    environ(**CALLER)
    async with callers_bedrock() as url, relaying(url) as relay:
        with pytest.raises(botocore.exceptions.ClientError, match="InvalidSignatureException"):
            await relay.text(secret="guessed")
        async with httpx.AsyncClient(trust_env=False) as http:
            response = await http.post(f"{relay.url}/model/{MODEL_ID}/converse-stream", json={})
        assert response.status_code == 403
        assert (await relay.stats())["requests"] == 0


async def test_a_reply_is_relayed_as_it_is_written(environ) -> None:
    """A relay that collects the response delays the first sentence by the whole reply."""
    environ(**CALLER)
    async with callers_bedrock() as url, relaying(url) as relay:
        await relay.order("script", {"text": "one two three"})
        await relay.order("hold")
        received: list[str] = []
        two, loop = asyncio.Event(), asyncio.get_running_loop()

        def read() -> None:
            for converse_event in relay.stream():
                received.extend(deltas([converse_event]))
                if len(received) == 2:
                    loop.call_soon_threadsafe(two.set)

        reading = asyncio.create_task(asyncio.to_thread(read))
        async with asyncio.timeout(20):
            await two.wait()
            assert received == ["one", " two"]
            await relay.order("release")
            await reading
    assert received == ["one", " two", " three"]


async def test_throttling_reads_as_from_bedrock(environ) -> None:
    environ(**CALLER)
    async with callers_bedrock() as url, relaying(url) as relay:
        await relay.order("script", {"error_after_tokens": 0})
        with pytest.raises(botocore.exceptions.ClientError) as error:
            await relay.text()
        assert error.value.response["Error"]["Code"] == "ThrottlingException"
        assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 429
        with pytest.raises(BedrockError, match="Too many requests"):
            await written(agents_history(environ, relay))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "AccessDeniedException",
            "You don't have access to the model with the specified model ID.",
        ),
        ("ExpiredTokenException", "The security token included in the request is expired"),
    ],
)
async def test_a_refusal_reads_as_from_bedrock(environ, code: str, message: str) -> None:
    environ(**CALLER)
    async with (
        Canned.serving(refusal("403 Forbidden", code, message)) as (_, url),
        relaying(url) as relay,
    ):
        with pytest.raises(BedrockError) as error:
            await written(agents_history(environ, relay))
    assert str(error.value).startswith(f"Bedrock failed: {message.rstrip('.')}")
    assert f"({code})" in str(error.value)


async def test_a_model_that_fails_in_the_middle_reads_as_from_bedrock(environ) -> None:
    environ(**CALLER)
    async with callers_bedrock() as url, relaying(url) as relay:
        await relay.order("script", {"text": "one two three", "error_after_tokens": 2})
        with pytest.raises(BedrockError, match=r"The model stopped.*modelStreamErrorException"):
            await written(agents_history(environ, relay))


@pytest.mark.parametrize("cut", [0, 5])
async def test_a_bedrock_that_breaks_off_is_named_soon(environ, caplog, cut: int) -> None:
    """The relay must not end the response: what came would pass for a complete reply."""
    environ(**CALLER)
    delta = event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Boats"}})
    data = event("messageStart", {"role": "assistant"}) + delta[: len(delta) - cut]
    answer = (
        "HTTP/1.1 200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\n"
        f"transfer-encoding: chunked\r\n\r\n{len(data):x}\r\n"
    ).encode() + data
    async with Canned.serving(answer + b"\r\n") as (_, url), relaying(url) as relay:
        history = agents_history(environ, relay)
        async with asyncio.timeout(10):
            with pytest.raises(BedrockError, match="the connection was lost"):
                await written(history)
    assert history.messages == []
    assert "Bedrock broke off its response" in caplog.text
    assert "Traceback" not in caplog.text


async def test_a_bedrock_that_cannot_be_reached_is_named(environ) -> None:
    environ(**CALLER)
    async with callers_bedrock() as url:
        pass
    async with relaying(url) as relay, asyncio.timeout(15):
        with pytest.raises(BedrockError, match=f"{url} cannot be reached"):
            await written(agents_history(environ, relay))


async def test_leaving_a_reply_closes_it_at_bedrock(environ, caplog) -> None:
    """Bedrock charges for tokens that nobody reads."""
    environ(**CALLER)
    async with callers_bedrock(tokens_per_s=5.0) as url, relaying(url) as relay:
        history = agents_history(environ, relay)
        async with aclosing(history.reply(PROMPT)) as reply:
            async for part in reply:
                assert isinstance(part, Text)
                break
        # The reply takes sixteen seconds unless something stops it.
        async with asyncio.timeout(8):
            while (await relay.stats())["streams_open"]:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []


async def test_leaving_before_the_response_closes_the_request(environ) -> None:
    """An interruption often comes while the model has not begun."""
    environ(**CALLER)
    async with Canned.serving(None) as (canned, url), relaying(url) as relay:
        request = AWSRequest(
            "POST",
            f"{relay.url}/model/amazon.nova-lite-v1%3A0/converse-stream",
            {"content-type": "application/json"},
            b"{}",
        )
        SigV4Auth(Credentials("AKIALOCAL", "local"), "bedrock", "us-east-1").add_auth(request)
        async with httpx.AsyncClient(trust_env=False) as http, asyncio.timeout(20):
            asking = asyncio.create_task(
                http.post(request.url, headers=dict(request.headers), content=b"{}")
            )
            await canned.received.wait()
            asking.cancel()
            await canned.left.wait()


async def test_a_proxy_is_used_for_the_way_out_only(environ, monkeypatch) -> None:
    environ(**CALLER)
    answer = refusal("403 Forbidden", "AccessDeniedException", "This is the proxy.")
    async with Canned.serving(answer) as (canned, proxy_url):
        monkeypatch.setenv("HTTP_PROXY", proxy_url)
        monkeypatch.setenv("http_proxy", proxy_url)
        async with callers_bedrock() as url, relaying(url) as relay:
            monkeypatch.setenv("NO_PROXY", "127.0.0.1")  # boto3's way to the relay
            assert await relay.text() == REPLY
        assert canned.requests == []
        async with relaying("http://bedrock.invalid") as relay:
            with pytest.raises(botocore.exceptions.ClientError, match="This is the proxy"):
                await relay.text()
    assert canned.requests[0].startswith(b"POST http://bedrock.invalid/model/global.amazon")


@pytest.mark.parametrize(
    ("variables", "config", "named"),
    [
        ({"AWS_REGION": REGION}, "", "no AWS credentials were found: run `aws sso login` or"),
        (CALLER | {"AWS_REGION": ""}, "", "no AWS Region is set: set AWS_REGION to"),
        (
            CALLER | {"AWS_PROFILE": "dve"},
            "[profile dev]\n",
            r"profile \(dve\) could not be found. Set AWS_PROFILE to a profile that exists \(dev\)",
        ),
        (
            {"AWS_REGION": REGION, "AWS_PROFILE": "dev"},
            "[profile dev]\nsso_session = s\nsso_account_id = 123456789012\nsso_role_name = r\n"
            "[sso-session s]\nsso_region = us-east-1\nsso_start_url = https://x.invalid/start\n",
            "the AWS settings cannot be used: .*To sign in, run `aws sso login`",
        ),
        (
            {"AWS_REGION": REGION, "AWS_ACCESS_KEY_ID": KEY_ID},
            "",
            "the AWS settings cannot be used: Partial credentials.*AWS_SECRET_ACCESS_KEY",
        ),
        (CALLER | {"AWS_CA_BUNDLE": "/nowhere.pem"}, "", "the AWS settings cannot be used: "),
        (CALLER | {"AWS_REGION": "eu west"}, "", "the AWS settings cannot be used: .*eu west"),
    ],
)
def test_what_is_missing_is_named_before_the_start(
    environ, tmp_path: Path, variables: dict[str, str], config: str, named: str
) -> None:
    (tmp_path / "config").write_text(config)
    environ(**variables)
    with pytest.raises(UpstreamError, match=named) as error:
        Account.from_environment()
    assert "\n" not in str(error.value)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "local.bedrock.relay", *AGENTS_KEYS, *arguments]


async def test_the_process_serves_and_ends_cleanly_in_the_middle_of_a_reply(environ) -> None:
    environ(**CALLER)
    async with (
        callers_bedrock(tokens_per_s=5.0) as url,
        listening(*command("--endpoint-url", url, "--model", ARN)) as process,
    ):
        relay = Relay(process.port, url)
        events = await asyncio.to_thread(relay.stream)
        first = await asyncio.to_thread(next, iter(events))
        assert first == {"messageStart": {"role": "assistant"}}
        assert (await relay.stats())["model_ids"] == [ARN]
        log = await process.end(signal.SIGTERM)
    assert SECRET.encode() not in log


def test_the_process_does_not_start_without_credentials(environ) -> None:
    environ(AWS_REGION=REGION)
    result = subprocess.run(
        command(), cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 1
    assert result.stderr.startswith("error: no AWS credentials were found")
    assert result.stderr.count("\n") == 1


def test_the_process_does_not_start_without_the_agents_keys(environ) -> None:
    """Without them, every program on this machine could use the caller's account."""
    environ(**CALLER)
    result = subprocess.run(
        [sys.executable, "-m", "local.bedrock.relay"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert result.returncode == 2
    assert "--access-key-id" in result.stderr
