"""The agents of companions: one each, that remembers what it did, gone when the companion is."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from control_plane import AgentStore, ControlPlaneError
from dcf.agents import TaskError, TaskPerformer
from dcf.agents.templates import InvalidTemplate, template_named
from dcf.memory import SYSTEM, Agent, AgentExists, BlockExists, MemoryProblem, UnknownAgent
from dcf.sessions.companion import Companion
from dcf.sessions.companions.progress import Telling
from dcf.sessions.companions.roster import Roster, Served
from dcf.sessions.rendering import show_task
from dcf.sessions.sessions import Sessions
from dcf.sessions.task_run import TEMPLATE
from dcf.worker import AGENT_UNAVAILABLE, AsAgent, fence_of, memory_failure, remove_agent

if TYPE_CHECKING:
    from control_plane import Lease
    from dcf.agents import AgentRuntime
    from dcf.workflow import Task

log = logging.getLogger(__name__)

ROLE = "role:companion"
BY = SYSTEM.because("companions of a session")


class CompanionAgents:
    """Performers of tasks, each as the companion that holds the lease. Without agents that
    remember, ``plain`` does them all. ``own`` is a folder of the user's templates."""

    def __init__(
        self,
        sessions: Sessions,
        roster: Roster,
        plain: TaskPerformer,
        *,
        runtime: AgentRuntime | None = None,
        records: AgentStore | None = None,
        own: Path | None = None,
    ) -> None:
        self._sessions = sessions
        self._roster = roster
        self._plain = plain
        self._runtime = runtime
        self._records = records
        self._own = own

    async def performer(self, task: Task) -> TaskPerformer:
        """What performs ``task``. Raises TaskError(DCF.AgentUnavailable)."""
        served = self._roster.of(task.lease.owner)
        if served is None:
            raise TaskError(AGENT_UNAVAILABLE, f"{task.lease.owner} is not served here any more")
        performer = self._plain
        if self._runtime is not None:
            try:
                performer = await self._remembering(self._runtime, served, task.lease)
            except MemoryProblem as problem:
                raise await memory_failure(problem) from problem
        return Telling(
            performer,
            self._sessions,
            served.session_id,
            served.companion.companion_id,
            task.lease.workflow_id,
        )

    async def remove(self, agent_name: str) -> None:
        """Delete the agent of a companion that is gone, with its record."""
        if self._runtime is None:
            return
        agent = await self._runtime.find(agent_name)
        if agent is not None and ROLE in agent.tags:
            await remove(self._runtime, self._records, agent.id)

    async def _remembering(
        self, runtime: AgentRuntime, served: Served, lease: Lease
    ) -> TaskPerformer:
        take = partial(self._agent, runtime, served)
        agent = await take()
        try:
            await show_task(
                self._sessions, served.session_id, served.companion.companion_id, runtime, agent.id
            )
        except (ControlPlaneError, MemoryProblem) as problem:
            # What the task needs is in its assignment.
            log.warning("%s does not see its session: %s", served.companion.companion_id, problem)
        return AsAgent(runtime, agent.id, fence_of(lease), None, take)

    async def _agent(self, runtime: AgentRuntime, served: Served) -> Agent:
        companion = served.companion
        agent = await runtime.find(served.agent_name)
        if agent is None:
            agent = await self._make(runtime, served)
        # Also where it was made before: whoever made it may have died before this.
        await _share(runtime, companion, agent)
        return agent

    async def _make(self, runtime: AgentRuntime, served: Served) -> Agent:
        companion = served.companion
        try:
            template = template_named(TEMPLATE, self._own)
        except InvalidTemplate as broken:
            raise TaskError(AGENT_UNAVAILABLE, f"templates: {broken}") from broken
        tags = (ROLE, f"session:{served.session_id}", f"specialization:{companion.specialization}")
        new = template.new_agent(served.agent_name, model=companion.model, tags=tags)
        blocks = [
            replace(block, value=companion.persona)
            if block.label == "persona" and companion.persona
            else block
            for block in template.blocks
        ]
        try:
            return await runtime.create(new, blocks, by=BY)
        except AgentExists:
            # Another host served it at the same moment.
            found = await runtime.find(served.agent_name)
            if found is None:
                raise
            return found


async def remove(runtime: AgentRuntime, records: AgentStore | None, agent_id: str) -> None:
    """Delete an agent, with its record if there are any; one that is gone is no error."""
    try:
        if records is None:
            await runtime.delete(agent_id, by=BY)
        else:
            await remove_agent(runtime, records, agent_id, by=BY)
    except UnknownAgent:
        log.debug("agent %s was gone already", agent_id)


async def _share(runtime: AgentRuntime, companion: Companion, agent: Agent) -> None:
    """Let the agent hold the blocks of its conductor that the companion names; where it has one of
    that label, its own stays."""
    if not companion.shared_blocks:
        return
    held = {block.label for block in await runtime.blocks(agent.id)}
    missing = [label for label in companion.shared_blocks if label not in held]
    if not missing:
        return
    conductor = await runtime.find(companion.created_by)
    conductor_id = conductor.id if conductor is not None else companion.created_by
    for label in missing:
        try:
            block = await runtime.block(conductor_id, label)
            await runtime.attach_block(agent.id, block.id, by=BY)
        except BlockExists:
            log.debug("%s was given %s at the same moment", companion.companion_id, label)
        except MemoryProblem as problem:
            log.warning("%s does not share %s: %s", companion.companion_id, label, problem)
