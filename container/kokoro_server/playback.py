"""The server's estimate of one client's playback."""

import math


class Listener:
    """Tracks how much audio a client has left to play, and since when it has been waiting.

    Clients are assumed to start playing at the first audio, and after an underrun at the next.
    """

    def __init__(self) -> None:
        self.plays_until_s = -math.inf
        """The time at which all audio handed out so far will have been played."""
        self.waiting_since_s: float | None = -math.inf
        """When it began to wait with nothing to play; None once audio has been handed out."""
        self.turn_audio_s = 0.0
        """Seconds of audio handed out in this turn. `Admission` decides when a turn begins."""

    @property
    def plays(self) -> bool:
        """Whether audio has been handed out since it began to wait."""
        return self.waiting_since_s is None

    @property
    def deadline_s(self) -> float:
        """When its next audio is due: when its buffer ends, or since it began to wait."""
        return self.plays_until_s if self.waiting_since_s is None else self.waiting_since_s

    def buffered_s(self, now_s: float) -> float:
        """Return how many seconds of audio the client has left to play."""
        return max(0.0, self.plays_until_s - now_s)

    def await_audio(self, since_s: float) -> None:
        """Start waiting for an utterance that arrived at `since_s`, unless it still plays then."""
        if self.deadline_s <= since_s:
            self.waiting_since_s = since_s

    def add_audio(self, audio_s: float, now_s: float) -> None:
        """Record that `audio_s` seconds of audio were handed out."""
        self.plays_until_s = max(self.plays_until_s, now_s) + audio_s
        self.waiting_since_s = None
        self.turn_audio_s += audio_s

    def interrupt(self, now_s: float) -> None:
        """Record that the client has stopped playing what was handed out."""
        self.waiting_since_s = min(self.deadline_s, now_s)
        self.plays_until_s = min(self.plays_until_s, now_s)
