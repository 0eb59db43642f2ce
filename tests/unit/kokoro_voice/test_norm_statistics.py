"""The table of statistics: its file, what it refuses, and how it learns a voice."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kokoro_voice.engine import NormStatistics, Prosody
from kokoro_voice.errors import ModelError
from kokoro_voice.norm_statistics import (
    LEARNED_VOICES,
    SENTENCES_TO_LEARN,
    Basis,
    NormStatisticsTable,
    Provenance,
    Regression,
    read_provenance,
)
from kokoro_voice.voices import MODEL_VOICES, Voice, Voices
from kokoro_voice.windows import WINDOW_LIMITS

SHORT_FRAMES = WINDOW_LIMITS.short_frames
CHANNELS, RECTIFIED, SQUARED, RANK = 6, 4, 2, 3
CONTENT = 512 + RECTIFIED + SQUARED + 3 * 22
KNOWN, NEW = Voice("af_heart", (("af_heart", 1.0),)), Voice("af_mine", (("af_mine", 1.0),))
PROVENANCE: dict[str, Any] = {
    "date": "2026-01-01",
    "model_sha256": "ab" * 32,
    "texts_sha256": "cd" * 32,
    "versions": {"numpy": "2"},
    "voices": ["af_heart"],
    "sentences": 40,
    "speeds": [1.0],
    "mean_error": 0.01,
    "variance_error_db": 0.1,
    "variance_error_p95_db": 0.2,
}


def made_table() -> NormStatisticsTable:
    """A small table of random numbers. Any prediction counts as correct."""
    random = np.random.default_rng(1)

    def array(*shape: int) -> Any:
        return random.normal(0, 0.3, shape).astype(np.float32)

    basis = Basis(
        style_mean=array(128),
        style_scale=np.ones(128, np.float32),
        content_mean=array(CONTENT),
        content_scale=np.ones(CONTENT, np.float32),
    )
    variables = 1 + 1 + 128 + 128 + CONTENT
    regression = Regression(
        basis,
        weights=array(variables, RANK) / 30,
        components=array(RANK, 2 * CHANNELS),
        mean=array(CHANNELS),
        deviation=np.exp(array(CHANNELS)),
    )
    provenance = Provenance.model_validate(PROVENANCE)
    return NormStatisticsTable(
        provenance, array(512, RECTIFIED + SQUARED), array(RECTIFIED), regression
    )


def sentence(seed: int, frames: int = SHORT_FRAMES) -> Prosody:
    random = np.random.default_rng(seed)
    return Prosody(
        token_frames=np.array([5, frames - 10, 5]),
        energy=np.zeros(2 * frames, np.float32),
        features=random.normal(0, 1, (1, 512, 2 * frames)).astype(np.float32),
        harmonics=random.normal(0, 1, (1, 22, 120 * frames + 1)).astype(np.float32),
        gain=np.zeros((1, 1, 1), np.float32),
        bias=np.zeros((1, 1, 1), np.float32),
        style=np.full(256, 0.1, np.float32),
    )


def predicted(table: NormStatisticsTable, prosody: Prosody, voice: Voice = KNOWN) -> NormStatistics:
    statistics = table.predict(prosody, voice)
    assert statistics is not None
    return statistics


def test_the_file_holds_all_of_it(tmp_path: Path) -> None:
    """Half precision may cost some accuracy, but no matrix may be missing or transposed."""
    path = tmp_path / "table.npz"
    table = made_table()
    table.save(path)
    loaded = NormStatisticsTable.load(path, PROVENANCE["model_sha256"])
    assert loaded.provenance == table.provenance
    before, after = (predicted(each, sentence(0)) for each in (table, loaded))
    assert after.mean.dtype == after.variance.dtype == np.float32
    np.testing.assert_allclose(after.mean, before.mean, atol=0.02)
    np.testing.assert_allclose(after.variance, before.variance, rtol=0.02)


def test_a_table_of_another_model_is_refused(tmp_path: Path) -> None:
    """With another model's table, speech would sound wrong without any error."""
    path = tmp_path / "table.npz"
    made_table().save(path)
    with pytest.raises(ModelError, match=r"calibrated for .*abababababab.*make calibrate"):
        NormStatisticsTable.load(path, "ef" * 32)


