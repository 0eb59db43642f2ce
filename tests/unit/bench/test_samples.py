"""The MP3 files in `docs/samples`: how they are written and read, and the two replies."""

from pathlib import Path

import numpy as np
import pytest

from bench.hearing import peak
from bench.samples import FOLDER, REPLIES, read_mp3, write_mp3
from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples

SILENT = 0.01


def first_sound_s(audio: Samples) -> float:
    return float(np.argmax(np.abs(audio) > SILENT * peak(audio))) / SAMPLE_RATE_HZ


def test_a_file_keeps_length_level_and_moment(tmp_path: Path) -> None:
    """A codec's delay left in, or samples of another scale, would falsify what listeners hear."""
    time_s = np.arange(2 * SAMPLE_RATE_HZ) / SAMPLE_RATE_HZ
    tone = 0.5 * np.sin(2 * np.pi * 440 * time_s) * (time_s >= 1.2)
    write_mp3(tmp_path / "tone.mp3", tone.astype(np.float32))
    read = read_mp3(tmp_path / "tone.mp3")
    assert read.dtype == np.float32
    assert len(read) == pytest.approx(len(tone), abs=2000)
    assert peak(read) == pytest.approx(0.5, rel=0.15)
    assert first_sound_s(read) == pytest.approx(1.2, abs=0.03)


def test_the_replies_start_when_the_prompt_is_sent() -> None:
    """The two files are to be compared: same speech, after the wait that each mode has."""
    streamed, batch = (read_mp3(FOLDER / REPLIES[mode]) for mode in ("bidi", "batch"))
    waits_s = [first_sound_s(streamed), first_sound_s(batch)]
    assert waits_s[0] > 0.4
    assert 3 * waits_s[0] < waits_s[1]
    speech_s = [
        len(audio) / SAMPLE_RATE_HZ - wait_s
        for audio, wait_s in zip((streamed, batch), waits_s, strict=True)
    ]
    assert speech_s[0] == pytest.approx(speech_s[1], abs=1.5)
    assert all(0.3 < peak(audio) < 1.1 for audio in (streamed, batch))


def test_the_folder_stays_small() -> None:
    """Every clone of the repository holds all versions of all samples."""
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_200_000
