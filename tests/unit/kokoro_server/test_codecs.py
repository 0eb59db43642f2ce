"""The formats of audio: what every player must be able to read."""

import io
import wave
from typing import get_args

import numpy as np

from kokoro_server import codecs
from kokoro_server.codecs import CODECS, BatchFormat, SessionFormat


def test_pcm_is_little_endian_and_clips() -> None:
    """Guards against integer overflow at full level, which is heard as noise."""
    loud = np.array([0.0, 1.0, -1.0, 3.0, -3.0], np.float32)
    assert np.frombuffer(codecs.to_pcm(loud), "<i2").tolist() == [0, 32767, -32767, 32767, -32767]


def test_the_wav_stream_is_readable_without_its_length() -> None:
    """Guards against a header that Python's wave module, or a player, refuses."""
    pcm = codecs.to_pcm(np.linspace(-1, 1, 2400, dtype=np.float32))
    with wave.open(io.BytesIO(codecs.wav_header() + pcm)) as wav:
        assert (wav.getnchannels(), wav.getsampwidth(), wav.getframerate()) == (1, 2, 24_000)
        assert wav.readframes(wav.getnframes()) == pcm


def test_every_format_has_a_codec() -> None:
    """Guards against a format that requests accept but no response can use."""
    assert CODECS.keys() == {*get_args(SessionFormat), *get_args(BatchFormat)}
