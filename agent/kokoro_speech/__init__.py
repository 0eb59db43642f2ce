"""Speaking through a SageMaker endpoint, sentence by sentence; needs nothing of the agent."""
