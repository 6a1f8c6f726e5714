"""The memory of Tasks that somebody outside works on: the tools beside those of skills, and what
stays of the work's end. As an agent of a worker has it, where the workflow says ``memory``."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, replace
from typing import Any

from control_plane import Store
from dcf.agents import NOTE_TOOLS, answer_notes
from dcf.mcp.platform import Platform
from dcf.memory import Actor, MemoryProblem, project_of_runs
from dcf.tools import ToolResult
from dcf.worker import TaskMemory, chooses_memory, task_memory
from dcf.workflow import Failed, Outcome, Succeeded, Task

log = logging.getLogger(__name__)


async def notes_of(platform: Platform, store: Store, task: Task) -> TaskMemory | None:
    """The memory of a Task whose workflow chooses it, written to by who holds the lease; None for
    any other. Raises LeaseLost, a MemoryProblem."""
    if not chooses_memory(task.run.machine, task.lease.path):
        return None
    memory = (await platform.home()).memory
    found = await task_memory(store, memory, project_of_runs(platform.config.generated), task)
    by = Actor("agent", task.lease.owner, f"task {task.state.name}")
    return None if found is None else found.signed(by)


async def offered_notes(platform: Platform, store: Store, task: Task) -> dict[str, Any] | None:
    """What whoever takes a lease is told: ``{node, tools}``. Raises as ``notes_of``."""
    notes = await notes_of(platform, store, task)
    if notes is None:
        return None
    node = await notes.begin(task.lease.path)
    tools = [asdict(one) for one in NOTE_TOOLS.values()]
    return {"node": None if node is None else node.called, "tools": tools}


async def call_notes(
    platform: Platform, store: Store, task: Task, name: str, arguments: dict[str, Any], call_id: str
) -> ToolResult | None:
    """What one of the tools answers; None where ``name`` is none of them, or the Task has no
    memory. The same ``call_id`` under one lease writes once. Raises as ``notes_of``."""
    notes = await notes_of(platform, store, task) if name in NOTE_TOOLS else None
    if notes is None:
        return None
    call = f"{task.lease.idempotency_key}/{call_id}"
    answered = await answer_notes(replace(notes, call=call), name, arguments)
    text = json.dumps(answered.content, ensure_ascii=False)
    is_error = answered.error is not None
    return ToolResult(answered.content, text, is_error=is_error, error=answered.error)


async def keep_end(platform: Platform, store: Store, outcome: Outcome, task: Task) -> None:
    """Keep in the Task's node what its workflow says of the result, or why it failed, before the
    lease ends with it. What keeps that from being kept is reported: the work is done."""
    try:
        notes = await notes_of(platform, store, task)
    except MemoryProblem as problem:
        log.warning("%s ends without its node of the memory: %s", task.lease.path, problem)
        return
    if notes is not None and isinstance(outcome, Succeeded):
        await notes.keep(task, outcome.result)
    elif notes is not None and isinstance(outcome, Failed):
        await notes.note_failure(task.state.name, outcome.error or "", outcome.cause or "")
