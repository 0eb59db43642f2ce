"""Sentences of streamed text, and the words of them that a voice speaks."""
