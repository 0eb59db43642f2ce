"""The voice agent: a prompt in, the reply as text and speech out."""
