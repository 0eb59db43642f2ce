"""The CDK app's stacks: one file a stack, `constructs/` for what they share."""
