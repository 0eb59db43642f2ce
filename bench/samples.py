"""The audio samples in `docs/samples`: mono MP3, written and read with PyAV."""

from pathlib import Path
from typing import Literal

import av
import numpy as np

from bench import ROOT
from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples

FOLDER = ROOT / "docs" / "samples"
BIT_RATE = 32_000
"""Bits per second. A second of speech takes 4 kB."""
REPLIES: dict[Literal["bidi", "batch"], str] = {
    "bidi": "reply-streamed.mp3",
    "batch": "reply-batch.mp3",
}
"""The file of the reply that `bench.reply_samples` records in each mode of the agent."""


def write_mp3(path: Path, samples: Samples) -> None:
    """Write 24 kHz samples, shape (n,), as an MP3 file."""
    with av.open(str(path), "w", format="mp3") as file:
        stream = file.add_stream("libmp3lame", rate=SAMPLE_RATE_HZ, layout="mono")
        stream.bit_rate = BIT_RATE
        frame = av.AudioFrame.from_ndarray(samples[np.newaxis], format="fltp", layout="mono")
        frame.sample_rate = SAMPLE_RATE_HZ
        file.mux([*stream.encode(frame), *stream.encode(None)])


def read_mp3(path: Path) -> Samples:
    """Read what `write_mp3` wrote, shape (n,).

    Raises:
        ValueError: The file is not mono or has another sample rate.
        av.FFmpegError: The file is missing or cannot be decoded.
    """
    with av.open(str(path)) as file:
        stream = file.streams.audio[0]
        if (stream.rate, stream.channels) != (SAMPLE_RATE_HZ, 1):
            raise ValueError(
                f"{path}: expected mono at {SAMPLE_RATE_HZ} Hz, "
                f"got {stream.channels} channels at {stream.rate} Hz"
            )
        return np.concatenate([frame.to_ndarray()[0] for frame in file.decode(stream)])
