"""The shared parts of the servers that get their replies from a real model."""

import functools
import ipaddress
import ssl

import httpx

CONNECT_TIMEOUT_S = 5.0


class UpstreamError(Exception):
    """No real model can answer. The message is one line that says what to do."""


@functools.cache
def tls_context(ca_file: str | None = None) -> ssl.SSLContext:
    """Return the TLS settings, which take tens of milliseconds to load.

    Args:
        ca_file: PEM file of the certificate authorities to trust; None trusts httpx's own.
    """
    if ca_file is None:
        return httpx.create_ssl_context()
    return ssl.create_default_context(cafile=ca_file)


def http_client(
    url: str, read_timeout_s: float | None, ca_file: str | None = None
) -> httpx.AsyncClient:
    """Return an HTTP client for `url`.

    The client uses the proxies of the environment, but none to a loopback address.

    Args:
        url: The address that the client will send requests to.
        read_timeout_s: Seconds of silence from the server that are an error; None waits forever.
        ca_file: PEM file of the certificate authorities to trust; None trusts httpx's own.
    """
    return httpx.AsyncClient(
        verify=tls_context(ca_file),
        trust_env=not is_loopback(url),
        timeout=httpx.Timeout(read_timeout_s, connect=CONNECT_TIMEOUT_S),
    )


def is_loopback(url: str) -> bool:
    """Return whether `url` is on this machine."""
    host = httpx.URL(url).host
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def reason(error: BaseException) -> str:
    """Return the text of an error, or its name. Time-outs of httpx have no text."""
    return str(error) or type(error).__name__
