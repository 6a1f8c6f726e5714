"""The agents that do a run's Tasks: made from a template, taken from a pool, or there already."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from control_plane import AgentStore, Store, UnknownRun, encode_name
from dcf.agents import TaskError, TaskPerformer
from dcf.agents.templates import InvalidTemplate, Template, UnknownTemplate, template_named
from dcf.memory import SYSTEM, Agent, AgentExists, MemoryProblem, RevisionConflict, UnknownAgent
from dcf.worker.agent_removal import remove_agent
from dcf.worker.as_agent import AGENT_UNAVAILABLE, AsAgent, fence_of, memory_failure

if TYPE_CHECKING:
    from dcf.agents import AgentRuntime
    from dcf.workflow import Task

_BY = SYSTEM.because("agents of a run")
_ROLE = "role:worker"
_EPHEMERAL = "lifecycle:ephemeral"
_ASSIGNED = "lifecycle:assigned"
_POOLED = "lifecycle:pooled"
_BUSY = "busy:"
_PAGE = 200
_AWAITED_MS = 3_600_000
"""How long agents that were made for a run wait for it to be submitted, and stay at least."""


class WorkerAgents:
    """Agents of ``runtime`` for Tasks.

    The lifecycle of the AgentBinding says which. ``ephemeral``, the default: one for each instance
    of a state, made from its template, found again by a later try, and deleted when the run is
    over, unless ``destroy_on_end`` is false; one that was made for the state beforehand
    (``tags_for``) takes its place. ``pooled``: one that nobody uses of the pool
    ``reuse_key`` (default: the template's name), given back after the try. ``existing``: the one
    that ``agent_ref`` names. ``records`` are those of agents in the control plane: they go with
    their agents. ``own`` is a folder of the user's templates; ``clock`` gives ms since the epoch.
    """

    def __init__(
        self,
        runtime: AgentRuntime,
        *,
        records: AgentStore | None = None,
        own: Path | None = None,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._runtime = runtime
        self._records = records
        self._own = own
        self._clock = clock

    async def performer(self, task: Task) -> TaskPerformer:
        """What performs ``task`` as its agent. Raises TaskError(DCF.AgentUnavailable), and
        GivenBack while the memory takes no writes."""
        try:
            return await self._performer(task)
        except MemoryProblem as problem:
            raise await memory_failure(problem) from problem

    async def _performer(self, task: Task) -> TaskPerformer:
        binding = task.state.binding or {}
        lifecycle = binding.get("lifecycle") or {}
        mode = lifecycle.get("mode") or ("existing" if binding.get("agent_ref") else "ephemeral")
        if mode == "existing":
            agent = await self._existing(binding.get("agent_ref") or {})
            return AsAgent(self._runtime, agent.id, fence_of(task.lease), None)
        template = self._template(binding.get("agent_template_ref") or {}, task)
        if mode == "pooled":
            agent = await self._pooled(template, lifecycle.get("reuse_key"), task)
            lent = _busy(task)
            return AsAgent(
                self._runtime,
                agent.id,
                fence_of(task.lease, lent=lent),
                partial(self._give_back, tag=lent),
            )
        kept = lifecycle.get("destroy_on_end") is False
        take = partial(self._ephemeral, template, task, kept=kept)
        return AsAgent(self._runtime, (await take()).id, fence_of(task.lease), None, take)

    async def delete(self, workflow_id: str) -> int:
        """Delete the agents that were made for a run that is over, and give back pooled ones that
        it still has; how many were deleted."""
        there = [
            *await self._tagged(_ROLE, _EPHEMERAL, _of_run(workflow_id)),
            *await self._tagged(_ROLE, _ASSIGNED, _of_run(workflow_id)),
            *await self._tagged(_ROLE, _POOLED, _of_run(workflow_id)),
        ]
        return await self._let_go(workflow_id, there)

    async def sweep(self, is_over: Callable[[str], Awaitable[bool]]) -> int:
        """``delete`` for every run that is over, whoever ended it; how many agents were deleted."""
        found = [
            *await self._tagged(_ROLE, _EPHEMERAL),
            *await self._tagged(_ROLE, _POOLED),
        ]
        # They may be there before their run is.
        long_ago = self._clock() - _AWAITED_MS
        assigned = await self._tagged(_ROLE, _ASSIGNED)
        found += [agent for agent in assigned if agent.created_at < long_ago]
        runs = {tag.removeprefix("wf:") for agent in found for tag in agent.tags if _is_run(tag)}
        deleted = 0
        for run in sorted(runs):
            if await is_over(run):
                # Only those: since then the run may go on, with agents of its new tries.
                there = [agent for agent in found if _of_run(run) in agent.tags]
                deleted += await self._let_go(run, there)
        return deleted

    async def _let_go(self, workflow_id: str, agents: Iterable[Agent]) -> int:
        """Delete agents of a run, and give back those of pools; how many were deleted."""
        deleted = 0
        for agent in agents:
            if _POOLED in agent.tags:
                # As it was seen: another try may have taken it since.
                held = next((tag for tag in agent.tags if tag.startswith(_BUSY)), None)
                await self._give_back(agent.id, tag=held or _of_run(workflow_id))
            else:
                deleted += await self._remove(agent.id)
        return deleted

    async def _remove(self, agent_id: str) -> bool:
        """Delete an agent; whether it was there."""
        try:
            if self._records is None:
                await self._runtime.delete(agent_id, by=_BY)
            else:
                await remove_agent(self._runtime, self._records, agent_id, by=_BY)
        except UnknownAgent:
            return False
        return True

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
        except InvalidTemplate as broken:
            raise TaskError(AGENT_UNAVAILABLE, f"templates: {broken}") from broken
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
        made = await self._runtime.list(tags=[_for(task.lease.workflow_id, task.lease.path)])
        if made:
            return made[0]
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
        here = _busy(task)
        pooled = await self._tagged(pool)
        # Of a try before, whose worker has lost the lease.
        mine = [agent for agent in pooled if any(map(_is_of(task), agent.tags))]
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

    async def _give_back(self, agent_id: str, *, tag: str) -> None:
        """Let others have the agent, unless somebody took it meanwhile: then ``tag`` is gone."""
        # Somebody may have deleted it meanwhile, too.
        with contextlib.suppress(UnknownAgent):
            while tag in (agent := await self._runtime.get(agent_id)).tags:
                with contextlib.suppress(RevisionConflict):
                    await self._runtime.update(
                        agent_id, by=_BY, expected=agent.revision, tags=_free(agent.tags)
                    )

    async def _tagged(self, *tags: str) -> list[Agent]:
        found: list[Agent] = []
        while True:
            after = found[-1].name if found else ""
            page = await self._runtime.list(tags=tags, limit=_PAGE, after=after)
            found += page
            if len(page) < _PAGE:
                return found


def tags_for(workflow_id: str, state: str) -> tuple[str, ...]:
    """The tags of an agent that is made for the state of this name, of the top level, of a run that
    may not be there yet: it does the Task."""
    run = (f"wf:{workflow_id}", f"state:{state}", _ROLE)
    return (*run, _ASSIGNED, _for(workflow_id, encode_name(state)))


async def is_sealed(store: Store, workflow_id: str) -> bool:
    """Whether the run is over and its record written, or it is gone."""
    try:
        run = await store.run(workflow_id)
    except UnknownRun:
        return True
    return run.finalized_at is not None


def _tags(task: Task) -> tuple[str, ...]:
    return (f"wf:{task.lease.workflow_id}", f"state:{task.state.name}", _ROLE)


def _for(workflow_id: str, path: str) -> str:
    return f"for:{workflow_id}/{path}"


def _busy(task: Task) -> str:
    """What a pooled agent has while ``task`` has it; another holder of the lease says another."""
    return f"{_BUSY}{task.lease.workflow_id}/{task.lease.path}/{task.lease.fence}"


def _is_of(task: Task) -> Callable[[str], bool]:
    """Whether a tag says that the state of ``task`` has the agent, whoever holds its lease."""
    state = _busy(task).rpartition("/")[0]
    return lambda tag: tag.rpartition("/")[0] == state


def _free(tags: tuple[str, ...]) -> tuple[str, ...]:
    """The tags of an agent that no run uses."""
    return tuple(tag for tag in tags if not tag.startswith((_BUSY, "wf:", "state:")))


def _of_run(workflow_id: str) -> str:
    return f"wf:{workflow_id}"


def _is_run(tag: str) -> bool:
    return tag.startswith("wf:")
