"""Debian's Chromium for the tests of the page; without it they are skipped, but not in CI."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, sync_playwright

_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def require_chromium() -> str:
    """The program's path."""
    path = shutil.which("chromium")
    if path is None:
        missing = "chromium is not installed: apt-get install chromium"
        pytest.fail(missing) if "CI" in os.environ else pytest.skip(missing)
    return path


@contextmanager
def opened(url: str) -> Iterator[Page]:
    """The page at `url`, on which no script may fail and no error may be logged."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=require_chromium(), args=_FLAGS)
        page = browser.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda entry: entry.type == "error" and faults.append(entry.text))
        page.goto(url)
        yield page
        browser.close()
        assert faults == []
