"""What is known of a listener's playback."""

from tests.utterances import playing_until


def test_a_text_that_came_in_time_does_not_excuse_running_dry() -> None:
    """Guards against an overdue listener losing its place when its next sentence begins."""
    listener = playing_until(2.0)
    listener.await_audio(1.0)
    assert (listener.deadline_s, listener.plays) == (2.0, True)
    listener.await_audio(5.0)
    assert (listener.deadline_s, listener.plays) == (5.0, False)


def test_playback_restarts_where_it_ran_dry() -> None:
    """Guards against counting playback from a time before the audio was there."""
    listener = playing_until(2.0)
    listener.add_audio(1.0, 1.5)
    assert listener.deadline_s == 3.0
    listener.add_audio(1.0, 10.0)
    assert listener.deadline_s == 11.0


def test_its_buffer_is_what_it_has_left_to_play() -> None:
    """Guards against a window sized as if the interrupted listener still had audio to play."""
    listener = playing_until(3.0)
    assert [listener.buffered_s(now_s) for now_s in (1.0, 5.0)] == [2.0, 0.0]
    listener.interrupt(1.0)
    assert listener.buffered_s(1.0) == 0.0
    assert (listener.deadline_s, listener.plays) == (1.0, False)
    listener.interrupt(2.0)
    assert listener.deadline_s == 1.0
