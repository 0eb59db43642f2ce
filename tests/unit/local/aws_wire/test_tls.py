"""The certificates of the SageMaker stand-in."""

import datetime as dt
from pathlib import Path

import pytest
import trustme
from cryptography import x509

from local.aws_wire.tls import make_tls


def store(directory: Path, lifetime: dt.timedelta) -> bytes:
    """Store a CA, a certificate that expires after `lifetime`, and its key."""
    ca = trustme.CA()
    expiry = dt.datetime.now(dt.UTC) + lifetime
    certificate = ca.issue_cert(
        "localhost", not_before=expiry - dt.timedelta(days=365), not_after=expiry
    )
    ca.cert_pem.write_to_path(directory / "ca.pem")
    certificate.private_key_pem.write_to_path(directory / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(directory / "cert.pem")
    return (directory / "cert.pem").read_bytes()


@pytest.mark.parametrize("days", [-100, -1, 3])
def test_a_certificate_that_expires_is_replaced_with_its_ca(tmp_path: Path, days: int) -> None:
    """A folder from long ago made every client refuse the connection, until it was deleted."""
    store(tmp_path, dt.timedelta(days=days))
    old_ca = (tmp_path / "ca.pem").read_bytes()
    context, ca_file = make_tls(tmp_path)
    certificate = x509.load_pem_x509_certificate((tmp_path / "cert.pem").read_bytes())
    assert certificate.not_valid_after_utc > dt.datetime.now(dt.UTC) + dt.timedelta(days=30)
    assert ca_file.read_bytes() != old_ca
    ca = x509.load_pem_x509_certificate(ca_file.read_bytes())
    certificate.verify_directly_issued_by(ca)
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600
    assert context.cert_store_stats() is not None


def test_a_valid_certificate_is_kept(tmp_path: Path) -> None:
    """Clients that have read the CA file must still trust a server that is started again."""
    stored = store(tmp_path, dt.timedelta(days=60))
    make_tls(tmp_path)
    assert (tmp_path / "cert.pem").read_bytes() == stored
