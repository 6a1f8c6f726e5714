"""Tasks done by agents: skills are loaded, calls pass the gate, the report comes back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from control_plane import JSON, Store
from dcf.agents import Assignment, TaskError, TaskPerformer, TurnEvent
from dcf.memory import AnsweredCall, Node, Pack
from dcf.skills import Manifest, SkillCatalog, SkillTool, UnknownSkill
from dcf.tools import (
    ApprovalRequest,
    ApprovalRequired,
    Dispatcher,
    Policy,
    SchemaPin,
    Toolbox,
    ToolResult,
    ToolsError,
)
from dcf.worker.blob_keep import keep_in
from dcf.worker.lease_ledger import LeaseLedger
from dcf.worker.model_allowance import LeaseAllowance
from dcf.worker.performer import Beat
from dcf.worker.run_contexts import RunContexts, context_event
from dcf.worker.selection import Selection
from dcf.worker.skill_gates import ChangedSkill
from dcf.worker.task_memory import TaskMemory
from dcf.worker.try_budget import budgets_of
from dcf.worker.working_skills import FixedSkills, SkillsInUse, WorkingSkills
from dcf.workflow import AwaitingApproval, Failed, Outcome, Succeeded, Task

log = logging.getLogger(__name__)

# A call without a Task limit of its own still ends.
_TOOL_TIMEOUT_S = 60.0


class Performers(Protocol):
    """Who does a Task: agents that were made for it, or are there for it."""

    async def performer(self, task: Task) -> TaskPerformer:
        """What performs ``task``. Raises TaskError."""
        ...


class AgentTasks:
    """Performs Tasks that carry an AgentBinding.

    The skills of the binding, and those they need, are loaded for this Task alone, out of what
    ``skills`` are when it begins, and only as the run was submitted with them; nothing but what
    they declare, and the policy allows, can be called. Tool calls carry
    ``{workflow_id}/{path}/{visit}/{try}/{call}`` as idempotency key and the fence beside it.
    ``environment`` names the models. With ``workers`` each Task is done by an agent that has a
    memory, with ``contexts`` each agent is told what earlier runs showed.
    """

    def __init__(
        self,
        skills: WorkingSkills,
        runtime: TaskPerformer,
        store: Store,
        environment: Mapping[str, str],
        workers: Performers | None = None,
        contexts: RunContexts | None = None,
    ) -> None:
        self._skills = skills
        self._contexts = contexts
        self._runtime = runtime
        self._workers = workers
        self._store = store
        self._environment = environment

    async def perform(self, task: Task, beat: Beat) -> Outcome:
        """The outcome of ``task``."""
        async with self._skills.in_use() as in_use:
            return await self._perform(task, beat, in_use)

    async def _perform(self, task: Task, beat: Beat, in_use: SkillsInUse) -> Outcome:
        binding = task.state.binding or {}
        try:
            skills = in_use.gates.load(binding.get("skills", ()), task.run.pins)
            needed = in_use.gates.needed_by(skills, task.run.pins)
        except (UnknownSkill, ChangedSkill) as unavailable:
            return Failed("DCF.SkillUnavailable", str(unavailable))
        of_try, of_run = budgets_of(binding, task.run.budget, in_use.policy)
        ledger = await LeaseLedger.open(self._store, task.lease, of_try=of_try, of_run=of_run)
        memory = await self._contexts.memory_of(self._store, task) if self._contexts else None
        node = await memory.begin(task.lease.path) if memory else None
        dispatcher = Dispatcher(
            in_use.gates.gate((*skills, *needed)),
            in_use.toolbox,
            ledger,
            keep=keep_in(self._store, task.lease.workflow_id, lease=task.lease),
            node=node.called if node and memory and memory.is_offered else None,
        )
        work = _Work(task, dispatcher, beat)
        state = task.state.name
        selection = Selection.of(skills, self._environment, binding)
        context, found = await self._told(task, (*skills, *needed), memory, node, ledger)
        assignment = Assignment(
            state=state,
            instructions=task.state.comment,
            input=task.arguments,
            skills=skills,
            needed=needed,
            tool_name=binding.get("tool_name"),
            model=selection.selection.model,
            allowance=LeaseAllowance(self._store, task.lease, of_try, of_run),
            timeout_s=task.timeout_s,
            observed=context.text if context else "",
            found=found,
            notes=memory if memory and memory.is_offered else None,
        )
        try:
            performer = await self._workers.performer(task) if self._workers else self._runtime
            report = await performer.perform(assignment, work.call_tool, work.observe)
        except TaskError as error:
            if work.asked is None:
                if memory:
                    await memory.observe(state, work.calls)
                    await memory.note_failure(state, error.error, error.cause)
                if context is not None and self._contexts:
                    failure = f"{error.error}: {error.cause}"
                    task.afterwards.append(partial(self._contexts.count, context, task, failure))
                return selection.failed(error.error, error.cause, work.metrics())
        except (Exception, ApprovalRequired, BaseExceptionGroup, asyncio.CancelledError):
            # However a runtime ends when a call has to be approved. What ends the process does not
            # come here, and who cancels this work means it.
            here = asyncio.current_task()
            if work.asked is None or (here is not None and here.cancelling()):
                raise
        if work.asked is not None:
            await work.over()
            return AwaitingApproval(
                work.asked,
                journal=ledger.journal,
                granted=ledger.granted,
                metrics=work.metrics(),
                model_selection=selection.chosen,
            )
        if memory:
            await memory.observe(state, work.calls)
            await memory.keep(task, report.data)
        if context is not None and self._contexts:
            task.afterwards.append(partial(self._contexts.count, context, task))
        return selection.succeeded(
            Succeeded(report.data, report.summary, list(report.artifacts)),
            report,
            dispatcher.made,
        )

    async def _told(
        self,
        task: Task,
        skills: Sequence[Manifest],
        memory: TaskMemory | None,
        node: Node | None,
        ledger: LeaseLedger,
    ) -> tuple[Pack | None, str]:
        """What the agent is told of earlier work, and what was found for the Task. It is on record,
        or it is not told."""
        if self._contexts is None:
            return None, ""
        bundle = await self._contexts.bundle(task, skills, memory)
        if bundle is not None and not await ledger.tell(bundle.event):
            bundle = None
        told = bundle.observations if bundle is not None else ()
        context = await self._contexts.of(task, memory, node, told) if memory else None
        if context is not None and not await ledger.tell(context_event(context)):
            context = None
        return context, bundle.text if bundle else ""


class SkilledAgents(AgentTasks):
    """With skills that do not change. ``pins`` are the schemas of tools by ``server:tool``."""

    def __init__(
        self,
        catalog: SkillCatalog,
        toolbox: Toolbox,
        runtime: TaskPerformer,
        store: Store,
        *,
        policy: Policy | None = None,
        pins: Mapping[str, SchemaPin] | None = None,
        environment: Mapping[str, str] | None = None,
        workers: Performers | None = None,
        contexts: RunContexts | None = None,
    ) -> None:
        fixed = SkillsInUse.made_of(catalog, toolbox, policy or Policy(), pins or {})
        super().__init__(FixedSkills(fixed), runtime, store, environment or {}, workers, contexts)


class _Work:
    """One performance: how its calls are made, and what is known of it when it stops half way."""

    def __init__(self, task: Task, dispatcher: Dispatcher, beat: Beat) -> None:
        self._task = task
        self._dispatcher = dispatcher
        self._beat = beat
        self._spent: Mapping[str, Any] = {}
        self._under_way = 0
        self._over = asyncio.Event()
        self.asked: ApprovalRequest | None = None
        self.calls: list[AnsweredCall] = []
        """Those that were answered, for what they leave to be known."""

    async def call_tool(self, tool: SkillTool, arguments: dict[str, JSON]) -> ToolResult:
        """Make one call. One that has to be approved stops the work, whatever a runtime makes of
        that: nothing else is called after it."""
        if self.asked is not None:
            raise ApprovalRequired(self.asked)
        self._under_way += 1
        try:
            result = await self._dispatcher.call(
                tool.server_id,
                tool.tool_name,
                arguments,
                timeout_s=self._task.timeout_s or _TOOL_TIMEOUT_S,
            )
        except ApprovalRequired as required:
            self.asked = self.asked or required.request
            raise
        except ToolsError as error:
            self._note(tool, arguments, None, error.code)
            raise
        else:
            failed = (result.error or ToolsError.code) if result.is_error else None
            self._note(tool, arguments, result.data, failed)
            return result
        finally:
            self._under_way -= 1
            self._over.set()

    def _note(
        self, tool: SkillTool, arguments: dict[str, JSON], data: JSON, failed: str | None
    ) -> None:
        content = data if failed is None else {"error": {"code": failed}}
        self.calls.append(AnsweredCall(tool.tool_name, arguments, content, failed is not None))

    async def over(self) -> None:
        """Wait for calls that a runtime made at the same time and left alone: their answers belong
        into the journal of the question."""
        while self._under_way:
            self._over.clear()
            await self._over.wait()

    def observe(self, event: TurnEvent) -> None:
        """Any step is a sign of life; the last one of work that stops says what it used."""
        self._beat()
        self._spent = event.metrics or self._spent

    def metrics(self) -> dict[str, Any]:
        """What the work has used so far."""
        return {**self._spent, "tool_calls": self._dispatcher.made}
