"""When the agents of runs that are over go: at once where this process sealed the run, and every
few seconds those of runs that others sealed and had no time for."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

from control_plane import ControlPlaneError
from dcf.memory import MemoryProblem
from dcf.worker.worker_agents import WorkerAgents

log = logging.getLogger(__name__)

IsOver = Callable[[str], Awaitable[bool]]
_EVERY_S = 5.0
_LAST_S = 4.0


class AgentSweeper:
    """Sweeps ``agents``; ``is_over`` says of a run whether its agents may go."""

    def __init__(self, agents: WorkerAgents, is_over: IsOver) -> None:
        self._agents = agents
        self._is_over = is_over
        self._ended: set[str] = set()
        self._woken = asyncio.Event()

    def end(self, workflow_id: str) -> None:
        """The run was sealed just now: ``run`` looks at its agents at once."""
        self._ended.add(workflow_id)
        self._woken.set()

    async def run(self) -> None:
        """Sweep for ever."""
        now = asyncio.get_running_loop().time
        swept_at = -math.inf
        while True:
            self._woken.clear()
            with _staying():
                while self._ended:
                    ended = self._ended.pop()
                    if await self._is_over(ended):
                        await self._agents.delete(ended)
            if now() - swept_at >= _EVERY_S:
                swept_at = now()
                with _staying():
                    await self._agents.sweep(self._is_over)
            with suppress(TimeoutError):
                async with asyncio.timeout(max(swept_at + _EVERY_S - now(), 0)):
                    await self._woken.wait()

    async def at_last(self, is_over: IsOver) -> None:
        """Sweep once more before the process ends: nobody else may come for long."""
        with _staying():
            async with asyncio.timeout(_LAST_S):
                await self._agents.sweep(is_over)


@contextmanager
def _staying() -> Iterator[None]:
    """What keeps agents from going now does no harm: the next sweep, of whomever, finds them."""
    try:
        yield
    except (ControlPlaneError, MemoryProblem, TimeoutError) as error:
        log.warning("agents of runs that are over stay for now: %s", error)
