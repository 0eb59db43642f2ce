"""`docs/settings.md`: generated, current and complete."""

import re

import pytest
from pydantic import BaseModel

from kokoro_server.settings import Settings as ContainerSettings
from stacks.settings import Settings, document
from voice_agent.settings import Settings as AgentSettings


def test_the_documentation_is_current() -> None:
    """Guards against a key that is no longer documented, or not yet documented."""
    current = document.PATH.read_text(encoding="utf-8") == document.document()
    assert current, "docs/settings.md differs from the code: run make docs"


@pytest.mark.parametrize("model", [Settings, ContainerSettings, AgentSettings])
def test_every_setting_is_described(model: type[BaseModel]) -> None:
    """Guards against a row without a meaning; of a nested section the generator finds it."""
    undescribed = [name for name, field in model.model_fields.items() if not field.description]
    assert undescribed == []


def test_a_setting_without_a_description_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards against a variable that gets into the images and not into the page."""

    class Undescribed(BaseModel):
        threads: int = 1

    monkeypatch.setattr(document.container, "Settings", Undescribed)
    with pytest.raises(TypeError, match="KOKORO_THREADS"):
        document.document()


def test_every_pattern_has_an_example_that_matches() -> None:
    """Guards against an error message that shows only a pattern, or an example that is an error."""
    settings, *_ = document.document().partition("## Variables of the speech container")
    digits = "` and 64 hexadecimal digits"
    assert settings.count(digits) == 2
    whole = settings.replace(digits, 64 * "0" + "`")
    rows = re.findall(r"text that matches `([^`]+)`(?:, such as `([^`]+)`)?", whole)
    assert len(rows) == settings.count("text that matches") > 10
    wrong = [row for row in rows if not re.search(row[0].replace("\\|", "|"), row[1])]
    assert wrong == []


def test_every_number_has_a_range() -> None:
    """Guards against an error message that cannot name the range of a number."""
    settings, *_ = document.document().partition("## Variables of the speech container")
    assert len(re.findall(r"\| [\d,]+ to [\d,]+ \|", settings)) > 10
    assert re.findall(r"\| (?:at least|at most|above|below) .*", settings) == []
