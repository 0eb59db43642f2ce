"""What the server and the weights' command run reports to nobody."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONTAINER = Path(__file__).parents[2] / "container"


@pytest.mark.parametrize("module", ["kokoro_voice.engine", "kokoro_model.self_test"])
def test_onnx_runtime_starts_no_telemetry(module: str, tmp_path: Path) -> None:
    """Its wheels upload events unless told not to before the import; the id they keep shows it."""
    environment = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    subprocess.run(
        [sys.executable, "-c", f"import {module}, onnxruntime; onnxruntime.get_device()"],
        cwd=CONTAINER,
        env=environment | {"TMPDIR": str(tmp_path), "HOME": str(tmp_path)},
        check=True,
        timeout=100,
    )
    assert list(tmp_path.iterdir()) == []
