"""Kokoro-82M as a library: text in, samples out. It knows neither a wire protocol nor asyncio."""

import os

# ONNX Runtime's Linux wheels report to Microsoft from the moment they are imported (its
# Privacy.md): what a server speaks is nobody else's business.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
