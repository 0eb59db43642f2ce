"""The images, built once for all the tests that need them."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from kokoro_model import default_model_dir
from tests.images.daemonless import PACKAGES, Buildah, debian_base

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def buildah() -> Iterator[Buildah]:
    """buildah with the Debian base; its storage lies by the model cache and goes at the end."""
    if missing := [package for package in PACKAGES if shutil.which(package) is None]:
        _cannot_run(f"apt-get install -y --no-install-recommends {' '.join(missing)}")
    if os.geteuid() != 0:
        _cannot_run("become root: debootstrap and chroot need it")
    cache = default_model_dir().parent / "images"
    cache.mkdir(parents=True, exist_ok=True)
    base_tar = debian_base(cache)
    with tempfile.TemporaryDirectory(dir=cache, prefix="storage-") as work:
        buildah = Buildah(Path(work))
        buildah.build_base(base_tar)
        yield buildah


@pytest.fixture(scope="session")
def container_image(buildah: Buildah) -> str:
    """The CPU image of `container/`, by name."""
    # The default, but Debian 12's buildah skips a stage that only a default makes the base of one.
    buildah.build("localhost/container", ROOT, "container/Dockerfile", VARIANT="cpu")
    return "localhost/container"


@pytest.fixture(scope="session")
def agent_image(buildah: Buildah) -> str:
    """The image of `agent/`, by name."""
    buildah.build("localhost/agent", ROOT, "agent/Dockerfile")
    return "localhost/agent"


def _cannot_run(what_to_do: str) -> NoReturn:
    """In CI an image test that does not run is a failure; elsewhere the summary names it."""
    message = f"IMAGES NOT TESTED. To test them: {what_to_do}"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)
