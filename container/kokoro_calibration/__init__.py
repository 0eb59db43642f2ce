"""Calibration: what `kokoro_voice.norm_statistics` predicts with.

`make calibrate`, or `python -m kokoro_calibration` (run in ``container/``), decodes sentences in
all voices and fits the table to their statistics. Nothing here is in the image.
"""

import os

# It runs ONNX Runtime, whose Linux wheels report to Microsoft from their import on.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
