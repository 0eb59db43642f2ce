"""The SageMaker stand-in on real sockets, driven by AWS's own clients."""

import asyncio
import contextlib
import copy
import http.server
import json
import os
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import boto3
import botocore.exceptions
import httpx
import pytest
from aws_sdk_sagemaker_runtime_http2 import models
from aws_sdk_sagemaker_runtime_http2.client import AsyncSageMakerRuntimeHTTP2Client
from aws_sdk_sagemaker_runtime_http2.config import AsyncSageMakerRuntimeHTTP2Config
from botocore.config import Config
from smithy_aws_event_stream.events import EventMessage
from smithy_core.exceptions import CallError
from websockets.frames import Opcode

from local.aws_wire.event_stream import EventDecoder
from local.aws_wire.tls import make_tls
from local.sagemaker.router import SageMakerRouter, run_router
from local.sagemaker.settings import Endpoint, RouterSettings
from speech_client.transport import ConnectionLostError, H2Transport
from tests.integration.echo_container import EchoContainer, run_echo_container
from tests.listening import listening

KEY_ID, SECRET = "AKIATEST", "secret"
ROOT = Path(__file__).parents[2]


@pytest.fixture
async def container() -> AsyncIterator[EchoContainer]:
    async with run_echo_container() as container:
        yield container


@contextlib.asynccontextmanager
async def running_router(
    tmp_path: Path, container: EchoContainer, **settings: object
) -> AsyncIterator[SageMakerRouter]:
    endpoints = {
        "echo": Endpoint(url=container.url),
        "unlabelled": Endpoint(url=container.url, bidirectional=False),
        "dead": Endpoint(url=f"http://127.0.0.1:{unused_port()}"),
    }
    async with run_router(
        RouterSettings.model_validate(
            {
                "tls_dir": tmp_path / "tls",
                "endpoints": endpoints,
                "access_key_id": KEY_ID,
                "secret_access_key": SECRET,
                **settings,
            }
        )
    ) as router:
        yield router


@pytest.fixture
async def router(tmp_path: Path, container: EchoContainer) -> AsyncIterator[SageMakerRouter]:
    async with running_router(tmp_path, container) as router:
        yield router


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Stream:
    """One bidirectional stream of the official client."""

    def __init__(self, duplex, output, receiver) -> None:
        self.duplex = duplex
        self.output = output
        self.receiver = receiver

    async def send(self, payload: bytes | str, **members: str) -> None:
        if isinstance(payload, str):
            members.setdefault("data_type", "UTF8")
            payload = payload.encode()
        part = models.RequestPayloadPart(bytes_=payload, **members)
        await self.duplex.input_stream.send(models.RequestStreamEventPayloadPart(part))

    async def receive(self) -> models.ResponsePayloadPart | None:
        async with asyncio.timeout(20):
            event = await self.receiver.receive()
        return None if event is None else event.value

    async def end(self) -> None:
        await self.duplex.input_stream.close()


@contextlib.asynccontextmanager
async def client(
    router: SageMakerRouter, *, secret: str = SECRET, transport: H2Transport | None = None
) -> AsyncIterator[AsyncSageMakerRuntimeHTTP2Client]:
    transport = transport or H2Transport(ca_file=str(router.ca_file))
    config = await AsyncSageMakerRuntimeHTTP2Config.resolve(
        region="us-east-1",
        endpoint_uri=router.url,
        transport=transport,
        aws_access_key_id=KEY_ID,
        aws_secret_access_key=secret,
    )
    try:
        yield AsyncSageMakerRuntimeHTTP2Client(config)
    finally:
        await transport.close()


async def open_stream(
    sdk: AsyncSageMakerRuntimeHTTP2Client, endpoint_name: str = "echo", **members: str
) -> Stream:
    async with asyncio.timeout(20):
        duplex = await sdk.invoke_endpoint_with_bidirectional_stream(
            models.InvokeEndpointWithBidirectionalStreamInput(
                endpoint_name=endpoint_name, **members
            )
        )
        return Stream(duplex, *await duplex.await_output())


@contextlib.asynccontextmanager
async def stream(router: SageMakerRouter, **options: str) -> AsyncIterator[Stream]:
    async with client(router) as sdk:
        yield await open_stream(sdk, **options)


def part(payload: bytes, data_type: str, state: str = "COMPLETE") -> models.ResponsePayloadPart:
    return models.ResponsePayloadPart(bytes_=payload, data_type=data_type, completion_state=state)


