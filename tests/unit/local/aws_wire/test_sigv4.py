"""Signature verification, checked with the signers of botocore and of the HTTP/2 SDK."""

import asyncio
import dataclasses
import datetime as dt
from urllib.parse import quote

import pytest
from aws_sdk_signers import AsyncEventSigner, SigV4SigningProperties
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given, settings
from hypothesis import strategies as st
from smithy_aws_core.identity import AWSCredentialsIdentity
from smithy_aws_event_stream.events import EventHeaderEncoder, EventMessage

from local.aws_wire.errors import ApiError
from local.aws_wire.event_stream import EventDecoder
from local.aws_wire.sigv4 import EventSignatureChain, Verifier

KEY_ID, SECRET = "AKIATEST", "a/secret+key"
VERIFIER = Verifier(KEY_ID, SECRET, "us-east-1", "sagemaker")
HOST = "127.0.0.1:8443"
PATH = "/endpoints/kokoro/invocations"
BODY = b'{"text": "Hello."}'


def signed(
    path: str = PATH, secret: str = SECRET, token: str | None = None, **names: str
) -> dict[str, str]:
    """The headers that botocore sends for a POST of BODY."""
    request = AWSRequest(
        "POST",
        f"https://{HOST}{path}",
        data=BODY,
        headers={"Content-Type": "application/json", "X-Amzn-SageMaker-Custom-Attributes": "a  b"},
    )
    service, region = names.get("service", "sagemaker"), names.get("region", "us-east-1")
    SigV4Auth(Credentials(KEY_ID, secret, token), service, region).add_auth(request)
    headers = {name.lower(): value for name, value in request.headers.items()}
    return {"host": HOST, **headers}


def verify(
    headers: dict[str, str], path: str = PATH, body: bytes = BODY, **more: object
) -> EventSignatureChain:
    now = more.get("now")
    assert now is None or isinstance(now, dt.datetime)
    return VERIFIER.verify("POST", path, headers, body, now)


@pytest.mark.parametrize(
    "path",
    [
        PATH,
        "/model/amazon.nova-lite-v1%3A0/converse-stream",  # encoded twice in the signature
        "/model/arn%3Aaws%3Abedrock%2Fx/converse-stream",
        "/a?b=2&a=1&a=0&empty=",
    ],
)
def test_botocores_signature_is_accepted(path: str) -> None:
    verify(signed(path), path)


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet="ab-_~%25/:+ é", min_size=1, max_size=12))
def test_any_path_that_botocore_signs_is_accepted(text: str) -> None:
    """A path that is encoded once instead of twice differs only for unusual names."""
    path = "/endpoints/" + quote(text, safe="") + "/invocations"
    verify(signed(path), path)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"authorization": ""}, "MissingAuthenticationTokenException"),
        ({"authorization": "Bearer abc"}, "IncompleteSignatureException"),
        ({"x-amz-date": "yesterday"}, "IncompleteSignatureException"),
        ({"x-amz-date": "20200101T000000Z"}, "InvalidSignatureException"),
        ({"host": "elsewhere:8443"}, "InvalidSignatureException"),
        ({"content-type": "text/plain"}, "InvalidSignatureException"),
    ],
)
def test_a_changed_header_is_refused(change: dict[str, str], code: str) -> None:
    with pytest.raises(ApiError) as refusal:
        verify(signed() | change)
    assert (refusal.value.code, refusal.value.status) == (code, 403)


def test_a_wrong_secret_path_or_body_is_refused() -> None:
    for headers, path, body in (
        (signed(secret="wrong"), PATH, BODY),
        (signed(), "/endpoints/other/invocations", BODY),
        (signed(), PATH, BODY + b" "),
    ):
        with pytest.raises(ApiError, match="does not match"):
            verify(headers, path, body)


def test_an_unknown_key_is_told_from_a_wrong_secret() -> None:
    headers = signed()
    headers["authorization"] = headers["authorization"].replace(KEY_ID, "AKIAOTHER")
    with pytest.raises(ApiError, match="security token") as refusal:
        verify(headers)
    assert refusal.value.code == "UnrecognizedClientException"


