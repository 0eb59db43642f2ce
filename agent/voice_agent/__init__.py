"""The voice agent, which answers a prompt with text and speech."""
