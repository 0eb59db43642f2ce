"""Constructs that the stacks consist of."""
