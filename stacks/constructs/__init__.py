"""Constructs that the stacks are made of."""
