"""One session's playback, as far as the server can know it."""

import math


class Listener:
    """What a client has left to play, and since when it waits for more.

    Clients start to play at the first audio, and where they ran dry, again with the next.
    """

    def __init__(self) -> None:
        self.plays_until_s = -math.inf
        """When all audio that was handed out will have been played."""
        self.waiting_since_s: float | None = -math.inf
        """When it began to wait with nothing to play; None since audio was handed out."""
        self.turn_audio_s = 0.0
        """Seconds of audio handed out in this turn; `Admission` decides when one begins."""

    @property
    def plays(self) -> bool:
        """Whether audio was handed out since it began to wait."""
        return self.waiting_since_s is None

    @property
    def deadline_s(self) -> float:
        """When its next audio is due: at the end of its buffer, or when it began to wait."""
        return self.plays_until_s if self.waiting_since_s is None else self.waiting_since_s

    def buffered_s(self, now_s: float) -> float:
        """Return how many seconds of audio it has left to play."""
        return max(0.0, self.plays_until_s - now_s)

    def await_audio(self, since_s: float) -> None:
        """Begin to wait for an utterance that arrived at `since_s`, unless it still plays then."""
        if self.deadline_s <= since_s:
            self.waiting_since_s = since_s

    def add_audio(self, audio_s: float, now_s: float) -> None:
        """Take note that `audio_s` seconds of audio have been handed out."""
        self.plays_until_s = max(self.plays_until_s, now_s) + audio_s
        self.waiting_since_s = None
        self.turn_audio_s += audio_s

    def interrupt(self, now_s: float) -> None:
        """Take note that what was handed out is not played to its end."""
        self.waiting_since_s = min(self.deadline_s, now_s)
        self.plays_until_s = min(self.plays_until_s, now_s)
