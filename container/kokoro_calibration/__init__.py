"""Calibration: makes the table that `kokoro_voice.norm_statistics` predicts with.

`make calibrate`, or `python -m kokoro_calibration` run in ``container/``, decodes sentences in all
voices and fits the table to their statistics. The image does not contain this package.
"""

import os

# It uses ONNX Runtime, whose Linux wheels send telemetry to Microsoft once imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
