"""The Kokoro-82M weights: fetched, verified, converted and self-tested by one command.

``python -m kokoro_model --out DIR`` (run in ``container/``) is the only door; `manifest.toml` says
where every byte comes from. Nothing here is needed, or installed, when the server runs.
"""

import os

from kokoro_model.manifest import default_model_dir

# The self-test runs ONNX Runtime, whose Linux wheels report to Microsoft from their import on.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__all__ = ["default_model_dir"]
