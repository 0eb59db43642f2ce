"""Windows of the real model, one by one and several at once, equal the decoding of a whole."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bench.speech_distance import snr_db
from kokoro_voice.decoding import Decoding, Span
from kokoro_voice.engine import Engine, NormStatistics, Prosody, Window
from kokoro_voice.errors import ModelError
from kokoro_voice.onnx_model import Cancellation, OnnxModel
from kokoro_voice.voices import Voices
from kokoro_voice.windows import FRAME_SAMPLES, SpokenFrames, WindowLimits

PHONEMES = "ðə kwˈɪk bɹˈWn fˈɑks."
Sentence = tuple[Prosody, np.ndarray, NormStatistics]


@pytest.fixture(scope="module")
def engine(model_dir: Path) -> Engine:
    return Engine(model_dir, threads=2)


@pytest.fixture(scope="module")
def sentences(engine: Engine) -> list[Sentence]:
    """The prosody of the same words in two voices, with the results of decoding them whole."""
    voices = Voices(["af_heart", "bm_george"], "af_heart")
    found = []
    for name, speed in (("af_heart", 1.0), ("bm_george", 1.2)):
        prosody = engine.prosody(PHONEMES, voices.resolve(name), speed, Cancellation())
        found.append((prosody, *engine.whole(prosody, Cancellation())))
    return found


def tiles(frames: int) -> Iterator[Span]:
    limits = WindowLimits(short_frames=0, longest_frames=24)
    decoding = Decoding(frames, SpokenFrames(0, 0, frames), windowed=True, limits=limits)
    while (span := decoding.next()) is not None:
        yield span


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("voice", ["af_heart", "bm_george", "hf_beta", "af_bella(2)+am_onyx(1)"])
def test_speech_begins_where_the_energy_says(engine: Engine, voice: str, speed: float) -> None:
    """A curve on another scale, or a late one: the first phoneme would be lost, or the first window
    would be silent."""
    names = ["af_heart", "bm_george", "hf_beta", "af_bella", "am_onyx"]
    prosody = engine.prosody(
        PHONEMES, Voices(names, "af_heart").resolve(voice), speed, Cancellation()
    )
    whole, _ = engine.whole(prosody, Cancellation())
    levels = np.square(whole.reshape(prosody.frames, FRAME_SAMPLES)).mean(axis=1)
    levels_db = 10 * np.log10(levels / levels.max() + 1e-12)
    spoken = SpokenFrames.of(prosody.token_frames, prosody.energy, last_sound=len(PHONEMES) - 2)
    assert levels_db[: spoken.start].max(initial=-120) < -50
    assert levels_db[: spoken.onset].max() > -50
    assert spoken.onset - spoken.start <= 8


def test_windows_put_together_equal_the_whole(engine: Engine, sentences: list[Sentence]) -> None:
    """Guards against a step at a join, and against one frame too many or too few."""
    prosody, whole, statistics = sentences[0]
    decoded = [
        engine.window(prosody, statistics, span.start, span.end, Cancellation())
        for span in tiles(prosody.frames)
    ]
    assert len(decoded) > 2
    assert snr_db(whole, np.concatenate(decoded)) >= 90


def test_windows_of_two_sentences_in_one_run(engine: Engine, sentences: list[Sentence]) -> None:
    """A batch must not mix the voices. Windows that do not fit together must be refused."""
    windows = [Window(prosody, statistics, 20, 44) for prosody, _, statistics in sentences]
    for decoded, (_, whole, _) in zip(
        engine.windows(windows, Cancellation()), sentences, strict=True
    ):
        assert snr_db(whole[FRAME_SAMPLES * 20 : FRAME_SAMPLES * 44], decoded) >= 90
    uneven = [windows[0], Window(*sentences[1][::2], 20, 45)]
    with pytest.raises(ValueError, match="the same length"):
        engine.windows(uneven, Cancellation())


@pytest.mark.parametrize("start", [0, 3, 30])
def test_more_context_for_fewer_shapes_changes_nothing(
    engine: Engine, sentences: list[Sentence], monkeypatch: pytest.MonkeyPatch, start: int
) -> None:
    """On a GPU windows are extended. At a sentence's ends, few frames are available for that."""
    prosody, whole, statistics = sentences[0]
    end = min(start + 21, prosody.frames)
    monkeypatch.setattr(engine, "_shape_step", 16)
    first, last = engine._with_context(Window(prosody, statistics, start, end))
    assert (last - first) % 16 == 0
    decoded = engine.window(prosody, statistics, start, end, Cancellation())
    assert snr_db(whole[FRAME_SAMPLES * start : FRAME_SAMPLES * end], decoded) >= 90


def test_no_gpu_is_an_error(model_dir: Path) -> None:
    """ONNX Runtime would only log a warning and fall back to the CPU."""
    with pytest.raises(ModelError, match="is not active"):
        OnnxModel(model_dir / "generator.onnx", threads=1, provider="cuda")


def test_an_incomplete_model_directory_is_named(tmp_path: Path) -> None:
    """Guards against an exception that does not say which file is wrong."""
    with pytest.raises(ModelError, match=r"vocab\.json"):
        Engine(tmp_path, threads=1)
    (tmp_path / "vocab.json").write_text('{"a": 1}')
    with pytest.raises(ModelError, match=r"prosody-cpu\.onnx"):
        Engine(tmp_path, threads=1)
    (tmp_path / "prosody-cpu.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"prosody-cpu\.onnx"):
        Engine(tmp_path, threads=1)
