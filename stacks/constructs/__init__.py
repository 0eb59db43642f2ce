"""The constructs that the stacks consist of."""
