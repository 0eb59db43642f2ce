"""A stand-in for Amazon Bedrock: ConverseStream with scripted replies."""
