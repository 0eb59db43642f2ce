"""Kokoro-82M as a library: text in, samples out. It depends on no wire protocol and no asyncio."""

import os

# ONNX Runtime's Linux wheels send telemetry to Microsoft as soon as they are imported (see its
# Privacy.md). Nothing about the text that a server speaks may leave the machine.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
