"""Splits streamed text into sentences, and removes the markup that a voice does not speak."""
