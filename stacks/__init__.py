"""The stacks of the CDK app, one module for each; `constructs/` holds what they consist of."""
