"""What is told: rows of tasks, and texts that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dcf.sessions.conductor.reply import Reply, Row
from dcf.sessions.conductor.request import WELL, Item, Request
from dcf.sessions.conductor.work import Work
from dcf.sessions.session import Session
from dcf.sessions.task import SessionTask

ROWS_SHOWN = 50
"""Rows of a table in a text; ``Reply.rows`` has all of them."""
_DESCRIPTION = 120
_RESULT = 200


def row_of_task(task: SessionTask) -> Row:
    """A task that nobody asked this conductor for."""
    error = task.error or {}
    seconds = None
    if task.started_at is not None and task.finished_at is not None:
        seconds = round((task.finished_at - task.started_at) / 1000, 3)
    said = f"{error.get('code')}: {error.get('message')}" if error else task.summary
    return Row(
        number=None,
        task_id=task.task_id,
        description=_cut(task.description, _DESCRIPTION),
        status=task.status,
        companion_id=task.companion_id or task.wanted,
        result=said,
        seconds=seconds,
        tries=max(1, len(task.attempts)),
        kind=task.kind,
        reference=task.reference,
    )


def row_of_item(item: Item, task: SessionTask | None) -> Row:
    """What was asked for, with its task as it is now."""
    is_open = item.status == "open" and task is not None
    return Row(
        number=item.number,
        task_id=item.task_id,
        description=_cut(item.text, _DESCRIPTION),
        status=task.status if is_open and task is not None else item.status,
        companion_id=task.companion_id if is_open and task is not None else item.companion_id,
        result=item.question.text if item.status == "asked" and item.question else item.result,
        seconds=item.seconds,
        tries=max(1, item.given),
        kind=item.kind,
        reference=item.reference,
    )


def rows_of(work: Work, items: Iterable[Item]) -> tuple[Row, ...]:
    return tuple(row_of_item(item, work.task(item.task_id)) for item in items)


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| # | task | companion | status | result | seconds |", "|--|--|--|--|--|--|"]
    for row in rows[:ROWS_SHOWN]:
        cells = (
            "" if row.number is None else str(row.number),
            row.description,
            row.companion_id or ("workers" if row.kind == "workflow" else ""),
            row.status,
            _cut(row.result or "", _RESULT),
            "" if row.seconds is None else f"{row.seconds:.1f}",
        )
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    if len(rows) > ROWS_SHOWN:
        lines.append(f"\nand {len(rows) - ROWS_SHOWN} more")
    return "\n".join(lines)


def first_reply(work: Work, request: Request, said: str = "") -> Reply:
    """What is answered at once: what was given to whom, what waits, what is asked."""
    rows = rows_of(work, request.items)
    lines = [said] if said else []
    lines += [f"**{row.number}** {row.description}: {_where(row)}" for row in rows]
    return Reply(
        request=request.request_id,
        text="\n".join(lines),
        task_ids=tuple(work.delegated),
        rows=rows,
        questions=_questions(request.items),
        fired=tuple(work.fired),
        is_last=not request.is_open,
    )


def later_reply(work: Work, request: Request, news: Sequence[Item]) -> Reply:
    """What came since; everything, in a table, when nothing is open any more."""
    is_last = all(item.is_over for item in request.items)
    numbers = {item.number for item in request.items}
    rows = rows_of(work, request.items if is_last else news)
    if is_last:
        text = f"{_sum(request.items)}\n\n{table(rows)}"
    else:
        text = "\n".join(f"**{row.number}** {row.description}: {_where(row)}" for row in rows)
    return Reply(
        request=request.request_id,
        text=text,
        task_ids=tuple(
            row.task_id for row in rows if row.task_id in work.delegated and row.task_id
        ),
        rows=rows,
        questions=_questions(news),
        fired=tuple(one for one in work.fired if one.task in numbers),
        is_last=is_last,
    )


def session_text(session: Session, rows: Sequence[Row]) -> str:
    """How the session stands, or what came of it."""
    counts = session.head.counts
    told = [
        f"{number} {name}"
        for name, number in (
            ("succeeded", counts.succeeded),
            ("partial", counts.partial),
            ("failed", counts.failed),
            ("cancelled", counts.cancelled),
        )
        if number
    ]
    still = len([task for task in session.open_tasks if task.kind != "group"])
    told += [f"{still} open"] if still else []
    ended = ", ".join(told) or "no tasks"
    who = ", ".join(
        f"{one.companion_id} {one.status}" for one in list(session.companions.values())[:20]
    )
    text = f"The session is {session.state}: {ended}."
    text += f"\nCompanions: {who}." if who else ""
    return f"{text}\n\n{table(rows)}" if rows else text


def _where(row: Row) -> str:
    """Where a task is, in words."""
    took = "" if row.seconds is None else f", {row.seconds:.1f} s"
    by = f" ({row.companion_id}{took})" if row.companion_id else ""
    match row.status:
        case "queued":
            return f"waits until somebody is free, or what it follows is done{_tries(row)}"
        case "assigned":
            return f"given to {row.companion_id or 'workers'}{_tries(row)}"
        case "held":
            return "waits for an answer, or for what it follows"
        case "asked":
            return row.result or "waits for an answer"
        case "dropped":
            return "not done: it was dropped"
    result = f": {row.result}" if row.result else ""
    return f"{row.status}{by}{result}"


def _tries(row: Row) -> str:
    if row.tries < 2 or row.result is None:
        return ""
    return f" (try {row.tries}, after {_cut(row.result, _RESULT)})"


def _sum(items: Sequence[Item]) -> str:
    well = sum(item.status in WELL for item in items)
    if well == len(items):
        return "It is done." if well == 1 else f"All {well} tasks are done."
    left = ", ".join(f"{item.number} {item.status}" for item in items if item.status not in WELL)
    return f"{well} of {len(items)} tasks are done; {left}."


def _questions(items: Iterable[Item]) -> tuple[str, ...]:
    return tuple(
        f"{item.number}: {item.question.text}"
        for item in items
        if item.status == "asked" and item.question is not None
    )


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _cut(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"
