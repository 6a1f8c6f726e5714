"""``dcf session delegate``: one task, given by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED, INTERRUPTED, OK
from dcf.cli.input_source import read_input, read_text
from dcf.cli.screen import Screen
from dcf.cli.session.attendants import Attendants
from dcf.cli.session.board import SessionBoard, read_board
from dcf.cli.session.numbers import task_ids
from dcf.cli.session.opening import Desk, open_desk
from dcf.cli.session.result import result_of
from dcf.cli.session.serving import who_serves
from dcf.cli.session.watching import follow_session
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.sessions import DEADLINE_S, DONE, Order, SessionTask, why_it_waits


@dataclass(frozen=True, slots=True)
class Delegation:
    """The command line of ``dcf session delegate``. ``context`` is tokens."""

    session_id: str
    description: str
    companion_id: str | None
    specialization: str | None
    skills: Sequence[str]
    given: str | None
    after: Sequence[str]
    priority: str
    timeout_s: float = DEADLINE_S
    task_type: str | None = None
    task_id: str | None = None
    workflow: Path | None = None
    context: int | None = None
    wait: bool = False


async def delegate_task(asked: Delegation, settings: Settings, screen: Screen) -> Answer:
    """Delegate; with ``wait`` until the task is over, which it may fail by."""
    value = read_input(asked.given)
    document = None if asked.workflow is None else read_text(asked.workflow)
    problems = [*value.problems, *(document.problems if document is not None else ())]
    if problems:
        raise BadInput(problems)
    async with open_desk(settings, screen) as desk:
        order = Order(
            description=asked.description,
            by=await desk.conductor(asked.session_id),
            companion_id=asked.companion_id,
            specialization=asked.specialization,
            skills=asked.skills,
            input=value.value,
            priority=asked.priority,
            timeout_s=asked.timeout_s,
            after=await task_ids(desk, asked.session_id, asked.after),
            task_type=asked.task_type,
            task_id=asked.task_id,
            workflow=None if document is None else document.value,
            context=None if asked.context is None else {"budget": asked.context},
        )
        task = await desk.sessions.delegate(asked.session_id, order)
        if asked.wait:
            return await _wait(desk, asked.session_id, task.task_id, screen)
        session = await desk.get(asked.session_id)
        unserved = await who_serves(desk, await read_board(desk.sessions, session))
    why = why_it_waits(session, task) if task.status == "queued" else None
    fields = {**_fields(asked.session_id, task), "waits": why}
    show = [f"{task.task_id}: {task.status}" + (f" ({why})" if why else "")]
    if task.companion_id:
        show = [f"{task.task_id}: {task.companion_id} has it"]
    show += [unserved] if unserved else []
    return Answer(fields, [*show, f"dcf session task {asked.session_id} {task.task_id}"])


async def _wait(desk: Desk, session_id: str, task_id: str, screen: Screen) -> Answer:
    async def over(board: SessionBoard) -> bool:
        task = board.session.tasks.get(task_id)
        return task is None or not task.is_open

    try:
        async with Attendants(desk, session_id, screen):
            await follow_session(desk, session_id, screen, over)
    except asyncio.CancelledError:
        task = await desk.sessions.task(session_id, task_id)
        hint = f"`dcf session task {session_id} {task_id}` says how it stands"
        note = ErrorNote("interrupted", f"stopped waiting for {task_id}; it stays delegated", hint)
        fields = _fields(session_id, task)
        return Answer(fields, status=task.status, error=note, exit_code=INTERRUPTED)
    task = await desk.sessions.task(session_id, task_id)
    result = await result_of(desk.sessions.store, task)
    fields = {**_fields(session_id, task), "result": result.to_json()}
    if task.status in DONE:
        return Answer(fields, result.shown, task.status, exit_code=OK)
    error = task.error or {"code": task.status, "message": task.reason or task.status}
    hint = f"`dcf session task {session_id} {task_id}` says more"
    note = ErrorNote(error["code"], f"{task_id} {task.status}: {error['message']}", hint)
    return Answer(fields, status=task.status, error=note, exit_code=FAILED)


def _fields(session_id: str, task: SessionTask) -> dict[str, Any]:
    return {
        "session_id": session_id,
        "task_id": task.task_id,
        "task_status": task.status,
        "companion_id": task.companion_id,
        "summary": task.summary,
        "result_ref": task.reference,
    }
