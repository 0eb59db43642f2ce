"""The engine's one thread, and asyncio's side of the schedule for it."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kokoro_server.admission import Demand
from kokoro_server.scheduler import Scheduler
from kokoro_voice.onnx_model import Cancellation


class _Unit:
    """Some work, and its caller's wait for it."""

    def __init__(self, demand: Demand, work: Callable[[Cancellation], Any]) -> None:
        self.demand = demand
        self.result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.cancellation = Cancellation()
        self.took_s = 0.0
        self._work = work

    def do(self) -> Any:
        began_s = time.monotonic()
        try:
            return self._work(self.cancellation)
        finally:
            self.took_s = time.monotonic() - began_s


class EngineQueue:
    """Does the work of all sessions on one thread, one unit at a time, in a `Scheduler`'s order.

    Nothing but the work itself happens on that thread; the rest belongs to the event loop.
    """

    def __init__(self, scheduler: Scheduler[Any] | None = None) -> None:
        self._scheduler: Scheduler[_Unit] = Scheduler() if scheduler is None else scheduler
        self._thread = ThreadPoolExecutor(1, "engine")
        self._running: tuple[_Unit, asyncio.Future[Any]] | None = None
        self._closed = False

    async def run[Result](self, demand: Demand, work: Callable[[Cancellation], Result]) -> Result:
        """Do `work` when it is its listener's turn; how long it took is added to `demand`.

        Cancelling the caller withdraws work that waits and stops work that runs.

        Args:
            demand: the text that the work is for.
            work: called on the engine's thread; should end soon after it is cancelled.

        Returns:
            What `work` returns.

        Raises:
            Exception: what `work` raises.
            RuntimeError: the queue is closed.
        """
        if self._closed:
            raise RuntimeError("the engine's queue is closed")
        unit = _Unit(demand, work)
        self._scheduler.submit(demand.listener, unit)
        self._pick()
        try:
            result: Result = await unit.result
        except asyncio.CancelledError:
            self._scheduler.withdraw(demand.listener, unit)
            unit.cancellation.cancel()
            raise
        return result

    def others_wait(self, demand: Demand) -> bool:
        """Whether work of other listeners waits, for which a long unit would be in the way."""
        return self._scheduler.others_wait(demand.listener)

    async def close(self) -> None:
        """Drop what waits, stop what runs and wait for its end; their callers are cancelled."""
        self._closed = True
        while (unit := self._scheduler.next()) is not None:
            unit.result.cancel()
        if self._running is not None:
            unit, done = self._running
            unit.result.cancel()
            unit.cancellation.cancel()
            await asyncio.wait({done})
        self._thread.shutdown()

    def _pick(self) -> None:
        if self._running is not None or (unit := self._scheduler.next()) is None:
            return
        done = asyncio.get_running_loop().run_in_executor(self._thread, unit.do)
        self._running = unit, done
        done.add_done_callback(self._finished)

    def _finished(self, done: asyncio.Future[Any]) -> None:
        assert self._running is not None
        unit, _ = self._running
        unit.demand.work_s += unit.took_s
        error = done.exception()
        if not unit.result.done():
            if error is None:
                unit.result.set_result(done.result())
            else:
                unit.result.set_exception(error)
        # The caller wakes before this, and may submit what follows: the next window of a sentence
        # must not find that a less urgent one was picked in the meantime.
        asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        self._running = None
        self._pick()
