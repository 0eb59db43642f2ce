"""A stand-in for the SageMaker runtime: batch requests and bidirectional streams."""
