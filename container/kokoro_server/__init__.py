"""The Kokoro speech server: text in, speech out, over WebSocket and HTTP."""

import os

# ONNX Runtime's Linux wheels report to Microsoft from the moment they are imported (its
# Privacy.md): what a server speaks is nobody else's business.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
