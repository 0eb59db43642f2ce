"""Measurements: ratios side by side in one run, with the command that made them."""
