"""The page in real Chromium, against the real stack, as `make demo` serves it."""

import os
import re
import signal
from collections.abc import Iterator

import httpx
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
    page.locator("#prompt").fill("a" * 4001)
    page.locator("#send").click()
    expect(page.locator("#status")).to_contain_text("prompt:")
    expect(page.locator("#send")).to_be_enabled()
    expect(page.locator("#stop")).to_be_disabled()


def test_the_conversation_stays_on_the_page(page: Page) -> None:
    """A refused prompt erased the reply before it, and so did the next reply."""
    expect(page.locator("#status")).to_have_text("Ready.")
    page.locator("#send").click()
    expect(page.locator("#status")).to_have_text("Done.", timeout=120_000)
    first = page.locator("#reply").inner_text()
    page.locator("#prompt").fill(" ")
    page.locator("#send").click()
    expect(page.locator("#status")).to_contain_text("The prompt is empty")
    page.locator("#prompt").fill("a" * 4001)
    page.locator("#send").click()
    expect(page.locator("#status")).to_contain_text("prompt:")
    expect(page.locator("#reply")).to_have_text(first)
    expect(page.locator("#figures")).to_contain_text("underruns")
    expect(page.locator("#figures")).to_have_attribute("title", re.compile("An underrun is"))
    page.locator("#prompt").fill("What is the weather like?")
    page.locator("#send").click()
    expect(page.locator("#status")).to_have_text("Speaking…", timeout=60_000)
    expect(page.locator("#turns")).to_contain_text("Tell me about the harbor.")
    expect(page.locator("#turns")).to_contain_text(first)
    expect(page.locator("#turns")).to_contain_text("What is the weather like?")
    expect(page.locator("#reply")).not_to_contain_text(first)


def test_the_agents_own_address_leads_to_the_page(demo: Command) -> None:
    """It answered "Not Found" in the browser of whoever had opened it."""
    url = demo.wait_for(r"Open (http://\S+)")[1]
    agent = demo.wait_for(r"agent ready \(pid \d+, port (\d+)")[1]
    answer = httpx.get(f"http://127.0.0.1:{agent}/", follow_redirects=True)
    assert (str(answer.url).rstrip("/"), answer.status_code) == (url, 200)
    assert "Talk to the agent" in answer.text
    addresses = re.findall(r"https?://\d\S+", demo.output())
    assert addresses == [url]


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
