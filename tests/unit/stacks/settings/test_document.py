"""`docs/settings.md`: generated, current and complete."""

from stacks.settings import document


def test_the_documentation_is_current() -> None:
    """Guards against a key that is documented no more, or not yet: run `make docs`."""
    assert document.PATH.read_text(encoding="utf-8") == document.document()
