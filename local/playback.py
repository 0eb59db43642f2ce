"""The playback of a listener who plays audio as it arrives."""


class Playback:
    """Calculates when audio is played, and for how long playback stops in buffer underruns.

    Playback begins at the first audio. Times may count from any moment.

    Attributes:
        until_s: The time at which all audio so far has been played.
        underrun_s: For how many seconds playback has stopped in all.
    """

    def __init__(self) -> None:
        self.until_s: float | None = None
        self.underrun_s = 0.0

    def add(self, at_s: float, duration_s: float) -> float:
        """Add audio that arrived at `at_s`, and return the time at which it begins to play."""
        previous_s = at_s if self.until_s is None else self.until_s
        play_s = max(at_s, previous_s)
        self.underrun_s += play_s - previous_s
        self.until_s = play_s + duration_s
        return play_s
