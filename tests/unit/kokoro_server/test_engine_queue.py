"""The engine's thread: who gets it, and what is left of work that nobody waits for any more."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from kokoro_server.engine_queue import EngineQueue
from kokoro_server.scheduler import Scheduler
from kokoro_server.utterance import Utterance
from kokoro_voice.onnx_model import Cancellation
from tests.utterances import new_utterance


def utterance(received_s: float = 0.0) -> Utterance:
    """An utterance of a listener that has been waiting since `received_s`."""
    begun = new_utterance(received_s=received_s)
    begun.begin(received_s)
    return begun


class Gate:
    """Work that runs until it is released or stopped."""

    def __init__(self) -> None:
        self.running = threading.Event()
        self.open = threading.Event()

    def __call__(self, cancellation: Cancellation) -> str:
        self.running.set()
        while not self.open.wait(0.001):
            if cancellation.cancelled:
                return "stopped"
        return "let go"


@pytest_asyncio.fixture
async def queue() -> AsyncIterator[EngineQueue]:
    queue = EngineQueue(Scheduler())
    yield queue
    await queue.close()


async def running(queue: EngineQueue) -> tuple[Gate, asyncio.Task[str]]:
    """A task whose work occupies the engine's thread."""
    gate = Gate()
    task = asyncio.create_task(queue.run(utterance(), gate))
    assert await asyncio.to_thread(gate.running.wait, 10)
    return gate, task


def noting(name: str, notes: list[str]) -> Callable[[Cancellation], None]:
    return lambda cancellation: notes.append(name)


async def test_work_is_done_by_deadline_and_its_time_is_noted(queue: EngineQueue) -> None:
    """Guards against serving in order of arrival, and against a real-time factor of zero."""
    gate, first = await running(queue)
    done: list[str] = []
    late, early = utterance(5.0), utterance(2.0)
    others = [
        asyncio.create_task(queue.run(late, noting("late", done))),
        asyncio.create_task(queue.run(early, noting("early", done))),
    ]
    await asyncio.sleep(0)
    assert queue.is_contended(early)
    assert queue.is_contended(utterance())
    gate.open.set()
    assert await first == "let go"
    await asyncio.gather(*others)
    assert done == ["early", "late"]
    assert not queue.is_contended(early)
    assert early.tally.engine_s > 0


async def test_who_just_got_a_result_may_ask_for_more_before_the_next_is_picked(
    queue: EngineQueue,
) -> None:
    """Guards against a newcomer whose first window waits for others because prosody came first."""
    gate, _first = await running(queue)
    done: list[str] = []

    async def sentence() -> None:
        mine = utterance(1.0)
        await queue.run(mine, noting("prosody", done))
        for number in range(3):
            await queue.run(mine, noting(f"window {number}", done))

    other = noting("other", done)
    others = [asyncio.create_task(queue.run(utterance(2.0), other)) for _ in range(2)]
    await asyncio.gather(asyncio.create_task(sentence()), *others, asyncio.to_thread(gate.open.set))
    assert done == ["prosody", "window 0", "window 1", "window 2", "other", "other"]


async def test_what_fails_is_raised_and_the_next_is_done(queue: EngineQueue) -> None:
    """Guards against an engine that stops working for all sessions after one error."""

    def fail(cancellation: Cancellation) -> None:
        raise ValueError("no such window")

    with pytest.raises(ValueError, match="no such window"):
        await queue.run(utterance(), fail)
    assert await queue.run(utterance(), lambda cancellation: 3) == 3


async def test_cancelled_while_it_waits_it_is_never_done(queue: EngineQueue) -> None:
    """Guards against work for a client that has gone."""
    gate, first = await running(queue)
    done: list[str] = []
    waiting = asyncio.create_task(queue.run(utterance(), noting("cancelled", done)))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    gate.open.set()
    await first
    await queue.run(utterance(), noting("next", done))
    assert done == ["next"]


async def test_cancelled_while_it_runs_it_is_stopped(queue: EngineQueue) -> None:
    """Guards against a listener whose new utterance waits for the one that was cancelled."""
    _gate, first = await running(queue)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await queue.run(utterance(), lambda cancellation: "next") == "next"


async def test_closing_leaves_no_work_no_waiter_and_no_thread() -> None:
    """Guards against a shutdown that hangs, or leaves a caller waiting forever."""
    before = set(threading.enumerate())
    queue = EngineQueue(Scheduler())
    _gate, first = await running(queue)
    done: list[str] = []
    waiting = asyncio.create_task(queue.run(utterance(), noting("waiting", done)))
    await asyncio.sleep(0)
    await queue.close()
    results = await asyncio.gather(first, waiting, return_exceptions=True)
    assert [type(result) for result in results] == [asyncio.CancelledError] * 2
    assert not done
    left = set(threading.enumerate()) - before
    assert not [thread for thread in left if thread.name.startswith("engine")]
    with pytest.raises(RuntimeError, match="closed"):
        await queue.run(utterance(), noting("late", done))


async def test_waiting_for_the_engine_is_not_in_the_tally(queue: EngineQueue) -> None:
    """Guards against a real-time factor that grows with the number of sessions, and an admission
    that then refuses everybody.
    """
    speaking, waiting = utterance(), utterance(1.0)
    work = asyncio.create_task(queue.run(speaking, lambda _: time.sleep(0.3)))
    await asyncio.sleep(0)
    began_s = time.monotonic()
    await queue.run(waiting, lambda _: time.sleep(0.01))
    waited_s = time.monotonic() - began_s
    await work
    assert speaking.tally.engine_s >= 0.3
    assert 0.01 <= waiting.tally.engine_s <= waited_s - 0.2
