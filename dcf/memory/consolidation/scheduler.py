"""Consolidating idle agents from time to time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from dcf.memory.agents.errors import UnknownAgent
from dcf.memory.checking import refuse
from dcf.memory.consolidation.activity import Activity
from dcf.memory.consolidation.consolidator import Consolidator
from dcf.memory.consolidation.due import sleepers, standing
from dcf.memory.consolidation.errors import ConsolidationRunning
from dcf.memory.consolidation.session import Session
from dcf.memory.consolidation.settings import DAY_MS
from dcf.memory.errors import MemoryProblem
from dcf.problem import Problem

_log = logging.getLogger(__name__)

AGAIN_MS = DAY_MS
"""Messages and events grow old without any activity: so often an idle agent is looked at again."""


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """Every ``interval_s`` seconds agents with ``enable_sleeptime`` are consolidated that were
    active since their last consolidation and then idle for ``idle_s`` seconds. Raises InvalidEntry
    with all that is wrong."""

    enabled: bool = True
    interval_s: float = 300.0
    idle_s: float = 60.0

    def __post_init__(self) -> None:
        refuse("the settings of the scheduler", self._problems())

    def _problems(self) -> Iterator[Problem]:
        code = "memory_scheduler_setting"
        # Comparisons that NaN fails too.
        if not self.interval_s > 0:
            yield Problem(code, f"interval_s is {self.interval_s}, not above 0", "/interval_s")
        if not self.idle_s >= 0:
            yield Problem(code, f"idle_s is {self.idle_s}, not 0 or more", "/idle_s")


class Scheduler:
    """Any number of processes may have one: an agent is consolidated by one at a time.

    What was rolled back is not done again before the agent is active again.
    """

    def __init__(
        self,
        consolidator: Consolidator,
        settings: SchedulerSettings | None = None,
        *,
        activity: Activity | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """``activity`` spares a look at agents that are at work in this process; ``sleep`` waits
        for so many seconds. The clock is the memory's."""
        self._consolidator = consolidator
        self._ledger = consolidator.memory.ledger
        self._settings = settings or SchedulerSettings()
        self._activity = activity
        self._sleep = sleep
        self._looked: dict[str, int] = {}

    async def tick(self) -> tuple[Session, ...]:
        """Consolidate the agents whose time it is, one after the other; the sessions that changed
        something. An agent that is deleted meanwhile or consolidated by another process is left
        out; what else fails is logged and tried again at the next tick."""
        agents = await self._ledger.read(sleepers)
        self._looked = {one: at for one, at in self._looked.items() if one in agents}
        done = [await self._consolidated(agent_id) for agent_id in agents]
        return tuple(one for one in done if one is not None and one.changes)

    async def run_for_ever(self) -> None:
        """``tick``, again and again, until it is cancelled; nothing if it is not ``enabled``."""
        while self._settings.enabled:
            try:
                await self.tick()
            except MemoryProblem as problem:
                _log.warning("agents are not consolidated for now: %s", problem)
            await self._sleep(self._settings.interval_s)

    async def _consolidated(self, agent_id: str) -> Session | None:
        try:
            if not await self._is_due(agent_id):
                return None
            session = await self._consolidator.run(agent_id)
        except (UnknownAgent, ConsolidationRunning):
            return None
        except MemoryProblem as problem:
            _log.warning("agent %s is not consolidated for now: %s", agent_id, problem)
            return None
        self._looked[agent_id] = self._ledger.clock()
        return session

    async def _is_due(self, agent_id: str) -> bool:
        now = self._ledger.clock()
        rested = now - round(self._settings.idle_s * 1000)
        seen = None if self._activity is None else self._activity.seen(agent_id)
        if seen is not None and seen > rested:
            return False
        known = await self._ledger.read(lambda connection: standing(connection, agent_id))
        if known.active_at is None or known.active_at > rested:
            return False
        looked = self._looked.get(agent_id)
        if known.is_new:
            return looked is None or known.active_at > looked or now - looked >= AGAIN_MS
        if known.undone:
            return False
        return now - max(looked or 0, known.consolidated_at or 0) >= AGAIN_MS
