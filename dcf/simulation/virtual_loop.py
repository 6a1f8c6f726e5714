"""An event loop on virtual time: when nothing is ready, time jumps to the next timer.

No sockets, no threads, no real sleeping: what runs when depends on the program alone, so that one
seed gives one history.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Stuck(Exception):
    """Nothing can ever happen again: every task waits for another."""


class _Selector:
    """What the loop asks to wait: there is nothing to wait for but time."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> tuple[()]:
        if timeout is None:
            raise Stuck("every task waits for another, and no timer is set")
        self._loop.now += timeout
        return ()

    def close(self) -> None:
        """Nothing is open."""


class VirtualLoop(asyncio.BaseEventLoop):
    """The scheduler of asyncio with ``now`` (seconds since the simulation began) as its clock."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self._selector = _Selector(self)

    @property
    def now(self) -> float:
        """Seconds since the simulation began."""
        return self._now

    @now.setter
    def now(self, seconds: float) -> None:
        self._now = seconds
        # A timer is due before now and what a clock can tell apart. After a year a nanosecond is
        # lost in rounding: no timer would ever be due.
        self._clock_resolution = max(1e-9, math.ulp(seconds))

    def time(self) -> float:
        return self.now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """There are no threads: what would run in one runs now."""
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - it is for whoever awaits
            done.set_exception(error)
        return done

    def _process_events(self, event_list: Iterable[object]) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Only other threads would need to wake the loop."""


def run_virtually(loop: VirtualLoop, main: Coroutine[Any, Any, T]) -> T:
    """Run ``main`` to its end, cancel what it left behind, close ``loop``. Raises Stuck."""
    try:
        return loop.run_until_complete(main)
    finally:
        # Not asyncio.all_tasks(): a set of tasks has another order in every process.
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def at_once(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never waits, as the twin's commands are. Raises Stuck where it
    does, as one does that asks a script again and again."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise Stuck("what should be done at once waits for something")
