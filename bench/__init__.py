"""Benchmarks. Each one measures its candidates in the same run and reports how to repeat it."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
"""The root folder of the checkout."""
