"""A certificate authority and a server certificate for loopback."""

import datetime as dt
import os
import ssl
from pathlib import Path

import trustme
from cryptography import x509

RENEWAL = dt.timedelta(days=7)
"""A stored certificate that expires sooner than this is replaced, with its CA."""


def make_tls(directory: Path) -> tuple[ssl.SSLContext, Path]:
    """Make a CA and a certificate for `localhost` and `127.0.0.1`, unless they are in `directory`.

    Stored certificates that have expired, or expire within `RENEWAL`, are replaced.

    The files are `ca.pem`, `cert.pem` and `key.pem` (mode 0600). The directory is created if
    needed. The CA's key is never stored. A server that is started again uses the same certificate,
    so that clients which have read the CA file still trust it.

    Returns:
        The server's context, which offers `h2` and `http/1.1`, and the CA file for clients.
    """
    directory.mkdir(parents=True, exist_ok=True)
    ca_file = directory / "ca.pem"
    certificate_file = directory / "cert.pem"
    key_file = directory / "key.pem"
    complete = ca_file.exists() and key_file.exists() and certificate_file.exists()
    if not complete or _expires_soon(ca_file) or _expires_soon(certificate_file):
        certificate_file.unlink(missing_ok=True)
        ca = trustme.CA(organization_name="Local stand-in")
        certificate = ca.issue_cert("localhost", "127.0.0.1")
        ca.cert_pem.write_to_path(ca_file)
        _write_private(key_file, certificate.private_key_pem.bytes())
        # Written last, so that its presence shows that all three files are complete.
        certificate.cert_chain_pems[0].write_to_path(certificate_file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate_file, key_file)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context, ca_file


def _expires_soon(certificate_file: Path) -> bool:
    certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
    return certificate.not_valid_after_utc < dt.datetime.now(dt.UTC) + RENEWAL


def _write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, even while it is being written."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
