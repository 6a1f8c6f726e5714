"""Bringing threads up to date with their source."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection
from dcf.memory.entities import THREAD, THREAD_TURN
from dcf.memory.search.indexing import forget_old, index_new
from dcf.memory.thread import NewTurn, Synced, Thread, ToolUse, Turn
from dcf.memory.threads.piece import (
    Ended,
    Mark,
    Piece,
    Said,
    clean_outline,
    clean_turn,
    mark_of,
    tools_of,
)
from dcf.memory.threads.placing import KeptTurn, placed

_PLACED = "UPDATE thread_turns SET place = ?, standing = ? WHERE thread_id = ? AND number = ?"


def thread_of(row: Row) -> Thread:
    """The thread in a row."""
    return Thread(**{field.name: row[field.name] for field in fields(Thread)})


def turn_of(row: Row) -> Turn:
    """The turn in a row."""
    tools = tuple(ToolUse(**one) for one in json.loads(row["tools"]))
    known = {field.name: row[field.name] for field in fields(Turn) if field.name != "tools"}
    return Turn(**known, tools=tools)


@dataclass(slots=True)
class _Seen:
    """What was said of a thread so far."""

    marks: list[Mark] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    times: Counter[Mark] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Noted:
    """``said``, for the ``times``-th time in its thread."""

    said: Said
    mark: Mark
    times: int


@dataclass(slots=True)
class Syncing:
    """The threads of one source, on their way into the memory. Turns are kept as they are said, and
    placed when their thread ends: what dies in between leaves turns without a place, which the next
    sync finds again."""

    source_type: str
    _seen: dict[str, _Seen] = field(default_factory=lambda: defaultdict(_Seen))

    def note(self, pieces: Iterable[Piece]) -> list[_Noted | Ended]:
        """What ``work`` takes."""
        noted: list[_Noted | Ended] = []
        for piece in pieces:
            if isinstance(piece, Ended):
                noted.append(replace(piece, outline=clean_outline(piece.outline)))
                continue
            said = replace(piece, turn=clean_turn(piece.turn))
            seen, mark = self._seen[piece.source_id], mark_of(said.turn)
            seen.marks.append(mark)
            seen.nodes.append(piece.node)
            seen.times[mark] += 1
            noted.append(_Noted(said, mark, seen.times[mark]))
        return noted

    def work(self, journal: Journal, noted: Sequence[_Noted | Ended]) -> tuple[Synced, ...]:
        """Keep what is new, and place the turns of the threads that end. Doing so twice is the same
        as doing so once. Threads are a log: no events."""
        rows: dict[str, dict[str, Any]] = {}
        done = []
        for one in noted:
            source_id = one.outline.source_id if isinstance(one, Ended) else one.said.source_id
            if source_id not in rows:
                rows[source_id] = _row(journal, self.source_type, source_id)
            if isinstance(one, Ended):
                done.append(self._end(journal, one, rows.pop(source_id)))
            else:
                _keep(journal.connection, rows[source_id], one)
        for row in rows.values():
            THREAD.replace(journal.connection, row)
        return tuple(done)

    def forget(self, noted: Sequence[_Noted | Ended]) -> None:
        """Let go of the threads that ended."""
        for one in noted:
            if isinstance(one, Ended):
                self._seen.pop(one.outline.source_id, None)

    def _end(self, journal: Journal, ended: Ended, row: dict[str, Any]) -> Synced:
        outline, seen = ended.outline, self._seen[ended.outline.source_id]
        kept = _kept(journal.connection, row["id"])
        now = placed(kept, seen.marks, [node in ended.left for node in seen.nodes])
        changed = [one for one, before in zip(now, kept, strict=True) if one != before]
        over = outline.status != "active"
        after = {
            **row,
            "project": outline.project or row["project"],
            "title": outline.title or row["title"],
            "parent": outline.parent or row["parent"],
            "status": outline.status,
            "current": sum(one.standing == "current" for one in now),
            "started_at": row["started_at"] if outline.started_at is None else outline.started_at,
            "completed_at": (row["completed_at"] or journal.at) if over else None,
        }
        if after != row or changed:
            after["updated_at"] = journal.at
        moved = after["project"] != row["project"]
        before, current = _current(kept), _current(now)
        left, come = (before, current) if moved else (before - current, current - before)
        forget_old(journal.connection, "thread", _searched(journal.connection, row["id"], left))
        journal.connection.executemany(
            _PLACED, [(one.place, one.standing, row["id"], one.number) for one in changed]
        )
        THREAD.replace(journal.connection, after)
        index_new(journal.connection, "thread", _searched(journal.connection, row["id"], come))
        arrived = {one.number for one in kept if one.standing == "arriving"}
        new = (one.number for one in now if one.number in arrived and one.place is not None)
        passed = (one.number for one in changed if one.standing != "current")
        return Synced(
            thread_of(after), tuple(new), tuple(one for one in passed if one not in arrived)
        )


def _row(journal: Journal, source_type: str, source_id: str) -> dict[str, Any]:
    """The row of the thread, made if it is missing."""
    found = journal.connection.execute(
        "SELECT * FROM threads WHERE source_type = ? AND source_id = ?", (source_type, source_id)
    ).fetchone()
    if found is not None:
        return dict(found)
    row = {
        "id": journal.new_id("thread"),
        "source_type": source_type,
        "source_id": source_id,
        "project": "",
        "title": "",
        "parent": "",
        "status": "active",
        "turns": 0,
        "current": 0,
        "started_at": journal.at,
        "completed_at": None,
        "updated_at": journal.at,
    }
    return THREAD.insert(journal.connection, row)


def _keep(connection: Connection, row: dict[str, Any], noted: _Noted) -> None:
    """Keep the turn, unless as many like it are kept as were said by now."""
    turn, mark = noted.said.turn, noted.mark
    like = connection.execute(
        # Left to itself, SQLite may read the whole thread for each of its turns.
        "SELECT count(*) FROM thread_turns INDEXED BY thread_turns_marked"
        " WHERE thread_id = ? AND digest = ? AND key = ?",
        (row["id"], mark.digest, mark.key),
    ).fetchone()[0]
    if like >= noted.times:
        return
    row["turns"] += 1
    _insert(connection, row["id"], row["turns"], mark, turn)


def _insert(connection: Connection, thread_id: str, number: int, mark: Mark, turn: NewTurn) -> None:
    row = {
        "thread_id": thread_id,
        "number": number,
        "role": turn.role,
        "text": turn.text,
        "tools": tools_of(turn),
        "at": turn.at,
        "key": mark.key,
        "digest": mark.digest,
        "place": None,
        "standing": "arriving",
    }
    THREAD_TURN.insert(connection, row)


def _current(turns: Iterable[KeptTurn]) -> set[int]:
    """The numbers of those that stand at their source."""
    return {one.number for one in turns if one.standing == "current"}


def _searched(connection: Connection, thread_id: str, numbers: set[int]) -> list[Row]:
    """The rows of turns as they are searched."""
    rows = connection.execute(
        "SELECT * FROM searched_turns WHERE thread_id = ?"
        " AND seq IN (SELECT value FROM json_each(?)) ORDER BY seq",
        (thread_id, json.dumps(sorted(numbers))),
    )
    return [dict(row) for row in rows]


def _kept(connection: Connection, thread_id: str) -> list[KeptTurn]:
    rows = connection.execute(
        "SELECT number, key, digest, place, standing FROM thread_turns"
        " WHERE thread_id = ? ORDER BY number",
        (thread_id,),
    )
    return [
        KeptTurn(row["number"], Mark(row["key"], row["digest"]), row["place"], row["standing"])
        for row in rows
    ]
