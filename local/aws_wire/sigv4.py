"""Verification of AWS Signature Version 4, without I/O. botocore computes the expected signatures.

The signing of requests is described at
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html.
In an event stream, each event is wrapped in an envelope. Its signature covers the signature before
it; the first one covers the request's. The source is `AsyncEventSigner` in `aws-sdk-signers` 0.4.0.
"""

import datetime as dt
import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from smithy_aws_event_stream.events import EventMessage

from local.aws_wire.errors import ApiError
from local.aws_wire.event_stream import encode_headers

STREAMING_PAYLOAD = "STREAMING-AWS4-HMAC-SHA256-EVENTS"
"""Replaces the payload's hash in the signature of an event stream's request."""

MAX_CLOCK_SKEW = dt.timedelta(minutes=5)
"""How far the request's time may differ from the clock, as in AWS."""

_INVALID_TOKEN = "The security token included in the request is invalid."
_TIME_FORMAT = "%Y%m%dT%H%M%SZ"
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<access_key_id>[^/,]+)/(?P<date>\d{8})/(?P<region>[^/,]+)"
    r"/(?P<service>[^/,]+)/aws4_request, ?SignedHeaders=(?P<signed_headers>[^,]+), ?"
    r"Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True)
class Verifier:
    """Verify requests of the only caller that a stand-in knows, for one service and Region.

    Attributes:
        access_key_id: The caller's access key.
        secret_access_key: The secret of that key.
        region: The AWS Region.
        service: The service's name in signatures, such as `bedrock`.
        session_token: The session token that belongs to temporary keys; None for other keys.
    """

    access_key_id: str
    secret_access_key: str
    region: str
    service: str
    session_token: str | None = None

    def verify(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes | None,
        now: dt.datetime | None = None,
    ) -> "EventSignatureChain":
        """Check a request's `Authorization`.

        Args:
            method: The HTTP method, such as `POST`.
            target: Path and query exactly as on the wire.
            headers: The headers by lower-case name, including `host`.
            body: The complete body, or None for an event stream, whose events are signed one by
                one.
            now: The time with its zone, or None for the current time.

        Returns:
            The chain that opens the events of an event stream.

        Raises:
            ApiError: The request is refused with 403 and the reason.
        """
        now = now or dt.datetime.now(dt.UTC)
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
        if headers.get("x-amz-security-token") != self.session_token:
            raise _denied(_INVALID_TOKEN, "UnrecognizedClientException")

        request = AWSRequest(
            method,
            f"https://localhost{target}",
            headers={name: headers.get(name, "") for name in signed_names},
        )
        request.context["timestamp"] = f"{signed_at:{_TIME_FORMAT}}"
        credentials = Credentials(self.access_key_id, self.secret_access_key)
        auth = SigV4Auth(credentials, self.service, self.region)
        payload_hash = STREAMING_PAYLOAD if body is None else hashlib.sha256(body).hexdigest()
        # The last line is the payload's hash. It is replaced because botocore trusts the header's.
        head, _, _ = auth.canonical_request(request).rpartition("\n")
        string_to_sign = auth.string_to_sign(request, f"{head}\n{payload_hash}")
        if not hmac.compare_digest(auth.signature(string_to_sign, request), match["signature"]):
            raise _denied(
                "The request signature we calculated does not match the signature you provided."
            )
        return EventSignatureChain(auth, request, match["signature"])

    def _parse_authorization(self, authorization: str) -> re.Match[str]:
        """Return the fields of an `Authorization` header for this caller and service.

        Raises:
            ApiError: The header is missing or malformed, or names another caller or scope.
        """
        if not authorization:
            raise _denied("Missing Authentication Token", "MissingAuthenticationTokenException")
        match = _AUTHORIZATION.fullmatch(authorization)
        if not match:
            message = "The Authorization header is not in the format of Signature Version 4."
            raise _denied(message, "IncompleteSignatureException")
        if match["access_key_id"] != self.access_key_id:
            raise _denied(_INVALID_TOKEN, "UnrecognizedClientException")
        if (match["region"], match["service"]) != (self.region, self.service):
            raise _denied(
                f"Credential should be scoped to {self.region}/{self.service}, "
                f"not {match['region']}/{match['service']}."
            )
        return match


@dataclass
class EventSignatureChain:
    """Opens signed envelopes in the order in which they were sent.

    Attributes:
        auth: Signs with the caller's key.
        request: The stream's request, whose date and scope also apply to its events.
        prior_signature: The signature of the request or of the last event, in hex.
    """

    auth: SigV4Auth
    request: AWSRequest
    prior_signature: str

    def open(self, envelope: EventMessage) -> bytes:
        """Return the encoded event inside, or `b""` for the envelope that ends the stream.

        Raises:
            ApiError: With 403: the envelope is unsigned, altered or repeated, or the one before it
                is missing.
        """
        date = envelope.headers.get(":date")
        signature = envelope.headers.get(":chunk-signature")
        if not isinstance(date, dt.datetime) or not isinstance(signature, bytes):
            raise _denied("An event is not signed.")
        string_to_sign = "\n".join(
            (
                "AWS4-HMAC-SHA256-PAYLOAD",
                f"{date:{_TIME_FORMAT}}",
                self.auth.credential_scope(self.request),
                self.prior_signature,
                hashlib.sha256(encode_headers({":date": date})).hexdigest(),
                hashlib.sha256(envelope.payload).hexdigest(),
            )
        )
        expected = self.auth.signature(string_to_sign, self.request)
        if not hmac.compare_digest(expected, signature.hex()):
            raise _denied("An event's signature does not match.")
        self.prior_signature = expected
        return envelope.payload


def _denied(message: str, code: str = "InvalidSignatureException") -> ApiError:
    return ApiError(code, message, HTTPStatus.FORBIDDEN)


def _request_time(headers: Mapping[str, str], scope_date: str) -> dt.datetime:
    text = headers.get("x-amz-date", "")
    try:
        signed_at = dt.datetime.strptime(text, _TIME_FORMAT).replace(tzinfo=dt.UTC)
    except ValueError:
        message = f"X-Amz-Date is {text!r}; it must look like 20260131T235959Z."
        raise _denied(message, "IncompleteSignatureException") from None
    if not text.startswith(scope_date):
        raise _denied(f"The credential's date {scope_date} is not that of X-Amz-Date, {text}.")
    return signed_at
