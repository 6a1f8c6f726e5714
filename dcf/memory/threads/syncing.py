"""Bringing a thread up to date with its source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Any

from dcf.memory.audit.clean_text import clean
from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import data_problems, json_of, text_problems
from dcf.memory.entities import THREAD, THREAD_TURN
from dcf.memory.thread import STATUSES, NewThread, Synced, Thread, ToolUse, Turn
from dcf.problem import Problem


def thread_of(row: Row) -> Thread:
    """The thread in a row."""
    return Thread(**{field.name: row[field.name] for field in fields(Thread)})


def turn_of(row: Row) -> Turn:
    """The turn in a row."""
    tools = tuple(ToolUse(**one) for one in json.loads(row["tools"]))
    return Turn(row["number"], row["role"], row["text"], tools, row["at"])


def sync(journal: Journal, new: NewThread) -> Synced:
    """Keep the thread, or the turns that it has got since it was kept last. Turns that are kept
    stay as they are: what was cited does not change. A thread never gets shorter.

    It is a log itself: no events.
    """
    connection = journal.connection
    found = connection.execute(
        "SELECT * FROM threads WHERE source_type = ? AND source_id = ?",
        (new.source_type, new.source_id),
    ).fetchone()
    before = _begun(journal, new) if found is None else dict(found)
    ended = new.status != "active"
    after = {
        **before,
        "project": new.project or before["project"],
        "title": clean(new.title) or before["title"],
        "status": new.status,
        "turns": max(before["turns"], len(new.turns)),
        "completed_at": (before["completed_at"] or journal.at) if ended else None,
    }
    if after != before or found is None:
        after["updated_at"] = journal.at
    after = _write(journal, after, is_new=found is None)
    added = list(enumerate(new.turns, 1))[before["turns"] :]
    for number, one in added:
        turn = {**asdict(one), "tools": json_of([*map(asdict, one.tools)])}
        THREAD_TURN.insert(connection, {"thread_id": after["id"], "number": number, **turn})
    return Synced(thread_of(after), tuple(number for number, _ in added))


def problems(new: NewThread) -> Iterator[Problem]:
    """All that is wrong with a thread."""
    for name in ("source_type", "source_id"):
        yield from text_problems(f"/{name}", getattr(new, name), filled=True)
    for name in ("project", "title"):
        yield from text_problems(f"/{name}", getattr(new, name))
    if new.status not in STATUSES:
        yield Problem(
            "memory_thread_status",
            f"/status is {new.status!r}, not one of {', '.join(STATUSES)}",
            "/status",
        )
    for number, turn in enumerate(new.turns):
        yield from text_problems(f"/turns/{number}/role", turn.role, filled=True)
        yield from text_problems(f"/turns/{number}/text", turn.text)
        for place, tool in enumerate(turn.tools):
            path = f"/turns/{number}/tools/{place}"
            yield from text_problems(f"{path}/name", tool.name, filled=True)
            yield from data_problems(f"{path}/input", tool.input)
            yield from text_problems(f"{path}/output", tool.output)


def _begun(journal: Journal, new: NewThread) -> dict[str, Any]:
    return {
        "id": journal.new_id("thread"),
        "source_type": new.source_type,
        "source_id": new.source_id,
        "project": "",
        "title": "",
        "status": "active",
        "turns": 0,
        "started_at": journal.at if new.started_at is None else new.started_at,
        "completed_at": None,
        "updated_at": journal.at,
    }


def _write(journal: Journal, row: dict[str, Any], *, is_new: bool) -> dict[str, Any]:
    write = THREAD.insert if is_new else THREAD.replace
    return write(journal.connection, row)
