"""``dcf session task``: all of one task."""

from __future__ import annotations

import json
from typing import Any

from rich.table import Table
from rich.text import Text

from control_plane import UnknownRun
from dcf.cli.answer import Answer
from dcf.cli.board_table import seconds_text
from dcf.cli.screen import Screen
from dcf.cli.session.board import SessionBoard, read_board
from dcf.cli.session.numbers import task_ids
from dcf.cli.session.opening import Desk, open_desk
from dcf.cli.session.result import TaskResult, result_of
from dcf.cli.session.tables import status_text
from dcf.cli.settings import Settings
from dcf.sessions import SessionTask
from dcf.workflow import Explanation, explain, iso


async def show_task(session_id: str, task_id: str, settings: Settings, screen: Screen) -> Answer:
    """The task, its attempts, why it waits, and its result."""
    async with open_desk(settings, screen) as desk:
        [found] = await task_ids(desk, session_id, [task_id])
        return await task_answer(desk, session_id, found)


async def task_answer(desk: Desk, session_id: str, task_id: str) -> Answer:
    """All there is to say about one task. Raises UnknownTask."""
    session = await desk.get(session_id)
    task = await desk.sessions.task(session_id, task_id)
    board = await read_board(desk.sessions, session, [task])
    found = await _explained(desk, task)
    result = await result_of(desk.sessions.store, task)
    fields = {
        "session_id": session_id,
        **board.rows[0].to_json(),
        "input": task.input,
        "reason": task.reason,
        "attempts": [
            {"companion_id": one.companion_id, "at": iso(one.at), "why": one.why, "lost": one.lost}
            for one in task.attempts
        ],
        "children": list(task.children),
        "model_selection": task.selection,
        "run": None if found is None else found.to_json(),
        "result": result.to_json(),
    }
    return Answer(fields, [_table(board, task, found, result)], task.status)


async def _explained(desk: Desk, task: SessionTask) -> Explanation | None:
    """What its run says, None where it has none."""
    if task.first_at is None or task.kind == "group":
        return None
    try:
        run = await desk.sessions.store.run(task.task_id)
        return await explain(desk.sessions.store_of(run.pool), task.task_id)
    except UnknownRun:
        return None


def _table(
    board: SessionBoard, task: SessionTask, found: Explanation | None, result: TaskResult
) -> Table:
    row = board.rows[0]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in (
        ("task", Text(task.task_id, "bold")),
        ("number", Text("" if row.number is None else str(row.number))),
        ("of session", Text(board.session.session_id)),
        ("what", Text(task.description)),
        ("kind", Text(_kind(task))),
        ("status", status_text(row.status)),
        ("companion", Text(row.companion)),
        ("skills", Text(", ".join(task.skills))),
        ("input", Text("" if task.input in (None, {}) else _json(task.input))),
        ("after", Text(", ".join(task.after))),
        ("broadcast to", Text(", ".join(task.children))),
        ("deadline", Text(_deadline(board, task))),
        ("in all", Text(seconds_text(row.seconds))),
        *(("assigned to", Text(_attempt(one.companion_id, one.why))) for one in task.attempts),
        ("why", Text(row.found if task.is_open else "")),
        ("run", Text(found.summary if found is not None else "")),
        *(("", Text(_help(one.why, one.command))) for one in (found.reasons if found else ())),
        ("error", Text(row.found if task.error else "", "red")),
        ("result", Text(result.summary or "")),
        ("", Text(result.missing or "", "red")),
        ("data", Text("" if result.data is None else _json(result.data))),
    ):
        if value.plain:
            table.add_row(name, value)
    return table


def _kind(task: SessionTask) -> str:
    kind = {"workflow": "a workflow for workers", "group": "a broadcast"}.get(task.kind, "a task")
    return f"{kind}, {task.task_type}, priority {task.priority}"


def _deadline(board: SessionBoard, task: SessionTask) -> str:
    if not task.is_open:
        return ""
    left = (task.deadline_at - board.now) / 1000
    return f"in {seconds_text(left)}" if left > 0 else "it has passed"


def _attempt(companion_id: str, why: str | None) -> str:
    return f"{companion_id}: {why}" if why else companion_id


def _help(why: str, command: str | None) -> str:
    return f"{why}: {command}" if command else why


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
