"""Sentences of streamed text, and what of them is to be spoken."""

from voice_agent.sentences.chunker import IncrementalSentenceChunker
from voice_agent.sentences.speakable import speakable

__all__ = ["IncrementalSentenceChunker", "speakable"]
