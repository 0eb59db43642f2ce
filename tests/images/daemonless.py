"""Build and run images with buildah, without a Docker daemon, on a Debian base from debootstrap."""

import json
import os
import signal
import ssl
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGES = ("buildah", "debootstrap", "crun")
"""Debian packages these tests need."""

BASE_SUITE = "trixie"  # Debian 13: Python 3.13
BASE_IMAGE = "localhost/base"
_BASE_PACKAGES = "ca-certificates,python3,python3-venv,python3-pip"
_BASE_DOCKERFILE = """\
FROM scratch
ADD base.tar /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
"""
_BUILD_TIMEOUT_S = 900.0


class ImageError(AssertionError):
    """A command failed; the message ends with the end of its output."""


@dataclass(frozen=True)
class Server:
    """A server that runs in a container.

    Args:
        address: ``http://host:port``.
        process: of ``buildah run``, whose last descendant is the server.
    """

    address: str
    process: subprocess.Popen[str]

    def terminate(self) -> int:
        """Send the server SIGTERM, as SageMaker does, and wait; returns its exit status."""
        os.kill(_last_descendant(self.process.pid), signal.SIGTERM)
        return self.process.wait(timeout=40)


class Buildah:
    """buildah with its storage below `work`, so that the host's own images stay untouched."""

    def __init__(self, work: Path) -> None:
        self._work = work
        storage = work / "storage.conf"
        # vfs copies whole layers, and works on every file system and as every kind of root.
        storage.write_text(
            f'[storage]\ndriver = "vfs"\ngraphroot = "{work}/graph"\nrunroot = "{work}/run"\n'
        )
        self._environment = os.environ | {
            "CONTAINERS_STORAGE_CONF": str(storage),
            # A chroot: needs neither namespaces nor a network set-up of its own.
            "BUILDAH_ISOLATION": "chroot",
        }

    def build_base(self, base_tar: Path) -> None:
        """Make `BASE_IMAGE` from the root file system in `base_tar`."""
        context = self._work / "base"
        context.mkdir()
        (context / "Dockerfile").write_text(_BASE_DOCKERFILE)
        # A hard link: symbolic ones are not followed out of the context.
        os.link(base_tar, context / "base.tar")
        self._call("bud", "--tag", BASE_IMAGE, str(context))

    def build(self, image: str, root: Path, dockerfile: str, **build_args: str) -> None:
        """Build `dockerfile` in the context `root` as a user does, on `BASE_IMAGE`.

        The host's trusted certificates are mounted for the build, where Python looks for a file
        and where Debian keeps it; the machine may be behind a proxy with its own.
        """
        bundle = ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt"
        self._call(
            "bud",
            *("--volume", f"{bundle}:/etc/ssl/certs/ca-certificates.crt:ro"),
            *("--volume", f"{bundle}:/usr/lib/ssl/cert.pem:ro"),
            *("--build-arg", f"BASE_IMAGE={BASE_IMAGE}"),
            *(f"--build-arg={name}={value}" for name, value in build_args.items()),
            *("--file", str(root / dockerfile)),
            # Docker finds this file by its name. Debian 12's buildah does not.
            *("--ignorefile", str(root / f"{dockerfile}.dockerignore")),
            *("--tag", image, str(root)),
        )

    def config(self, image: str) -> dict[str, Any]:
        """The image's OCI configuration: Entrypoint, Cmd, Env, Labels, User, …"""
        inspected = json.loads(self._call("inspect", "--type", "image", image))
        config: dict[str, Any] = inspected["OCIv1"]["config"]
        return config

    @contextmanager
    def container(self, image: str) -> Iterator[str]:
        """A container of `image`, by name."""
        name = self._call("from", image).strip()
        try:
            yield name
        finally:
            self._call("rm", name)

    def run(self, container: str, *command: str) -> str:
        """The output of `command` in `container`, as the image's user."""
        return self._call("run", container, "--", *command)

    @contextmanager
    def serving(
        self, container: str, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> Iterator[Server]:
        """Run a server that says where it listens in its first line; killed at the end."""
        variables = [f"--env={name}={value}" for name, value in (environment or {}).items()]
        log_path = self._work / f"{container}.log"
        with log_path.open("w") as log:
            process = subprocess.Popen(
                ["buildah", "run", *variables, container, "--", *command],
                env=self._environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise ImageError(f"{' '.join(command)} ended:\n{log_path.read_text()[-2000:]}")
            listening = json.loads(line)
            yield Server(f"http://{listening['host']}:{listening['port']}", process)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def _call(self, *arguments: str) -> str:
        return _output(["buildah", *arguments], self._environment)


def debian_base(cache: Path) -> Path:
    """A tar of Debian with Python, made once in `cache`; remove it for a newer one."""
    base_tar = cache / f"base-{BASE_SUITE}.tar"
    if base_tar.exists():
        return base_tar
    with tempfile.TemporaryDirectory(dir=cache, prefix="base-") as work:
        root, unfinished = Path(work, "root"), Path(work, base_tar.name)
        include = f"--include={_BASE_PACKAGES}"
        _output(
            ["debootstrap", "--variant=minbase", include, BASE_SUITE, str(root), _debian_mirror()]
        )
        exclude = "--exclude=./var/cache/apt/archives"
        _output(["tar", "-C", str(root), exclude, "-cf", str(unfinished), "."])
        unfinished.rename(base_tar)
    return base_tar


def _debian_mirror() -> str:
    """The mirror that this machine's own apt sources name."""
    filters = ("Created-By: Packages", "Component: main", "Origin: Debian", "Label: Debian")
    mirrors = _output(["apt-get", "indextargets", "--format", "$(REPO_URI)", *filters]).split()
    if not mirrors:
        raise ImageError("apt knows no Debian mirror: run `apt-get update`")
    return mirrors[0]


def _output(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    result = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_BUILD_TIMEOUT_S,
        check=False,
    )
    if result.returncode != 0:
        output = (result.stdout + result.stderr)[-4000:]
        raise ImageError(f"{' '.join(command)}: status {result.returncode}:\n{output}")
    return result.stdout


def _last_descendant(pid: int) -> int:
    """buildah starts helpers that start the command; each has one child."""
    tasks = Path("/proc", str(pid), "task")
    children = [
        int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()
    ]
    return _last_descendant(children[0]) if children else pid
