"""The agents that do a run's Tasks: made from a template, taken from a pool, or there already."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from control_plane import ControlPlaneError, Store, UnknownRun
from dcf.agents import Assignment, Observer, Report, TaskError, TaskPerformer, ToolCaller
from dcf.agents.templates import Template, UnknownTemplate, template_named
from dcf.memory import SYSTEM, Agent, AgentExists, MemoryProblem, RevisionConflict, UnknownAgent

if TYPE_CHECKING:
    from dcf.agents import AgentRuntime
    from dcf.workflow import Task

log = logging.getLogger(__name__)

AGENT_UNAVAILABLE = "DCF.AgentUnavailable"
_BY = SYSTEM.because("agents of a run")
_ROLE = "role:worker"
_EPHEMERAL = "lifecycle:ephemeral"
_POOLED = "lifecycle:pooled"
_BUSY = "busy:"
_PAGE = 200
_SWEEP_EVERY_S = 5.0


class WorkerAgents:
    """Agents of ``runtime`` for Tasks.

    The lifecycle of the AgentBinding says which. ``ephemeral``, the default: one for each instance
    of a state, made from its template, found again by a later try, and deleted when the run is
    over, unless ``destroy_on_end`` is false. ``pooled``: one that nobody uses of the pool
    ``reuse_key`` (default: the template's name), given back after the try. ``existing``: the one
    that ``agent_ref`` names. ``own`` is a folder of the user's templates.
    """

    def __init__(self, runtime: AgentRuntime, *, own: Path | None = None) -> None:
        self._runtime = runtime
        self._own = own

    async def performer(self, task: Task) -> TaskPerformer:
        """What performs ``task`` as its agent. Raises TaskError(DCF.AgentUnavailable)."""
        binding = task.state.binding or {}
        lifecycle = binding.get("lifecycle") or {}
        mode = lifecycle.get("mode") or ("existing" if binding.get("agent_ref") else "ephemeral")
        if mode == "existing":
            agent = await self._existing(binding.get("agent_ref") or {})
            return _AsAgent(self._runtime, agent.id, None)
        template = self._template(binding.get("agent_template_ref") or {}, task)
        if mode == "pooled":
            agent = await self._pooled(template, lifecycle.get("reuse_key"), task)
            return _AsAgent(self._runtime, agent.id, self._give_back)
        kept = lifecycle.get("destroy_on_end") is False
        agent = await self._ephemeral(template, task, kept=kept)
        return _AsAgent(self._runtime, agent.id, None)

    async def delete(self, workflow_id: str) -> int:
        """Delete the ephemeral agents of a run that is over, and give back pooled ones that it
        still has; how many were deleted."""
        deleted = 0
        for agent in await self._tagged(_ROLE, _EPHEMERAL, f"wf:{workflow_id}"):
            try:
                await self._runtime.delete(agent.id, by=_BY)
            except UnknownAgent:
                continue
            deleted += 1
        for agent in await self._tagged(_ROLE, _POOLED, f"wf:{workflow_id}"):
            await self._give_back(agent.id)
        return deleted

    async def sweep(self, is_over: Callable[[str], Awaitable[bool]]) -> int:
        """``delete`` for every run that is over, whoever ended it; how many agents were deleted."""
        found = [
            *await self._tagged(_ROLE, _EPHEMERAL),
            *await self._tagged(_ROLE, _POOLED),
        ]
        runs = {tag.removeprefix("wf:") for agent in found for tag in agent.tags if _is_run(tag)}
        return sum([await self.delete(run) for run in sorted(runs) if await is_over(run)])

    async def sweep_for_ever(self, is_over: Callable[[str], Awaitable[bool]]) -> None:
        """``sweep`` every few seconds."""
        while True:
            try:
                await self.sweep(is_over)
            except (ControlPlaneError, MemoryProblem) as error:
                log.warning("agents of runs that are over stay for now: %s", error)
            await asyncio.sleep(_SWEEP_EVERY_S)

    async def _existing(self, reference: Mapping[str, Any]) -> Agent:
        wanted = reference.get("id") or reference.get("name") or ""
        found = await self._runtime.find(wanted) if wanted else None
        if found is not None:
            return found
        try:
            return await self._runtime.get(wanted)
        except UnknownAgent as unknown:
            raise TaskError(AGENT_UNAVAILABLE, str(unknown)) from unknown

    def _template(self, reference: Mapping[str, Any], task: Task) -> Template:
        wanted = reference.get("name") or reference.get("id") or "worker"
        try:
            template = template_named(wanted, self._own)
        except UnknownTemplate:
            # References of other systems' workflows name what was there.
            template = template_named("worker", self._own)
        pinned = task.run.pins.get(f"template:{template.name}")
        if pinned is not None and pinned != template.digest:
            raise TaskError(
                AGENT_UNAVAILABLE,
                f"template {template.name} is not what it was when the run was submitted "
                f"({template.digest[:12]}, pinned: {pinned[:12]})",
            )
        return template

    async def _ephemeral(self, template: Template, task: Task, *, kept: bool) -> Agent:
        # Another run of the same id has other agents.
        name = f"{task.lease.workflow_id}/{task.lease.path}/{task.run.incarnation}"
        found = await self._runtime.find(name)
        if found is not None:
            return found
        tags = (*_tags(task), *(() if kept else (_EPHEMERAL,)))
        new = replace(
            template.new_agent(name, tags=tags), lifecycle="persistent" if kept else "ephemeral"
        )
        try:
            return await self._runtime.create(new, template.blocks, by=_BY)
        except AgentExists:
            # Whoever lost the lease of this state made it at the same moment.
            return await self._existing({"name": name})

    async def _pooled(self, template: Template, key: str | None, task: Task) -> Agent:
        pool = f"pool:{key or template.name}"
        here = f"{_BUSY}{task.lease.workflow_id}/{task.lease.path}"
        pooled = await self._tagged(pool)
        mine = [agent for agent in pooled if here in agent.tags]
        free = [agent for agent in pooled if not any(tag.startswith(_BUSY) for tag in agent.tags)]
        for agent in (*mine, *free):
            try:
                return await self._runtime.update(
                    agent.id,
                    by=_BY,
                    expected=agent.revision,
                    tags=tuple({*_free(agent.tags), *_tags(task), here}),
                )
            except (RevisionConflict, UnknownAgent):
                continue
        name = f"{pool}/{task.run.incarnation}/{task.lease.path}/{task.lease.fence}"
        new = template.new_agent(name, tags=(pool, _POOLED, here, *_tags(task)))
        return await self._runtime.create(replace(new, lifecycle="pooled"), template.blocks, by=_BY)

    async def _give_back(self, agent_id: str) -> None:
        # Somebody may have deleted it meanwhile.
        with contextlib.suppress(UnknownAgent):
            agent = await self._runtime.get(agent_id)
            await self._runtime.update(agent_id, by=_BY, tags=_free(agent.tags))

    async def _tagged(self, *tags: str) -> list[Agent]:
        found: list[Agent] = []
        while True:
            after = found[-1].name if found else ""
            page = await self._runtime.list(tags=tags, limit=_PAGE, after=after)
            found += page
            if len(page) < _PAGE:
                return found


async def is_sealed(store: Store, workflow_id: str) -> bool:
    """Whether the run is over and its record written, or it is gone."""
    try:
        run = await store.run(workflow_id)
    except UnknownRun:
        return True
    return run.finalized_at is not None


@dataclass(frozen=True, slots=True)
class _AsAgent:
    """Performs as one agent; ``after`` is called with its id when that is over."""

    runtime: AgentRuntime
    agent_id: str
    after: Callable[[str], Awaitable[None]] | None

    async def perform(
        self, assignment: Assignment, call_tool: ToolCaller, observe: Observer
    ) -> Report:
        try:
            return await self.runtime.perform(
                assignment, call_tool, observe, agent_id=self.agent_id
            )
        finally:
            if self.after is not None:
                await self.after(self.agent_id)


def _tags(task: Task) -> tuple[str, ...]:
    return (f"wf:{task.lease.workflow_id}", f"state:{task.state.name}", _ROLE)


def _free(tags: tuple[str, ...]) -> tuple[str, ...]:
    """The tags of an agent that no run uses."""
    return tuple(tag for tag in tags if not tag.startswith((_BUSY, "wf:", "state:")))


def _is_run(tag: str) -> bool:
    return tag.startswith("wf:")
