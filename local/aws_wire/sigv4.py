"""Verification of AWS Signature Version 4, without I/O.

Requests: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html.
Event streams: each event is wrapped in an envelope whose signature covers the one before it,
beginning with the request's; read from `AsyncEventSigner` in `aws-sdk-signers` 0.4.0.
"""

import datetime as dt
import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote

from local.aws_wire.errors import ApiError
from local.aws_wire.event_stream import Event, encode_headers

STREAMING_PAYLOAD = "STREAMING-AWS4-HMAC-SHA256-EVENTS"
"""Stands for the payload's hash in the signature of an event stream's request."""

MAX_CLOCK_SKEW = dt.timedelta(minutes=5)
"""How far the request's time may be from ours, as AWS has it."""

_TIME_FORMAT = "%Y%m%dT%H%M%SZ"
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<access_key_id>[^/,]+)/(?P<date>\d{8})/(?P<region>[^/,]+)"
    r"/(?P<service>[^/,]+)/aws4_request, ?SignedHeaders=(?P<signed_headers>[^,]+), ?"
    r"Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True)
class Verifier:
    """The one caller a stand-in knows, and the service and Region it plays."""

    access_key_id: str
    secret_access_key: str
    region: str
    service: str

    def verify(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        payload_hash: str,
        now: dt.datetime,
    ) -> "VerifiedSignature":
        """Check a request's `Authorization`.

        Args:
            method: `POST` and the like.
            target: Path and query exactly as they were on the wire.
            headers: By lower-case name; `host` must be among them.
            payload_hash: The body's SHA-256 in hex, or `STREAMING_PAYLOAD`.
            now: The time, with its zone.

        Returns:
            The key and the signature that an event stream's chain begins with.

        Raises:
            ApiError: 403, with the reason.
        """
        match = self._parse_authorization(headers.get("authorization", ""))
        signed_at = _request_time(headers, match["date"])
        if abs(now - signed_at) > MAX_CLOCK_SKEW:
            raise _denied(
                f"Signature expired: {signed_at:{_TIME_FORMAT}} is more than "
                f"{MAX_CLOCK_SKEW} from {now:{_TIME_FORMAT}}."
            )
        signed_names = match["signed_headers"].split(";")
        if "host" not in signed_names:
            raise _denied("'Host' must be a signed header.")

        scope = f"{match['date']}/{self.region}/{self.service}/aws4_request"
        canonical_request = _canonical_request(method, target, headers, signed_names, payload_hash)
        digest = hashlib.sha256(canonical_request.encode()).hexdigest()
        time = f"{signed_at:{_TIME_FORMAT}}"
        key = _signing_key(self.secret_access_key, scope)
        expected = _hmac(key, "\n".join(("AWS4-HMAC-SHA256", time, scope, digest))).hex()
        if not hmac.compare_digest(expected, match["signature"]):
            raise _denied(
                "The request signature we calculated does not match the signature you provided."
            )
        return VerifiedSignature(key, scope, match["signature"])

    def _parse_authorization(self, authorization: str) -> re.Match[str]:
        """Return the fields of an `Authorization` header that is this caller's and service's."""
        if not authorization:
            raise _denied("Missing Authentication Token", "MissingAuthenticationTokenException")
        match = _AUTHORIZATION.fullmatch(authorization)
        if not match:
            message = "The Authorization header is not a Signature Version 4 one."
            raise _denied(message, "IncompleteSignatureException")
        if match["access_key_id"] != self.access_key_id:
            message = "The security token included in the request is invalid."
            raise _denied(message, "UnrecognizedClientException")
        if (match["region"], match["service"]) != (self.region, self.service):
            raise _denied(
                f"Credential should be scoped to {self.region}/{self.service}, "
                f"not {match['region']}/{match['service']}."
            )
        return match


@dataclass(frozen=True)
class VerifiedSignature:
    """What a request's signature leaves for the events that follow it."""

    key: bytes
    scope: str
    signature: str


class EventSignatureChain:
    """Opens signed envelopes in the order in which they were sent."""

    def __init__(self, seed: VerifiedSignature) -> None:
        self._key = seed.key
        self._scope = seed.scope
        self._prior_signature = seed.signature

    def open(self, envelope: Event) -> bytes:
        """Return the encoded event inside, or `b""` for the envelope that ends the stream.

        Raises:
            ApiError: 403: the envelope is unsigned, altered, missing a predecessor or repeated.
        """
        date = envelope.headers.get(":date")
        signature = envelope.headers.get(":chunk-signature")
        if not isinstance(date, dt.datetime) or not isinstance(signature, bytes):
            raise _denied("An event is not signed.")
        string_to_sign = "\n".join(
            (
                "AWS4-HMAC-SHA256-PAYLOAD",
                f"{date:{_TIME_FORMAT}}",
                self._scope,
                self._prior_signature,
                hashlib.sha256(encode_headers({":date": date})).hexdigest(),
                hashlib.sha256(envelope.payload).hexdigest(),
            )
        )
        if not hmac.compare_digest(_hmac(self._key, string_to_sign), signature):
            raise _denied("An event's signature does not match.")
        self._prior_signature = signature.hex()
        return envelope.payload


def _denied(message: str, code: str = "InvalidSignatureException") -> ApiError:
    return ApiError(code, HTTPStatus.FORBIDDEN, message)


def _request_time(headers: Mapping[str, str], scope_date: str) -> dt.datetime:
    text = headers.get("x-amz-date", "")
    try:
        signed_at = dt.datetime.strptime(text, _TIME_FORMAT).replace(tzinfo=dt.UTC)
    except ValueError:
        message = f"X-Amz-Date is {text!r}, not like 20260131T235959Z."
        raise _denied(message, "IncompleteSignatureException") from None
    if not text.startswith(scope_date):
        raise _denied(f"The credential's date {scope_date} is not that of X-Amz-Date, {text}.")
    return signed_at


def _canonical_request(
    method: str, target: str, headers: Mapping[str, str], signed_names: list[str], payload_hash: str
) -> str:
    path, _, query = target.partition("?")
    header_lines = "".join(
        f"{name}:{' '.join(headers.get(name, '').split())}\n" for name in signed_names
    )
    return "\n".join(
        (
            method,
            # All services but S3 encode the path a second time.
            quote(path, safe="/~"),
            "&".join(sorted(query.split("&"))),
            header_lines,
            ";".join(signed_names),
            payload_hash,
        )
    )


def _signing_key(secret_access_key: str, scope: str) -> bytes:
    key = f"AWS4{secret_access_key}".encode()
    for step in scope.split("/"):
        key = _hmac(key, step)
    return key


def _hmac(key: bytes, message: str) -> bytes:
    return hmac.digest(key, message.encode(), "sha256")
