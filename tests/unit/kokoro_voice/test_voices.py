"""The voices of a model directory and mixes of them."""

from pathlib import Path

import pytest

from kokoro_voice.errors import InvalidMixError, UnknownVoiceError, VoiceError
from kokoro_voice.voices import Voices


def test_voices_of_a_directory_are_those_whose_language_is_served(tmp_path: Path) -> None:
    """Guards against offering a voice that cannot speak, or a path as a voice."""
    (tmp_path / "voices").mkdir()
    for name in ("bf_emma", "af_heart", "xf_nobody"):
        (tmp_path / "voices" / f"{name}.bin").touch()
    voices = Voices.in_directory(tmp_path, "af_heart")
    assert voices.names == ["af_heart", "bf_emma"]
    assert voices.resolve(None).name == "af_heart"
    for name in ("xf_nobody", "../af_heart", "", "af_heart+nope", "AF_HEART"):
        with pytest.raises(UnknownVoiceError, match="af_heart, bf_emma"):
            voices.resolve(name)


MIXABLE = Voices(["af_bella", "af_sky", "bf_emma", "jf_alpha"], "af_sky")


@pytest.mark.parametrize(
    ("asked", "name", "components"),
    [
        ("af_sky", "af_sky", {"af_sky": 1.0}),
        ("af_sky(3)", "af_sky", {"af_sky": 1.0}),
        ("af_bella(2)+af_sky(1)", "af_bella(2)+af_sky(1)", {"af_bella": 2 / 3, "af_sky": 1 / 3}),
        ("af_bella+af_sky(0.25)", "af_bella(1)+af_sky(0.25)", {"af_bella": 0.8, "af_sky": 0.2}),
        ("af_sky+af_bella+af_sky", "af_sky(2)+af_bella(1)", {"af_sky": 2 / 3, "af_bella": 1 / 3}),
    ],
)
def test_a_mix_is_weighted_and_named_so_that_its_name_asks_for_it_again(
    asked: str, name: str, components: dict[str, float]
) -> None:
    """Guards against a mix louder than its components, and a name that cannot be sent again."""
    voice = MIXABLE.resolve(asked)
    assert voice.name == name
    assert dict(voice.components) == pytest.approx(components)
    assert voice.language == "en-us"
    assert MIXABLE.resolve(name) == voice


@pytest.mark.parametrize(
    ("asked", "error", "mentions"),
    [
        ("af_sky+nobody(2)", UnknownVoiceError, ["'nobody'", "af_bella, af_sky, bf_emma"]),
        ("af_sky+", UnknownVoiceError, ["''"]),
        ("af_sky + af_bella", UnknownVoiceError, ["'af_sky '"]),
        ("af_sky+jf_alpha", InvalidMixError, ["en-us and ja", "one language"]),
        ("af_sky+bf_emma", InvalidMixError, ["af_sky+bf_emma", "en-us and en-gb", "one language"]),
        ("af_sky+af_bella(0)", InvalidMixError, ["af_bella(0)", "0.01 to 100"]),
        ("af_sky(-1)", InvalidMixError, ["af_sky(-1)", "0.01 to 100"]),
        ("af_sky(nan)", InvalidMixError, ["af_sky(nan)"]),
        ("af_sky(1e2)", InvalidMixError, ["af_sky(1e2)"]),
        ("af_sky(0.33333)", InvalidMixError, ["three decimals"]),
        ("af_sky()", InvalidMixError, ["af_sky()"]),
        ("+".join(["af_sky"] * 9), InvalidMixError, ["9", "at most 8"]),
        ("+" * 1_000_000, InvalidMixError, ["1000001", "at most 8"]),
        ("af_sky(" + "1" * 1_000_000 + ")", InvalidMixError, ["0.01 to 100"]),
    ],
)
def test_a_mix_that_cannot_be_spoken_is_refused_by_its_component(
    asked: str, error: type[VoiceError], mentions: list[str]
) -> None:
    """Guards against a mix that differs from the request, and against echoing all of it."""
    with pytest.raises(error) as caught:
        MIXABLE.resolve(asked)
    assert all(word in str(caught.value) for word in mentions)
    assert len(str(caught.value)) < 290


def test_a_default_voice_that_is_missing_is_an_error_at_the_start(tmp_path: Path) -> None:
    """Guards against a server that is healthy and refuses every request."""
    with pytest.raises(UnknownVoiceError, match="af_heart"):
        Voices.in_directory(tmp_path, "af_heart")
