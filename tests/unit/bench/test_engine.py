"""The comparison of the engines in words, which documents quote."""

from bench.engine import ONE, Take, summary


def takes(first_s: list[float], total_s: list[float]) -> list[Take]:
    pairs = zip(first_s, total_s, strict=True)
    return [Take(first, total, underrun_s=0.0, audio_s=4.5) for first, total in pairs]


def test_the_earliest_peer_speaks_whole_sentences_and_ratios_are_taken_within_a_round() -> None:
    """A peer that cuts sentences is no yardstick, and ratios of medians hide the drift."""
    text = summary(
        {
            ("window", ONE): takes([0.4, 0.5, 0.8], [1.1, 1.5, 2.4]),
            ("sentence", ONE): takes([1.0, 1.5, 2.0], [1.0, 1.5, 2.0]),
            ("kokoro-pi", ONE): takes([1.2, 1.0, 3.2], [1.2, 1.0, 3.2]),
            ("kokoro-onnx", ONE): takes([1.4, 1.5, 1.6], [1.4, 1.5, 1.6]),
            ("fastkokoro-adaptive", ONE): takes([0.5, 0.5, 0.5], [2.0, 2.0, 2.0]),
        },
        ["kokoro-pi", "kokoro-onnx", "fastkokoro-adaptive"],
        ONE,
    )
    assert "3.0 times sooner than from kokoro-pi, the earliest of the peers" in text
    assert "1.10 times that of whole sentences" in text
