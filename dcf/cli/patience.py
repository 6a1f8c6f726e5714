"""Waiting for a Redis that refuses for a while, and saying so."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from control_plane import Backend, RefusedForNow, Script
from control_plane.embedded import ServerRefusesForNow

DEFAULT_WAIT_S = 60.0
_AGAIN_S = 0.25
_SAY_EVERY_S = 10.0
_T = TypeVar("_T")


def wait_s(env: Mapping[str, str]) -> float:
    """``DCF_REDIS_WAIT``: how many seconds a command waits. Raises ValueError for another text."""
    seconds = float(env.get("DCF_REDIS_WAIT") or DEFAULT_WAIT_S)
    if not 0 <= seconds < math.inf:
        raise ValueError(f"{seconds} is not a length of time")
    return seconds


class Patience:
    """Waits ``limit_s`` seconds at most, or without end; ``say`` gets a line when the waiting
    begins, whenever its reason changes, and every ten seconds. ``clock`` counts seconds."""

    def __init__(
        self,
        say: Callable[[str], object],
        limit_s: float = math.inf,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._say = say
        self._limit_s = limit_s
        self._clock = clock
        self._sleep = sleep

    async def until_served(self, act: Callable[[], Awaitable[_T]]) -> _T:
        """What ``act`` gives, said again as long as Redis refuses for a while. Raises the refusal
        when the time is over, with how long it was, and anything else at once."""
        since, said_at, said = self._clock(), -math.inf, ""
        interrupts = _interrupts()
        while True:
            try:
                return await act()
            except (RefusedForNow, ServerRefusesForNow) as error:
                scope, reason = str(error.fields["scope"]), str(error.fields["reason"])
                refused = error
            if _interrupts() > interrupts:
                # See heed_interrupt; a command that was interrupted before goes on to its end here.
                raise asyncio.CancelledError
            now = self._clock()
            waited_s = now - since
            if waited_s >= self._limit_s:
                raise _after(refused, scope, reason, waited_s) from refused
            if reason != said or now - said_at >= _SAY_EVERY_S:
                self._say(f"Redis refuses {scope}{_since(waited_s)}: {reason}; waiting")
                said, said_at = reason, now
            await self._sleep(min(_AGAIN_S, self._limit_s - waited_s))


class PatientBackend:
    """A ``Backend`` whose calls wait with ``patience``: one that was refused did nothing."""

    def __init__(self, inner: Backend, patience: Patience) -> None:
        self._inner = inner
        self._patience = patience

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """See ``Backend.run``."""
        return await self._patience.until_served(lambda: self._inner.run(script, keys, args))

    async def command(self, *args: str | int) -> Any:
        """See ``Backend.command``."""
        return await self._patience.until_served(lambda: self._inner.command(*args))

    async def close(self) -> None:
        """See ``Backend.close``."""
        await self._inner.close()


def _after(
    refused: RefusedForNow | ServerRefusesForNow, scope: str, reason: str, waited_s: float
) -> Exception:
    """The same refusal, and how long it has lasted."""
    if isinstance(refused, ServerRefusesForNow) or not waited_s:
        return refused
    return RefusedForNow(f"Redis refuses {scope}{_since(waited_s)}: {reason}", **refused.fields)


def _interrupts() -> int:
    """How often this task was told to stop."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


def _since(seconds: float) -> str:
    return f" since {seconds:.0f} s" if seconds >= 1 else ""
