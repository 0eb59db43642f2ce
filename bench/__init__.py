"""Measurements: ratios side by side in one run, with the command that made them."""

import sys
from pathlib import Path

# The images' packages are not installed: each image has them in its own folder.
sys.path += [str(Path(__file__).resolve().parent.parent / name) for name in ("container", "agent")]