# Frames


async def test_the_frame_type_is_kept_both_ways(
    router: SageMakerRouter, container: EchoContainer
) -> None:
    """A container that gets JSON as binary, or a client that gets audio as text, is lost."""
    async with stream(router) as s:
        await s.send("héllo")
        assert await s.receive() == part("héllo".encode(), "UTF8")
        await s.send(b"\x00\xff", data_type="BINARY")
        assert await s.receive() == part(b"\x00\xff", "BINARY")
        await s.send(b"untyped")
        assert await s.receive() == part(b"untyped", "BINARY")
        await s.send("")
        # The SDK gives an empty payload as None.
        assert await s.receive() == models.ResponsePayloadPart(
            data_type="UTF8", completion_state="COMPLETE"
        )
    assert [frame.opcode for frame in container.frames[:4]] == [
        Opcode.TEXT,
        Opcode.BINARY,
        Opcode.BINARY,
        Opcode.TEXT,
    ]


async def test_fragments_stay_fragments_both_ways(
    router: SageMakerRouter, container: EchoContainer
) -> None:
    """Putting fragments together would delay the first audio of a fragmented message."""
    async with stream(router) as s:
        await s.send("one ", completion_state="PARTIAL")
        assert await s.receive() == part(b"one ", "UTF8", "PARTIAL")
        await s.send("two", completion_state="COMPLETE")
        assert await s.receive() == part(b"two", "UTF8", "COMPLETE")
        await s.send("fragments")
        assert await s.receive() == part(b"first ", "UTF8", "PARTIAL")
        assert await s.receive() == part(b"second", "UTF8", "COMPLETE")
    assert [(frame.opcode, frame.fin) for frame in container.frames[:2]] == [
        (Opcode.TEXT, False),
        (Opcode.CONT, True),
    ]


@pytest.mark.parametrize("size", [65_536, 1 << 20, 8 << 20])
async def test_parts_larger_than_every_window_pass_whole(
    router: SageMakerRouter, size: int
) -> None:
    payload = os.urandom(size)
    async with stream(router) as s:
        sending = asyncio.create_task(s.send(payload, data_type="BINARY"))
        received = await s.receive()
        await sending
    assert received == part(payload, "BINARY")


async def test_a_frame_longer_than_an_event_ends_the_stream_with_1009(
    router: SageMakerRouter,
) -> None:
    async with stream(router) as s:
        await s.send(f"send {(16 << 20) + 1}")
        with pytest.raises(models.ModelStreamError, match="frame"):
            await s.receive()


async def test_thirty_two_streams_at_once_do_not_mix(router: SageMakerRouter) -> None:
    async def talk(sdk: AsyncSageMakerRuntimeHTTP2Client, number: int) -> None:
        s = await open_stream(sdk)
        for turn in range(10):
            await s.send(f"{number} {turn}")
            assert await s.receive() == part(f"{number} {turn}".encode(), "UTF8")

    async with client(router) as sdk, asyncio.TaskGroup() as group:
        for number in range(32):
            group.create_task(talk(sdk, number))
    assert router.counters["streams_opened"] == 32


async def test_path_query_and_variant(router: SageMakerRouter, container: EchoContainer) -> None:
    async with client(router) as sdk:
        s = await open_stream(sdk)
        assert s.output.invoked_production_variant == "AllTraffic"
        await open_stream(sdk, model_invocation_path="v2/talk", model_query_string="voice=af&x=1")
        await open_stream(sdk, model_invocation_path="/v3", target_variant="AllTraffic")
    assert container.paths == ["/invocations-bidirectional-stream", "/v2/talk?voice=af&x=1", "/v3"]


# Back-pressure


async def settled(count) -> int:
    """The count once it has stood still for a while."""
    last, still = -1, 0
    while still < 10:
        await asyncio.sleep(0.05)
        still = still + 1 if count() == last else 0
        last = count()
    return last


async def test_a_container_that_does_not_read_stops_the_client(
    router: SageMakerRouter, container: EchoContainer
) -> None:
    """Without flow control the router would hold everything that a fast client sends."""
    sent = 0

    async def send_all(s: Stream) -> None:
        nonlocal sent
        for _ in range(64):
            await s.send(bytes(1 << 20), data_type="BINARY", completion_state="PARTIAL")
            sent += 1

    async with stream(router) as s:
        await s.send("deaf")
        sending = asyncio.create_task(send_all(s))
        assert await settled(lambda: sent) < 48
        container.hearing.set()
        received = 0
        while received < 64 << 20:
            echoed = await s.receive()
            assert echoed is not None
            received += len(echoed.bytes_ or b"")
        await sending


