"""The container image as SageMaker meets it: its contract, what is in it, and that it speaks."""

import json
import time
from pathlib import Path

import httpx
import pytest

from bench.hearing import peak, read_wav, transcribe, word_error_rate
from tests.images.daemonless import Buildah

# Building takes minutes on a cold machine, and counts as part of the first test.
pytestmark = [pytest.mark.images, pytest.mark.timeout(1500)]

TEXT = "The harbor is quiet in the morning, and the first boats come home before noon."
WARM_TIMEOUT_S = 120.0


def test_contract_of_the_image(buildah: Buildah, container_image: str) -> None:
    """Without the label every stream is refused; with a shell form SIGTERM never arrives."""
    config = buildah.config(container_image)
    label = "com.amazonaws.sagemaker.capabilities.bidirectional-streaming"
    assert config["Labels"][label] == "true"
    # `docker run IMAGE serve` runs the entrypoint with `serve` for its command.
    assert config["Entrypoint"] == ["python", "-m", "kokoro_server"]
    assert config["Cmd"] == ["serve"]
    assert "8080/tcp" in config["ExposedPorts"]
    assert config.get("User", "") == ""


def test_what_is_in_the_image(buildah: Buildah, container_image: str, model_dir: Path) -> None:
    """No torch, no pip, no converter, no tests; and the very weights that were tested here."""
    script = (
        "import json, os, pathlib\n"
        "from importlib.metadata import distributions\n"
        "print(json.dumps({\n"
        "    'packages': sorted(d.name.lower() for d in distributions()),\n"
        "    'torch': [str(p) for p in pathlib.Path('/opt').rglob('torch')],\n"
        "    'app': sorted(os.listdir('/opt/app')),\n"
        "    'cached': [str(p) for p in pathlib.Path('/opt/app').rglob('__pycache__')],\n"
        "    'graphs': sorted(p.name for p in pathlib.Path('/opt/model').glob('*.onnx')),\n"
        "    'built': json.loads(pathlib.Path('/opt/model/manifest.json').read_text()),\n"
        "}))\n"
    )
    with buildah.container(container_image) as container:
        found = json.loads(buildah.run(container, "python", "-B", "-c", script))
    assert "onnxruntime" in found["packages"]
    # Setuptools is there because spaCy asks for it.
    unwanted = {"torch", "triton", "onnx", "pip", "pytest"}
    assert unwanted.intersection(found["packages"]) == set()
    assert [name for name in found["packages"] if name.startswith("nvidia")] == []
    assert found["torch"] == []
    packages = ["kokoro_server", "kokoro_text", "kokoro_voice", "lexicon.toml", "sentences"]
    assert found["app"] == [*packages, "voices"]
    assert found["cached"] == []
    # Those for CPUs: the graphs for other devices, and the one in one piece, are not used.
    for_cpus = ["generator-cpu.onnx", "generator-exact-cpu.onnx", "prosody-cpu.onnx"]
    assert found["graphs"] == for_cpus
    here = json.loads((model_dir / "manifest.json").read_text())
    assert found["built"]["files"] == here["files"]


def test_it_answers_ping_and_speaks(buildah: Buildah, container_image: str) -> None:
    """The whole chain in the image: locked packages, espeak, spaCy's model, weights, server."""
    config = buildah.config(container_image)
    command = [*config["Entrypoint"], "serve", "--host", "127.0.0.1", "--port", "0"]
    with (
        buildah.container(container_image) as container,
        buildah.serving(container, command) as server,
        httpx.Client(base_url=server.address, timeout=60) as client,
    ):
        deadline = time.monotonic() + WARM_TIMEOUT_S
        while (status := client.get("/ping").status_code) != 200:
            assert status == 503
            assert time.monotonic() < deadline, "/ping does not become 200"
            time.sleep(0.2)
        response = client.post("/invocations", json={"text": TEXT})
        assert response.status_code == 200, response.text
        assert response.headers["content-type"] == "audio/wav"
        assert server.terminate() == 0
    audio, sample_rate_hz = read_wav(response.content)
    assert 0.1 < peak(audio) <= 1.0
    assert word_error_rate(TEXT, transcribe(audio, sample_rate_hz)) <= 0.1
