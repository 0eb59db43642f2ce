"""Runs scheduled work on the engine's thread, on behalf of asyncio callers."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kokoro_server.scheduler import Scheduler
from kokoro_server.utterance import Utterance
from kokoro_voice.onnx_model import Cancellation


class Work:
    """One unit of work on an utterance, and the future of its result."""

    def __init__(self, utterance: Utterance, function: Callable[[Cancellation], Any]) -> None:
        self.utterance = utterance
        self.result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.cancellation = Cancellation()
        self.duration_s = 0.0
        self._function = function

    def run(self) -> Any:
        """Do the work. Called on the engine's thread."""
        began_s = time.monotonic()
        try:
            return self._function(self.cancellation)
        finally:
            self.duration_s = time.monotonic() - began_s


class EngineQueue:
    """Does the work of all sessions on one thread, one unit at a time, in a `Scheduler`'s order.

    Only the work itself runs on that thread. Everything else runs on the event loop.

    Args:
        scheduler: Decides which work is next. It must not be used elsewhere.
    """

    def __init__(self, scheduler: Scheduler[Work]) -> None:
        self._scheduler = scheduler
        self._thread = ThreadPoolExecutor(1, "engine")
        self._running: tuple[Work, asyncio.Future[Any]] | None = None
        self._closed = False

    async def run[Result](
        self, utterance: Utterance, function: Callable[[Cancellation], Result]
    ) -> Result:
        """Call `function` when the scheduler selects it, and add its duration to the tally.

        Cancelling the caller withdraws waiting work and stops running work.

        Args:
            utterance: The utterance that the work is for.
            function: Called on the engine's thread. It must end soon after it is cancelled.

        Returns:
            The result of `function`.

        Raises:
            Exception: Any exception that `function` raises.
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
        """Whether work for other listeners is waiting, which long work on this would delay."""
        return self._scheduler.is_contended(utterance)

    async def close(self) -> None:
        """Cancel all callers, drop waiting work, stop running work and wait for its end."""
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
        # Start the next work only after the caller has resumed. It may submit the next window of
        # the sentence, which can be more urgent than all that is waiting now.
        asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        self._running = None
        self._pick()
