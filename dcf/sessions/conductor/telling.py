"""What is told: rows of tasks, and texts that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dcf.sessions.conductor.reply import Reply, Row
from dcf.sessions.conductor.request import WELL, Item, Request
from dcf.sessions.conductor.waiting import Waits
from dcf.sessions.conductor.work import Work
from dcf.sessions.session import Session
from dcf.sessions.task import SessionTask

ROWS_SHOWN = 50
"""Rows of a table in a text; ``Reply.rows`` has all of them."""
_DESCRIPTION = 120
_RESULT = 400


def row_of_task(task: SessionTask, number: int | None = None) -> Row:
    """A task; without ``number`` one that nobody asked this conductor for."""
    error = task.error or {}
    seconds = None
    if task.started_at is not None and task.finished_at is not None:
        seconds = round((task.finished_at - task.started_at) / 1000, 3)
    said = f"{error.get('code')}: {error.get('message')}" if error else task.summary
    return Row(
        number=number,
        task_id=task.task_id,
        description=_cut(task.description, _DESCRIPTION),
        status=task.status,
        companion_id=task.companion_id or task.wanted,
        result=said,
        seconds=seconds,
        tries=max(1, len(task.attempts)),
        kind=task.kind,
        reference=task.reference,
        skills=task.skills,
    )


def row_of_item(item: Item, task: SessionTask | None, why: str | None = None) -> Row:
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
        data=item.data,
        why=why,
        skills=item.skills,
    )


def rows_of(work: Work, items: Iterable[Item]) -> tuple[Row, ...]:
    waits = Waits(work.draft.session(0), work.book, work.waits)
    found = [(item, work.task(item.task_id)) for item in items]
    return tuple(row_of_item(item, task, waits.why(item, task)) for item, task in found)


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| # | task | skill | companion | status | result | seconds |", f"|{'--|' * 7}"]
    for row in rows[:ROWS_SHOWN]:
        cells = (
            "" if row.number is None else str(row.number),
            row.description,
            _skills(row),
            row.companion_id or ("workers" if row.kind == "workflow" else ""),
            row.status,
            _cut(_result(row), _RESULT),
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
        text = _sum(request.items)
        if any(row.status != "cancelled" for row in rows):
            text = f"{text}\n\n{table(rows)}{_in_full(rows)}"
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
    """How the session stands, or what came of it: what was asked for, and how often somebody was
    given something for that."""
    counts = session.head.counts
    told = [
        f"{number} {name}"
        for name, number in (
            ("succeeded", counts.succeeded),
            ("partial", counts.partial),
            ("failed", counts.failed),
            ("cancelled", counts.cancelled),
            ("open", len([task for task in session.open_tasks if task.kind != "group"])),
        )
        if number
    ]
    asked = [row for row in rows if row.number is not None]
    done = sum(row.status in WELL for row in asked)
    said = [f"{done} of {len(asked)} tasks are done"] if asked else []
    said += [f"delegations: {', '.join(told)}" if asked else ", ".join(told)] if told else []
    who = ", ".join(
        f"{one.companion_id} {one.status}" for one in list(session.companions.values())[:20]
    )
    text = f"The session is {session.state}: {'; '.join(said) or 'no tasks'}."
    text += f"\nCompanions: {who}." if who else ""
    return f"{text}\n\n{table(rows)}" if rows else text


def _where(row: Row) -> str:
    """Where a task is, in words."""
    took = "" if row.seconds is None else f", {row.seconds:.1f} s"
    by = f" ({row.companion_id}{took})" if row.companion_id else ""
    match row.status:
        case "queued":
            return f"not begun: {row.why}{_with(row)}{_tries(row)}"
        case "assigned":
            why = f"; {row.why}" if row.why else ""
            return f"given to {row.companion_id or 'workers'}{_with(row)}{_tries(row)}{why}"
        case "held":
            return f"not begun: {row.why}"
        case "asked":
            return row.result or "it waits for an answer"
    result = _result(row)
    return f"{row.status}{by}: {result}" if result else f"{row.status}{by}"


def _result(row: Row) -> str:
    """Its summary or error and the beginning of what it put out; why it has none yet."""
    if row.status in ("queued", "assigned", "held"):
        return f"{row.why or 'under way'}{_tries(row)}"
    return ": ".join(filter(None, (row.result, row.data)))


def _skills(row: Row) -> str:
    """Its skills as people call them."""
    return ", ".join(one.removeprefix("skill.").partition("@")[0] for one in row.skills)


def _with(row: Row) -> str:
    return f" with {_skills(row)}" if row.skills else ""


def _in_full(rows: Sequence[Row]) -> str:
    """Where all of the results stand of which the table shows a part."""
    where = [f"{row.number}: {row.reference}" for row in rows[:ROWS_SHOWN] if row.reference]
    return f"\n\nIn full: {', '.join(where)}" if where else ""


def _tries(row: Row) -> str:
    if row.tries < 2 or row.result is None:
        return ""
    return f" (try {row.tries}, after {_cut(row.result, _RESULT)})"


def _sum(items: Sequence[Item]) -> str:
    left = [item for item in items if item.status not in WELL]
    well = len(items) - len(left)
    if len(items) == 1:
        [one] = items
        return (
            f"Task {one.number} was {one.status}."
            if one.status == "cancelled"
            else (f"Task {one.number} failed." if left else f"Task {one.number} is done.")
        )
    if not left:
        return f"All {well} tasks are done."
    names = ", ".join(f"task {item.number} ({item.status})" for item in left)
    return f"{well} of {len(items)} tasks are done; not done: {names}."


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
