"""The voice agent; nothing is imported here, so that `voice_agent.speech` stands on its own."""
