"""The page in real Chromium, against the real stack, as `make demo` serves it."""

import os
import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.chromium import opened, require_chromium
from tests.command import Command, running

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    require_chromium()
    with running(tmp_path_factory.mktemp("demo")) as start:
        yield start("make", "demo")


@pytest.fixture
def page(demo: Command) -> Iterator[Page]:
    url = demo.wait_for(r"Open (http://\S+)")[1]
    with opened(url) as page:
        yield page


def test_a_reply_is_shown_and_played(page: Page) -> None:
    """A page that connects but plays nothing, or plays holes, never reaches these figures."""
    expect(page.locator("#status")).to_have_text("Ready.")
    page.locator("#send").click()
    expect(page.locator("#status")).to_have_text("Speaking…", timeout=60_000)
    expect(page.locator("#status")).to_have_text("Done.", timeout=120_000)
    expect(page.locator("#figures")).to_contain_text("First audio after")
    assert len(page.locator("#reply").inner_text().split()) > 20
    # The same conversation goes on.
    page.locator("#send").click()
    expect(page.locator("#status")).to_have_text("Speaking…", timeout=60_000)


def test_a_refused_question_is_explained_and_can_be_asked_again(page: Page) -> None:
    """A refusal has no reply whose end would enable the button again: the page was stuck."""
    page.locator("#prompt").fill("")
    page.locator("#send").click()
    expect(page.locator("#status")).to_contain_text("prompt:")
    expect(page.locator("#send")).to_be_enabled()
    expect(page.locator("#stop")).to_be_disabled()


def test_stop_silences_and_the_next_question_works(page: Page) -> None:
    """An interrupt that is not carried through leaves the agent talking, or the page stuck."""
    expect(page.locator("#status")).to_have_text("Ready.")
    page.locator("#send").click()
    expect(page.locator("#status")).to_have_text("Speaking…", timeout=60_000)
    page.locator("#stop").click()
    expect(page.locator("#status")).to_have_text("Stopped.", timeout=30_000)
    expect(page.locator("#send")).to_be_enabled(timeout=30_000)
    page.locator("#prompt").fill("What is the weather like?")
    page.locator("#send").click()
    expect(page.locator("#status")).to_have_text("Speaking…", timeout=60_000)


def test_demo_ends_with_ctrl_c_and_leaves_nothing(demo: Command) -> None:
    """The last test of the module: `make` and its children must all go."""
    demo.wait_for(r"Open (http://\S+)")
    os.killpg(demo.process.pid, signal.SIGINT)
    demo.process.wait(30)
    assert demo.left_behind() == []
    assert "Traceback" not in demo.output()