@pytest.mark.parametrize("token", [None, "another"])
def test_temporary_keys_are_refused_without_their_token(token: str | None) -> None:
    temporary = dataclasses.replace(VERIFIER, session_token="token")
    temporary.verify("POST", PATH, signed(token="token"), BODY)
    with pytest.raises(ApiError, match="security token") as refusal:
        temporary.verify("POST", PATH, signed(token=token), BODY)
    assert refusal.value.code == "UnrecognizedClientException"


@pytest.mark.parametrize(("name", "value"), [("region", "eu-west-1"), ("service", "bedrock")])
def test_another_scope_is_named(name: str, value: str) -> None:
    with pytest.raises(ApiError, match=f"scoped to us-east-1/sagemaker, not .*{value}"):
        verify(signed(**{name: value}))


def test_a_request_older_than_five_minutes_is_refused() -> None:
    """Otherwise, a recorded request could be replayed forever."""
    headers = signed()
    now = dt.datetime.now(dt.UTC)
    verify(headers, now=now + dt.timedelta(minutes=4))
    for minutes in (-6, 6):
        with pytest.raises(ApiError, match="expired"):
            verify(headers, now=now + dt.timedelta(minutes=minutes))


def test_a_signature_without_the_host_is_refused() -> None:
    headers = signed()
    headers["authorization"] = headers["authorization"].replace("host;", "")
    with pytest.raises(ApiError, match="'Host'"):
        verify(headers)


# The chain of events


def envelopes(payloads: list[bytes], seed: str) -> list[EventMessage]:
    """Return some events and the end of the stream, as the official signer signs them."""
    signer = AsyncEventSigner(initial_signature=seed.encode(), event_encoder_cls=EventHeaderEncoder)
    identity = AWSCredentialsIdentity(access_key_id=KEY_ID, secret_access_key=SECRET)
    properties = SigV4SigningProperties(region="us-east-1", service="sagemaker")

    async def sign() -> list[bytes]:
        wrapped = [
            await signer.sign(
                event=EventMessage(headers={":event-type": "PayloadPart"}, payload=payload),
                identity=identity,
                properties=properties,
            )
            for payload in payloads
        ]
        end = await signer.sign_empty(
            event=EventMessage(), identity=identity, properties=properties
        )
        return [message.encode() for message in (*wrapped, end)]

    return EventDecoder().feed(b"".join(asyncio.run(sign())))


def test_the_sdks_chain_is_opened_to_its_end() -> None:
    chain = verify(signed())
    sent = envelopes([b"one", b"", b"three"], chain.prior_signature)
    opened = [chain.open(event) for event in sent]
    inner = [
        EventMessage(headers={":event-type": "PayloadPart"}, payload=payload).encode()
        for payload in (b"one", b"", b"three")
    ]
    assert opened == [*inner, b""]


@pytest.mark.parametrize("attack", ["alter", "drop", "repeat", "swap", "unsigned", "other seed"])
def test_a_chain_that_was_tampered_with_is_refused(attack: str) -> None:
    """If each event were verified on its own, events could be dropped or replayed."""
    chain = verify(signed())
    first, second, end = envelopes([b"one", b"two"], chain.prior_signature)
    if attack == "other seed":
        chain.prior_signature = "0" * 64
    altered = first.payload.replace(b"one", b"two")
    unsigned = EventMessage(headers={":event-type": "PayloadPart"}, payload=b"one")
    sequence = {
        "alter": [EventMessage(headers=first.headers, payload=altered)],
        "drop": [second],
        "repeat": [first, first],
        "swap": [second, first],
        "unsigned": [unsigned],
        "other seed": [first, second, end],
    }[attack]
    with pytest.raises(ApiError) as refusal:
        for event in sequence:
            chain.open(event)
    assert refusal.value.code == "InvalidSignatureException"
