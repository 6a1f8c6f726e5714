"""Scratch pads and their rows. Without events: what stands on a pad is in no history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.clean_text import clean_change
from dcf.memory.audit.edit import digest_of
from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import LARGEST, refuse, text_problems
from dcf.memory.database import Connection
from dcf.memory.entities import SCRATCH_PAD
from dcf.memory.scratch_pad import PadOutcome, ScratchPad
from dcf.memory.scratch_pads.errors import NoScratchPad, PadFull
from dcf.problem import Problem


def pad_of(row: Row) -> ScratchPad:
    """The pad in a row."""
    return ScratchPad(**{field.name: row[field.name] for field in fields(ScratchPad)})


def open_row(connection: Connection, agent_id: str, task: str, now: int) -> dict[str, Any] | None:
    """The row of the open pad for a task, if there is one and its time is not over."""
    found = connection.execute(
        "SELECT * FROM scratch_pads WHERE agent_id = ? AND task = ? AND outcome IS NULL"
        " AND expires_at > ?",
        (agent_id, task, now),
    ).fetchone()
    return None if found is None else dict(found)


def begin_pad(
    journal: Journal, agent_id: str, task: str, *, most_bytes: int, ttl_ms: int
) -> ScratchPad:
    """The task's pad: an empty one, or the one of an earlier try that did not end.

    Raises UnknownAgent, InvalidEntry.
    """
    agent_row(journal.connection, agent_id)
    refuse("the scratch pad", _problems(task, most_bytes, ttl_ms))
    known = open_row(journal.connection, agent_id, task, journal.at)
    if known is not None:
        kept = {**known, "expires_at": journal.at + ttl_ms, "updated_at": journal.at}
        return pad_of(SCRATCH_PAD.replace(journal.connection, kept, known))
    end_expired(journal, agent_id=agent_id)
    row = {
        "id": journal.new_id("pad"),
        "agent_id": agent_id,
        "task": task,
        "value": "",
        "most_bytes": most_bytes,
        "writes": 0,
        "expires_at": journal.at + ttl_ms,
        "outcome": None,
        "bytes": 0,
        "digest": None,
        "created_at": journal.at,
        "ended_at": None,
        "updated_at": journal.at,
    }
    return pad_of(SCRATCH_PAD.insert(journal.connection, row))


def write_pad(journal: Journal, agent_id: str, task: str, value: str) -> ScratchPad:
    """The pad with the text ``value``. Raises NoScratchPad, InvalidEntry, PadFull."""
    row = open_row(journal.connection, agent_id, task, journal.at)
    if row is None:
        raise NoScratchPad(agent_id=agent_id, task=task)
    refuse("the scratch pad", text_problems("/value", value))
    value = clean_change(row["value"], value)
    size = len(value.encode())
    if size > row["most_bytes"]:
        raise PadFull(task=task, size=size, limit=row["most_bytes"])
    after = {
        **row,
        "value": value,
        "bytes": size,
        "writes": row["writes"] + (value != row["value"]),
        "updated_at": journal.at,
    }
    return pad_of(SCRATCH_PAD.replace(journal.connection, after, row))


def end_pad(journal: Journal, row: Row, outcome: PadOutcome) -> ScratchPad:
    """The pad has ended: its text is gone, and how it ended is kept."""
    after = {
        **row,
        "value": "",
        "digest": digest_of(row["value"]),
        "outcome": outcome,
        "ended_at": journal.at,
        "updated_at": journal.at,
    }
    return pad_of(SCRATCH_PAD.replace(journal.connection, after, row))


def end_task(journal: Journal, agent_id: str, task: str, outcome: PadOutcome) -> None:
    """The task is over: its pad ends, if it has one."""
    row = open_row(journal.connection, agent_id, task, journal.at)
    if row is not None:
        end_pad(journal, row, outcome)


def end_expired(journal: Journal, *, agent_id: str | None = None, most: int = -1) -> int:
    """End pads that nobody wrote on until their time was over, ``most`` of them at most; how
    many."""
    rows = _open_rows(
        journal.connection,
        "expires_at <= ? AND (? IS NULL OR agent_id = ?) LIMIT ?",
        journal.at,
        agent_id,
        agent_id,
        most,
    )
    for row in rows:
        end_pad(journal, row, "expired")
    return len(rows)


def _open_rows(connection: Connection, where: str, *values: object) -> list[dict[str, Any]]:
    rows = connection.execute(
        f"SELECT * FROM scratch_pads WHERE outcome IS NULL AND {where}", values
    )
    return [dict(row) for row in rows]


def _problems(task: str, most_bytes: int, ttl_ms: int) -> Iterator[Problem]:
    yield from text_problems("/task", task, filled=True)
    if not 0 < most_bytes <= LARGEST:
        yield Problem(
            "memory_scratch_pad_limit",
            f"most_bytes is {most_bytes:,}, not between 1 and {LARGEST:,}",
            "/most_bytes",
        )
    if ttl_ms < 1:
        yield Problem("memory_scratch_pad_ttl", "the pad would be over at once", "/ttl_ms")
