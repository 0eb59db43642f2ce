"""The Kokoro speech server: text in, speech out, over WebSocket and HTTP."""
