"""The agent image as AgentCore meets it: who it runs as, what is in it, and that it starts."""

import json

import httpx
import pytest

from tests.images.daemonless import Buildah

# Building takes minutes on a cold machine, and counts as part of the first test.
pytestmark = [pytest.mark.images, pytest.mark.timeout(900)]

ENVIRONMENT = {"AWS_REGION": "us-east-1", "VOICE_AGENT_ENDPOINT_NAME": "kokoro"}


def test_it_runs_as_a_user_who_can_change_nothing(buildah: Buildah, agent_image: str) -> None:
    """A root process, or code the process can rewrite, turns one bug into a foothold."""
    script = (
        "import json, os, pathlib\n"
        "from importlib.metadata import distributions\n"
        "print(json.dumps({\n"
        "    'uid': os.getuid(),\n"
        "    'writable': [p for p in ('/opt/app', '/opt/venv', '/etc') if os.access(p, os.W_OK)],\n"
        "    'packages': sorted(d.name.lower() for d in distributions()),\n"
        "    'app': sorted(os.listdir('/opt/app')),\n"
        "}))\n"
    )
    with buildah.container(agent_image) as container:
        found = json.loads(buildah.run(container, "python", "-B", "-c", script))
    assert found["uid"] not in (0, None)
    assert found["writable"] == []
    unwanted = ("torch", "nvidia", "onnx", "spacy", "pip", "setuptools", "pytest")
    assert [name for name in found["packages"] if name.startswith(unwanted)] == []
    assert found["app"] == ["sentences", "speech_client", "voice_agent"]


def test_it_starts_and_answers_ping(buildah: Buildah, agent_image: str) -> None:
    """A package missing from the lock shows only when the process starts; so does a root habit."""
    config = buildah.config(agent_image)
    assert config["Entrypoint"] == ["python", "-m", "voice_agent"]
    assert "8080/tcp" in config["ExposedPorts"]
    command = [*config["Entrypoint"], "--host", "127.0.0.1", "--port", "0"]
    with (
        buildah.container(agent_image) as container,
        buildah.serving(container, command, ENVIRONMENT) as server,
    ):
        response = httpx.get(f"{server.address}/ping", timeout=30)
        assert response.status_code == 200, response.text
        assert response.json()["status"] == "Healthy"
        assert server.terminate() == 0