async def test_a_client_that_does_not_read_stops_the_container(
    router: SageMakerRouter, container: EchoContainer
) -> None:
    async with client(router) as sdk:
        slow, other = await open_stream(sdk), await open_stream(sdk)
        await slow.send("flood 1024")
        assert await settled(lambda: container.flooded) < 768
        # Meanwhile the others go on.
        await other.send("hello")
        assert await other.receive() == part(b"hello", "UTF8")
        for _ in range(1024):
            assert await slow.receive() == part(bytes(65536), "BINARY")


# Errors on open


async def test_an_unknown_endpoint_or_variant_is_an_input_error(router: SageMakerRouter) -> None:
    async with client(router) as sdk:
        with pytest.raises(models.InputValidationError, match=r"Endpoint nobody .*not found"):
            await open_stream(sdk, "nobody")
        with pytest.raises(models.InputValidationError, match="Variant canary"):
            await open_stream(sdk, target_variant="canary")
    assert router.counters["streams_opened"] == 0


async def test_an_image_without_the_label_is_an_input_error(router: SageMakerRouter) -> None:
    async with client(router) as sdk:
        with pytest.raises(models.InputValidationError, match="bidirectional-streaming=true"):
            await open_stream(sdk, "unlabelled")


async def test_a_container_that_is_not_there_is_a_model_error(router: SageMakerRouter) -> None:
    async with client(router) as sdk:
        with pytest.raises(models.ModelError) as error:
            await open_stream(sdk, "dead")
    assert error.value.original_status_code == 0
    assert "Connect call failed" in (error.value.original_message or "")


async def test_a_refused_handshake_is_a_model_error_with_its_status(
    router: SageMakerRouter,
) -> None:
    async with client(router) as sdk:
        with pytest.raises(models.ModelError) as error:
            await open_stream(sdk, model_invocation_path="/refuse")
    assert error.value.original_status_code == 403
    assert error.value.original_message == "no entry"


async def test_a_wrong_secret_is_denied(router: SageMakerRouter) -> None:
    async with client(router, secret="wrong") as sdk:
        with pytest.raises(CallError, match=r"status: 403 .*InvalidSignatureException"):
            await open_stream(sdk)


@pytest.mark.parametrize(
    ("name", "raised"),
    [
        ("InternalServerError", models.InternalServerError),
        ("ServiceUnavailableError", models.ServiceUnavailableError),
    ],
)
async def test_a_fault_on_open_hits_one_stream(
    router: SageMakerRouter, name: str, raised: type[Exception]
) -> None:
    await set_fault(router, name)
    async with client(router) as sdk:
        with pytest.raises(raised):
            await open_stream(sdk)
        await open_stream(sdk)


# Errors in the stream


@pytest.mark.parametrize(
    ("order", "code", "message"),
    [
        ("close 1011 out of memory", "1011", "out of memory"),
        ("close 1001 ", "1001", "the container closed with 1001"),
        ("drop", "1006", "connection to the container"),
    ],
)
async def test_a_container_that_fails_is_a_model_stream_error(
    router: SageMakerRouter, order: str, code: str, message: str
) -> None:
    """A lost container that looks like the end of the speech would be taken for success."""
    async with client(router) as sdk:
        failing, other = await open_stream(sdk), await open_stream(sdk)
        await failing.send(order)
        with pytest.raises(models.ModelStreamError, match=message) as error:
            await failing.receive()
        assert error.value.error_code == code
        await other.send("still here")
        assert await other.receive() == part(b"still here", "UTF8")


async def test_a_clean_close_by_the_container_ends_the_stream(router: SageMakerRouter) -> None:
    async with stream(router) as s:
        await s.send("close 1000 done")
        assert await s.receive() is None


async def test_half_closing_closes_the_container(
    router: SageMakerRouter, container: EchoContainer
) -> None:
    async with stream(router) as s:
        await s.send("last words")
        await s.end()
        assert await s.receive() == part(b"last words", "UTF8")
        assert await s.receive() is None
    await container.until(lambda: bool(container.closes))
    assert container.closes[0].code == 1000
    assert router.counters["streams_open"] == 0


