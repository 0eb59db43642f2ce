"""Build of the Kokoro-82M model directory: fetch, verify, convert and self-test the weights.

The only entry point is ``python -m kokoro_model --out DIR``, run in ``container/``. `manifest.toml`
lists the source of every byte. The server does not need this package, and images do not contain it.
"""

import os

from kokoro_model.manifest import default_model_dir

# The self-test uses ONNX Runtime, whose Linux wheels send telemetry to Microsoft once imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__all__ = ["default_model_dir"]