def rewrite(path: Path, **changes: Any) -> None:
    """Replace or add arrays, and remove those that are None."""
    with np.load(path) as arrays:
        content = dict(arrays) | changes
    np.savez(path, **{name: array for name, array in content.items() if array is not None})


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"weights": None}, "weights"),
        ({"provenance": None}, "provenance"),
        ({"gains": np.zeros(3)}, "gains"),
        ({"provenance": json.dumps(PROVENANCE | {"colour": "red"})}, "colour"),
    ],
)
def test_a_file_with_other_keys_is_refused(
    tmp_path: Path, changes: dict[str, Any], named: str
) -> None:
    """A table of another version of the code must be refused, not partly used."""
    path = tmp_path / "table.npz"
    made_table().save(path)
    rewrite(path, **changes)
    with pytest.raises(ModelError, match=named):
        NormStatisticsTable.load(path, PROVENANCE["model_sha256"])


@pytest.mark.parametrize("content", [None, b"", b"not a table"])
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes | None) -> None:
    """The error must name the file instead of being a traceback from zipfile."""
    path = tmp_path / "table.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError, match=r"table\.npz"):
        NormStatisticsTable.load(path, PROVENANCE["model_sha256"])
    with pytest.raises(ModelError, match=r"table\.npz"):
        read_provenance(path)


def test_the_committed_table_names_the_voices_of_the_model(model_dir: Path) -> None:
    """A command that checks a voice before the download must not refuse what the server serves."""
    voices = Voices.in_directory(model_dir, "af_heart")
    assert list(MODEL_VOICES) == voices.names
    provenance = read_provenance()
    assert set(provenance.sentence_voices) < set(provenance.voices)
    assert sorted(provenance.voices) == sorted(MODEL_VOICES)
    for name in MODEL_VOICES:
        is_whole = name in provenance.sentence_voices
        assert provenance.allows_windows(voices.resolve(name)) != is_whole


def test_a_language_without_calibration_is_never_spoken_in_windows() -> None:
    """A mix of such voices must not be predicted either, however many sentences are learned."""
    voices = Voices(list(MODEL_VOICES), "af_heart")
    known = [name for name in MODEL_VOICES if not name.startswith("j")]
    provenance = read_provenance().model_copy(update={"voices": tuple(known)})
    assert not provenance.allows_windows(voices.resolve("jf_alpha+jm_kumo"))
    assert provenance.allows_windows(voices.resolve("af_bella+af_sky"))


def off_by(offset: float, table: NormStatisticsTable, prosody: Prosody) -> NormStatistics:
    """True statistics of a voice whose means are all `offset` above the predictions."""
    statistics = predicted(table, prosody)
    return NormStatistics(statistics.mean + np.float32(offset), statistics.variance)


def test_a_voice_without_calibration_is_predicted_once_it_is_learned() -> None:
    """Predicted at once, such a voice would sound wrong. Never predicted, it would not stream."""
    table = made_table()
    for seed in range(SENTENCES_TO_LEARN):
        assert table.predict(sentence(seed), NEW) is None
        table.learn(sentence(seed), NEW, off_by(0.5, table, sentence(seed)))
    true = off_by(0.5, table, sentence(9))
    learned = predicted(table, sentence(9), NEW)
    np.testing.assert_allclose(learned.mean, true.mean, atol=0.1)
    np.testing.assert_allclose(learned.variance, true.variance, rtol=0.1)


def test_short_sentences_are_not_learned() -> None:
    """Short sentences would displace the longer ones that the prediction needs."""
    table = made_table()
    for seed in range(2 * SENTENCES_TO_LEARN):
        said = sentence(seed, SHORT_FRAMES - 1)
        table.learn(said, NEW, off_by(0.5, table, said))
    assert table.predict(sentence(9), NEW) is None


def test_a_calibrated_voice_stays_as_it_is() -> None:
    """Short sentences that are decoded whole must not alter a calibrated voice."""
    table = made_table()
    before = predicted(table, sentence(0))
    for seed in range(SENTENCES_TO_LEARN):
        table.learn(sentence(seed), KNOWN, off_by(3.0, table, sentence(seed)))
    np.testing.assert_array_equal(predicted(table, sentence(0)).mean, before.mean)


def test_what_is_learned_is_bounded() -> None:
    """Every requested mix is a voice. The oldest must be dropped to limit memory."""
    table, said = made_table(), sentence(0)
    true = off_by(0.5, table, said)
    voices = [Voice(f"af_{number}", ()) for number in range(LEARNED_VOICES + 2)]
    for voice in voices:
        for _ in range(SENTENCES_TO_LEARN):
            table.learn(said, voice, true)
    known = [table.predict(said, voice) is not None for voice in voices]
    assert known == [False, False] + [True] * LEARNED_VOICES