async def test_a_client_that_vanishes_closes_the_container_with_1001(
    router: SageMakerRouter, container: EchoContainer
) -> None:
    """A container that is not told would speak on to nobody."""
    async with stream(router) as s:
        await s.send("hello")
        await s.receive()
        assert router.counters["streams_open"] == 1
    await container.until(lambda: bool(container.closes))
    assert container.closes[0].code == 1001
    assert router.counters["streams_open"] == 0


class TamperingTransport(H2Transport):
    """Changes the second event that it sends, with all checksums right."""

    async def send(self, request, *, request_config=None):
        body = request.body

        async def changed() -> AsyncIterator[bytes]:
            decoder = EventDecoder()
            count = 0
            async for chunk in body:
                for event in decoder.feed(bytes(chunk)):
                    count += 1
                    if count == 2:
                        inner = EventDecoder().feed(event.payload)[0]
                        forged = EventMessage(headers=inner.headers, payload=b"forged").encode()
                        event = EventMessage(headers=event.headers, payload=forged)
                    yield event.encode()

        # The SDK writes into the body of the request it has: that one stays as it is.
        changed_request = copy.copy(request)
        changed_request.body = changed()
        return await super().send(changed_request, request_config=request_config)


async def test_a_forged_event_never_reaches_the_container(
    router: SageMakerRouter, container: EchoContainer
) -> None:
    transport = TamperingTransport(ca_file=str(router.ca_file))
    async with client(router, transport=transport) as sdk:
        s = await open_stream(sdk)
        await s.send("genuine")
        assert await s.receive() == part(b"genuine", "UTF8")
        await s.send("genuine too")
        with pytest.raises(models.InternalStreamFailure, match="signature does not match"):
            await s.receive()
    await container.until(lambda: bool(container.closes))
    assert b"forged" not in [bytes(frame.data) for frame in container.frames]


@pytest.mark.parametrize(
    ("members", "named"),
    [({"data_type": "TEXT"}, "'TEXT'"), ({"completion_state": "HALF"}, "'HALF'")],
)
async def test_an_undocumented_member_fails_the_stream(
    router: SageMakerRouter, members: dict[str, str], named: str
) -> None:
    async with stream(router) as s:
        await s.send(b"x", **members)
        with pytest.raises(models.InternalStreamFailure, match=named):
            await s.receive()


@pytest.mark.parametrize(
    ("name", "raised"),
    [
        ("InternalStreamFailure", models.InternalStreamFailure),
        ("ModelStreamError", models.ModelStreamError),
    ],
)
async def test_a_fault_in_the_stream(
    router: SageMakerRouter, name: str, raised: type[Exception]
) -> None:
    await set_fault(router, name)
    async with stream(router) as s:
        with pytest.raises(raised):
            await s.receive()


# Pings and limits


async def test_pings_that_are_answered_keep_the_stream(
    tmp_path: Path, container: EchoContainer
) -> None:
    async with (
        running_router(tmp_path, container, ping_interval_s=0.02, max_unanswered_pings=2) as router,
        stream(router) as s,
    ):
        await s.send("ping")  # and the container's own are answered
        await container.until(
            lambda: len([f for f in container.frames if f.opcode is Opcode.PING]) > 5
        )
        await container.until(
            lambda: any(bytes(f.data) == b"are you there" for f in container.frames)
        )
        await s.send("hello")
        assert await s.receive() == part(b"hello", "UTF8")


async def test_a_container_that_answers_no_pings_is_given_up(
    tmp_path: Path, container: EchoContainer
) -> None:
    """A container that hangs with its socket open would keep its client waiting for ever."""
    container.pongs = False
    async with (
        running_router(tmp_path, container, ping_interval_s=0.02, max_unanswered_pings=3) as router,
        stream(router) as s,
    ):
        with pytest.raises(models.ModelStreamError, match="3 pings unanswered"):
            await s.receive()


async def test_a_container_that_reads_no_more_is_given_up(
    tmp_path: Path, container: EchoContainer
) -> None:
    """A ping that waits behind what is not read would never be missed."""
    async with (
        running_router(tmp_path, container, ping_interval_s=0.05, max_unanswered_pings=3) as router,
        stream(router) as s,
    ):
        await s.send("deaf")
        sending = asyncio.create_task(s.send(bytes(15 << 20)))
        with pytest.raises(models.ModelStreamError, match="3 pings unanswered"):
            await s.receive()
        sending.cancel()
        container.hearing.set()


