"""The calibration's texts and fit, without the model."""

import numpy as np

from kokoro_calibration.collect import Sample, texts_for
from kokoro_calibration.fit import cross_validate
from kokoro_text.normalizer import UNSPACED
from kokoro_voice.languages import LANGUAGES

CHANNELS = 12


def test_every_language_has_its_texts() -> None:
    """A voice calibrated with the sounds of another language is predicted badly."""
    for language in set(LANGUAGES.values()):
        texts = texts_for(language)
        assert len(set(texts)) == len(texts) >= 40, language
        # A Japanese or Chinese word has about two characters.
        unspaced = language in UNSPACED
        words = [len(text) // 2 if unspaced else len(text.split()) for text in texts]
        assert min(words) <= 2, language
        assert 25 <= max(words) <= 45, language


def samples(random: np.random.Generator) -> list[Sample]:
    """Four voices with twelve sentences, whose statistics depend on style, length and content."""
    styles = random.normal(0, 1, (4, 128)).astype(np.float32)
    of_content = random.normal(0, 0.3, (100, CHANNELS))
    of_style = random.normal(0, 0.1, (128, 2 * CHANNELS))
    made = []
    for voice, style in enumerate(styles):
        for number in range(12):
            content = (random.normal(0, 1, 3) @ random_mixture(100)).astype(np.float32)
            frames = int(random.integers(40, 300))
            voices_own = style @ of_style
            mean = content @ of_content * 0.3 + voices_own[:CHANNELS] + 10 / frames
            made.append(
                Sample(
                    voice=f"af_{voice}",
                    number=number,
                    speed=1.0,
                    style=style,
                    content=content,
                    mean=mean.astype(np.float32),
                    variance=np.exp(voices_own[CHANNELS:] + 20 / frames).astype(np.float32),
                    token_frames=np.array([frames]),
                    levels_db=np.zeros(1, np.float32),
                )
            )
    return made


def random_mixture(size: int) -> np.ndarray:
    """Content that varies in three directions only, so that features are not independent."""
    return np.random.default_rng(2).normal(0, 1, (3, size))


def test_the_fit_finds_what_statistics_depend_on() -> None:
    """With a misplaced variable or a wrong prior, unseen sentences are predicted badly."""
    made = samples(np.random.default_rng(1))
    errors = cross_validate(made)
    deviations = [np.sqrt(sample.variance) for sample in made]
    spread = np.std([sample.mean for sample in made], axis=0) / np.mean(deviations, axis=0)
    assert errors[:, 0].mean() < 0.1 * spread.mean()
    assert errors[:, 1].mean() < 0.3
