"""A certificate authority and a server certificate for loopback, good for a few days."""

import datetime as dt
import ipaddress
import os
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = dt.timedelta(days=3)
_CLOCK_SKEW = dt.timedelta(hours=1)


def make_tls(directory: Path) -> tuple[ssl.SSLContext, Path]:
    """Make, or find in `directory`, a CA and a certificate for `localhost` and `127.0.0.1`.

    `ca.pem`, `cert.pem` and `key.pem` (mode 0600) are in `directory`, which is created if need be.
    The CA's key is never stored. A server that is started again finds the certificate of before,
    so that clients which have read the CA file go on trusting it.

    Returns:
        The server's context, offering `h2` and `http/1.1`, and the CA file that clients trust.
    """
    directory.mkdir(parents=True, exist_ok=True)
    ca_file = directory / "ca.pem"
    certificate_file = directory / "cert.pem"
    key_file = directory / "key.pem"
    if not (ca_file.exists() and key_file.exists() and _is_fresh(certificate_file)):
        _make_files(ca_file, certificate_file, key_file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate_file, key_file)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context, ca_file


def _is_fresh(certificate_file: Path) -> bool:
    """Whether there is a certificate that will do for another day."""
    if not certificate_file.exists():
        return False
    certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
    return certificate.not_valid_after_utc > dt.datetime.now(dt.UTC) + dt.timedelta(days=1)


def _make_files(ca_file: Path, certificate_file: Path, key_file: Path) -> None:
    # Python 3.13 verifies strictly: RFC 5280's key usage and key identifiers have to be there.
    ca_key = ec.generate_private_key(ec.SECP256R1())
    key = ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Local stand-in CA")])
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    hosts = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    ca = _builder(ca_name, ca_name, ca_key, is_ca=True).sign(ca_key, hashes.SHA256())
    certificate = (
        _builder(name, ca_name, key, is_ca=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .add_extension(issuer_key, critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    ca_file.write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    pkcs8, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    _write_private(key_file, key.private_bytes(serialization.Encoding.PEM, pkcs8, plain))
    # Last, since it is this one whose presence and date say that all three are there.
    certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, *, is_ca: bool
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    public_key = key.public_key()
    unused = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    usage = x509.KeyUsage(
        digital_signature=not is_ca,
        key_cert_sign=is_ca,
        crl_sign=is_ca,
        encipher_only=False,
        decipher_only=False,
        **dict.fromkeys(unused, False),
    )
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + _LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
        .add_extension(
            x509.BasicConstraints(ca=is_ca, path_length=0 if is_ca else None), critical=True
        )
        .add_extension(usage, critical=True)
    )


def _write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, at no moment readable by others."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