async def test_the_session_limit_ends_the_stream_and_tells_the_container(
    tmp_path: Path, container: EchoContainer
) -> None:
    async with (
        running_router(tmp_path, container, max_session_s=0.3) as router,
        stream(router) as s,
    ):
        with pytest.raises(models.InternalStreamFailure, match=r"limit of 0\.3 s"):
            await s.receive()
        await container.until(lambda: bool(container.closes))
    assert container.closes[0].code == 1001


async def test_stopping_the_router_leaves_no_stream(
    tmp_path: Path, container: EchoContainer
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        router = await stack.enter_async_context(running_router(tmp_path, container))
        async with client(router) as sdk:
            s = await open_stream(sdk)
            await stack.aclose()
            with pytest.raises(OSError) as error:  # noqa: PT011
                await s.receive()
            assert isinstance(error.value.__cause__, ConnectionLostError)
            await container.until(lambda: bool(container.closes))
    assert router.counters["streams_open"] == 0


# The batch route


class _BatchContainer(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        status = int(self.headers["x-amzn-sagemaker-custom-attributes"] or 200)
        answer = json.dumps(
            {
                "path": self.path,
                "body": body.decode(),
                "accept": self.headers["accept"],
                "content-type": self.headers["content-type"],
                "authorization": self.headers["authorization"],
            }
        ).encode()
        self.send_response(status)
        self.send_header("content-type", "audio/wav")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def batch_container() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _BatchContainer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
async def batch_router(
    tmp_path: Path, container: EchoContainer, batch_container: str
) -> AsyncIterator[SageMakerRouter]:
    endpoints = {
        "batch": Endpoint(url=batch_container),
        "dead": Endpoint(url=f"http://127.0.0.1:{unused_port()}"),
        "mute": Endpoint(url=container.url),
    }
    async with running_router(
        tmp_path, container, endpoints=endpoints, batch_timeout_s=2
    ) as router:
        yield router


async def invoke(router: SageMakerRouter, secret: str = SECRET, **parameters: object) -> dict:
    runtime = boto3.client(
        "sagemaker-runtime",
        endpoint_url=router.url,
        verify=str(router.ca_file),
        region_name="us-east-1",
        aws_access_key_id=KEY_ID,
        aws_secret_access_key=secret,
        config=Config(retries={"total_max_attempts": 1}),
    )
    parameters = {"EndpointName": "batch", "Body": b'{"text": "Hi."}', **parameters}

    def call() -> dict:
        response = runtime.invoke_endpoint(**parameters)
        return response | {"Body": response["Body"].read()}

    return await asyncio.to_thread(call)


async def test_boto3_gets_the_containers_answer(batch_router: SageMakerRouter) -> None:
    response = await invoke(batch_router, ContentType="application/json", Accept="audio/wav")
    assert response["ContentType"] == "audio/wav"
    assert response["InvokedProductionVariant"] == "AllTraffic"
    assert json.loads(response["Body"]) == {
        "path": "/invocations",
        "body": '{"text": "Hi."}',
        "accept": "audio/wav",
        "content-type": "application/json",
        "authorization": None,  # credentials go no further than the router
    }
    assert batch_router.counters["requests"] == 1


@pytest.mark.parametrize("status", [400, 503])
async def test_a_containers_error_is_a_model_error(
    batch_router: SageMakerRouter, status: int
) -> None:
    with pytest.raises(botocore.exceptions.ClientError) as error:
        await invoke(batch_router, CustomAttributes=str(status))
    response = error.value.response
    assert response["Error"]["Code"] == "ModelError"
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 424
    assert response["OriginalStatusCode"] == status
    assert '"path": "/invocations"' in response["OriginalMessage"]
    assert response["LogStreamArn"].startswith("arn:aws:logs:")


@pytest.mark.parametrize(
    ("parameters", "code", "message"),
    [
        ({"EndpointName": "nobody"}, "ValidationError", "Endpoint nobody"),
        ({"TargetVariant": "canary"}, "ValidationError", "Variant canary"),
        ({"EndpointName": "dead"}, "ModelError", "no answer from the container"),
        ({"EndpointName": "mute"}, "ModelError", "container"),
        ({"secret": "wrong"}, "InvalidSignatureException", "signature we calculated"),
    ],
)
async def test_batch_errors(
    batch_router: SageMakerRouter, parameters: dict, code: str, message: str
) -> None:
    with pytest.raises(botocore.exceptions.ClientError, match=message) as error:
        await invoke(batch_router, **parameters)
    assert error.value.response["Error"]["Code"] == code


async def test_a_body_over_the_limit_is_refused(batch_router: SageMakerRouter) -> None:
    """Or one request could fill the memory."""
    with pytest.raises(botocore.exceptions.ClientError, match="413"):
        await invoke(batch_router, Body=bytes((25 << 20) + 1))


# Its own routes, and as a process


async def set_fault(router: SageMakerRouter, name: str) -> None:
    async with httpx.AsyncClient(verify=tls_context(router.ca_file)) as http:
        (await http.post(f"{router.url}/local/fault", json={"error": name})).raise_for_status()


def tls_context(ca_file: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=ca_file)
    context.verify_flags |= ssl.VERIFY_X509_STRICT  # the default from Python 3.13 on
    return context


async def test_the_control_routes(router: SageMakerRouter) -> None:
    async with httpx.AsyncClient(verify=tls_context(router.ca_file)) as http, stream(router):
        stats = await http.get(f"{router.url}/local/stats")
        assert stats.json() == {"streams_opened": 1, "streams_open": 1, "requests": 0}
        bad = await http.post(f"{router.url}/local/fault", json={"error": "Other", "more": 1})
        assert bad.status_code == 400
        assert "error: " in bad.json()["error"]
        assert "more: Extra inputs are not permitted" in bad.json()["error"]
        assert (await http.get(f"{router.url}/")).status_code == 404


async def test_bytes_that_are_no_http_harm_only_their_connection(
    router: SageMakerRouter, caplog: pytest.LogCaptureFixture
) -> None:
    for junk in (b"\x00\xff" * 100, b"GET / HTTP/9.9\r\n\r\n", b"POST / HTTP/1.1\r\n"):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", router.port, ssl=tls_context(router.ca_file)
        )
        writer.write(junk)
        writer.close()
        async with asyncio.timeout(20):
            await reader.read()
    async with stream(router) as s:
        await s.send("hello")
        assert await s.receive() == part(b"hello", "UTF8")
    assert "Traceback" not in caplog.text


def test_a_restart_keeps_the_certificate(tmp_path: Path) -> None:
    """Clients that have read the CA file must be able to come back."""
    _, ca_file = make_tls(tmp_path)
    before = ca_file.read_bytes()
    _, again = make_tls(tmp_path)
    assert again.read_bytes() == before
    (tmp_path / "key.pem").unlink()
    make_tls(tmp_path)
    assert ca_file.read_bytes() != before


def test_the_key_is_its_owners_only(tmp_path: Path) -> None:
    make_tls(tmp_path)
    assert stat.S_IMODE((tmp_path / "key.pem").stat().st_mode) == 0o600
    assert not (tmp_path / "ca-key.pem").exists()


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "local.sagemaker.router", *arguments]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_process_announces_itself_and_ends_cleanly(
    tmp_path: Path, container: EchoContainer, number: signal.Signals
) -> None:
    async with listening(
        *command("--endpoint", f"echo={container.url}", "--tls-dir", str(tmp_path)),
        *("--access-key-id", KEY_ID, "--secret-access-key", SECRET),
    ) as process:
        transport = H2Transport(ca_file=str(tmp_path / "ca.pem"))
        config = await AsyncSageMakerRuntimeHTTP2Config.resolve(
            region="us-east-1",
            endpoint_uri=f"https://localhost:{process.port}",
            transport=transport,
            aws_access_key_id=KEY_ID,
            aws_secret_access_key=SECRET,
        )
        s = await open_stream(AsyncSageMakerRuntimeHTTP2Client(config))
        await s.send("hello")
        assert await s.receive() == part(b"hello", "UTF8")
        await process.end(number)
        await transport.close()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--endpoint", "kokoro"], "'kokoro': must be NAME=http://HOST:PORT"),
        (["--endpoint", "kokoro=ftp://x"], "endpoints.kokoro.url"),
        (["--endpoint", "kokoro=http://x", "--port", "70000"], "port"),
        (["--endpoint", "kokoro=http://x", "--max-session-s", "0"], "max_session_s"),
    ],
)
def test_bad_arguments_are_named(tmp_path: Path, arguments: list[str], named: str) -> None:
    more = ["--tls-dir", str(tmp_path), "--access-key-id", "A", "--secret-access-key", "S"]
    result = subprocess.run(
        command(*arguments, *more),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 2
    assert named in result.stderr
    assert "Traceback" not in result.stderr
