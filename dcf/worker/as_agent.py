"""Doing a Task as one agent of a runtime."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcf.agents import Assignment, Observer, Report, TaskError, ToolCaller
from dcf.memory import (
    Actor,
    MemoryBusy,
    MemoryFull,
    MemoryProblem,
    TurnFence,
    TurnFenced,
    TurnLost,
    UnknownAgent,
)
from dcf.worker.lease_lost import GivenBack

if TYPE_CHECKING:
    from control_plane import Lease
    from dcf.agents import AgentRuntime, TurnEvent
    from dcf.memory import Agent

log = logging.getLogger(__name__)

AGENT_UNAVAILABLE = "DCF.AgentUnavailable"
# A lease that is given back is taken again at once.
_MEMORY_AGAIN_S = 1.0


@dataclass(frozen=True, slots=True)
class AsAgent:
    """Performs as one agent, in a turn under ``fence``; ``after`` is called with its id when that
    is over. One that is gone before its work begins is replaced by what ``again`` gives, once.

    ``perform`` raises GivenBack where another holder of the Task has the agent, where it is not
    lent to this one any more or another process went on with it, and where the memory takes no
    writes for now."""

    runtime: AgentRuntime
    agent_id: str
    fence: TurnFence
    after: Callable[[str], Awaitable[None]] | None
    again: Callable[[], Awaitable[Agent]] | None = None

    async def perform(
        self, assignment: Assignment, call_tool: ToolCaller, observe: Observer
    ) -> Report:
        begun = False
        notes = assignment.notes
        if notes is not None:
            notes = notes.signed(Actor("agent", self.agent_id, f"task {assignment.state}"))
        assignment = replace(assignment, fence=self.fence, notes=notes)

        def watch(event: TurnEvent) -> None:
            nonlocal begun
            begun = True
            observe(event)

        try:
            return await self.runtime.perform(assignment, call_tool, watch, agent_id=self.agent_id)
        except UnknownAgent as gone:
            if begun or self.again is None:
                raise TaskError(AGENT_UNAVAILABLE, f"{gone} It was deleted meanwhile.") from gone
            # Swept as a leftover of the run when that was over, before it was redriven.
            other = replace(self, agent_id=(await self.again()).id, again=None)
            return await other.perform(assignment, call_tool, observe)
        except (TurnFenced, TurnLost) as lost:
            # The lease may be held still: an agent of a pool was given back meanwhile, say.
            raise GivenBack(lost.code) from lost
        except MemoryProblem as problem:
            raise await memory_failure(problem) from problem
        finally:
            await self._over()

    async def _over(self) -> None:
        if self.after is None:
            return
        try:
            await self.after(self.agent_id)
        except MemoryProblem as problem:
            # What came of the work counts all the same. Who sweeps gives the agent back.
            log.warning("agent %s is not given back for now: %s", self.agent_id, problem)


def fence_of(lease: Lease, *, lent: str = "") -> TurnFence:
    """The authority of turns under ``lease``: one state of one run. Another run of the same id is
    another holder."""
    holder = f"{lease.workflow_id}/{lease.path}/{lease.incarnation}"
    return TurnFence(holder, lease.fence, lent, part=str(lease.visit))


async def memory_failure(problem: MemoryProblem) -> Exception:
    """What ends the work on a Task because of its agent's memory: GivenBack, after a pause, where
    that will pass (a full disk, a file that others hold), else the failure of the Task."""
    if not isinstance(problem, MemoryFull | MemoryBusy):
        return unavailable(problem)
    log.warning("%s; trying again in %g s", problem, _MEMORY_AGAIN_S)
    await asyncio.sleep(_MEMORY_AGAIN_S)
    return GivenBack(problem.code)


def unavailable(problem: MemoryProblem) -> TaskError:
    """The failure of a Task whose agent cannot be had, or not what it remembers."""
    hint = f"; {problem.hint}" if problem.hint else ""
    return TaskError(AGENT_UNAVAILABLE, f"{problem}{hint}")
