"""The engine's one thread, and asyncio's side of the schedule for it."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kokoro_server.scheduler import Scheduler
from kokoro_server.utterance import Utterance
from kokoro_voice.onnx_model import Cancellation


class Work:
    """Some work on an utterance, and its caller's wait for the result."""

    def __init__(self, utterance: Utterance, function: Callable[[Cancellation], Any]) -> None:
        self.utterance = utterance
        self.result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.cancellation = Cancellation()
        self.duration_s = 0.0
        self._function = function

    def run(self) -> Any:
        """Do the work, on the engine's thread."""
        began_s = time.monotonic()
        try:
            return self._function(self.cancellation)
        finally:
            self.duration_s = time.monotonic() - began_s


class EngineQueue:
    """Does the work of all sessions on one thread, one item at a time, in a `Scheduler`'s order.

    Nothing but the work itself happens on that thread; the rest belongs to the event loop.

    Args:
        scheduler: Decides which work is next; nobody else may use it.
    """

    def __init__(self, scheduler: Scheduler[Work]) -> None:
        self._scheduler = scheduler
        self._thread = ThreadPoolExecutor(1, "engine")
        self._running: tuple[Work, asyncio.Future[Any]] | None = None
        self._closed = False

    async def run[Result](
        self, utterance: Utterance, function: Callable[[Cancellation], Result]
    ) -> Result:
        """Call `function` when it is the listener's turn; the time it takes goes into the tally.

        Cancelling the caller withdraws work that waits and stops work that runs.

        Args:
            utterance: The utterance that the work is for.
            function: Called on the engine's thread; ends soon after it is cancelled.

        Returns:
            What `function` returns.

        Raises:
            Exception: What `function` raises.
            RuntimeError: The queue is closed.
        """
        if self._closed:
            raise RuntimeError("the engine's queue is closed")
        work = Work(utterance, function)
        self._scheduler.submit(utterance, work)
        self._pick()
        try:
            result: Result = await work.result
        except asyncio.CancelledError:
            self._scheduler.withdraw(utterance, work)
            work.cancellation.cancel()
            raise
        return result

    def is_contended(self, utterance: Utterance) -> bool:
        """Whether work for other listeners waits, which long work on `utterance` would delay."""
        return self._scheduler.is_contended(utterance)

    async def close(self) -> None:
        """Drop what waits, stop what runs and wait for its end; their callers are cancelled."""
        self._closed = True
        while (work := self._scheduler.next()) is not None:
            work.result.cancel()
        if self._running is not None:
            work, done = self._running
            work.result.cancel()
            work.cancellation.cancel()
            await asyncio.wait({done})
        self._thread.shutdown()

    def _pick(self) -> None:
        if self._running is not None or (work := self._scheduler.next()) is None:
            return
        done = asyncio.get_running_loop().run_in_executor(self._thread, work.run)
        self._running = work, done
        done.add_done_callback(self._finished)

    def _finished(self, done: asyncio.Future[Any]) -> None:
        assert self._running is not None
        work, _ = self._running
        work.utterance.tally.engine_s += work.duration_s
        error = done.exception()
        if not work.result.done():
            if error is None:
                work.result.set_result(done.result())
            else:
                work.result.set_exception(error)
        # The caller wakes before this, and may submit what follows: the next window of a sentence
        # must not find that a less urgent one was picked in the meantime.
        asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        self._running = None
        self._pick()
