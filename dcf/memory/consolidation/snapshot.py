"""What a consolidation reads of an agent's memory, of one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dcf.memory.agents.finding import agent_row
from dcf.memory.blocks.finding import held_rows, holders_of, paths_with
from dcf.memory.consolidation.settings import DAY_MS, ConsolidationSettings
from dcf.memory.context.assembly import assemble
from dcf.memory.context.errors import ContextTooSmall
from dcf.memory.context.rendering import system_text
from dcf.memory.database import Connection
from dcf.memory.messages.finding import live_rows
from dcf.memory.messages.pairs import halves
from dcf.memory.messages.pricing import OVERHEAD

PASSAGES = 5_000
"""The newest passages of an agent, which are compared with one another."""
_TO_PACK = (
    " FROM events WHERE agent_id = ? AND at < ? AND packed IS NULL AND length(change) >= 1024"
)


_BYTES = 12
"""No text has so many for a token. Counting the tokens of a text that is far too large takes
seconds, and tells no more."""


@dataclass(frozen=True, slots=True)
class HeldBlock:
    """A block as the agent holds it. ``untouched`` says why it is left alone (None: it is not)."""

    label: str
    row: Mapping[str, Any]
    target: int
    untouched: str | None

    @property
    def size(self) -> int:
        return len(self.row["value"].encode())


@dataclass(frozen=True, slots=True)
class Snapshot:
    """``live`` are the messages that stand in the context if there is room, ``outside`` the numbers
    of those for which there is none; ``unfinished`` is the first message of a turn that is under
    way (None: none is). ``history_bytes`` are those of events that could be compressed."""

    agent: Mapping[str, Any]
    at: int
    blocks: tuple[HeldBlock, ...]
    passages: tuple[Mapping[str, Any], ...]
    passage_count: int
    live: tuple[Mapping[str, Any], ...]
    outside: frozenset[int]
    unfinished: int | None
    history_bytes: int

    @property
    def agent_id(self) -> str:
        return str(self.agent["id"])


def snapshot(
    connection: Connection, agent_id: str, settings: ConsolidationSettings, at: int
) -> Snapshot:
    """What there is of an agent at ``at``. Raises UnknownAgent."""
    agent = agent_row(connection, agent_id)
    live = live_rows(connection, agent_id)
    count = connection.execute(
        "SELECT count(*) FROM passages WHERE agent_id = ?", (agent_id,)
    ).fetchone()[0]
    packable = connection.execute(
        f"SELECT coalesce(sum(length(change)), 0){_TO_PACK}",
        (agent_id, at - settings.compress_after_ms),
    ).fetchone()[0]
    return Snapshot(
        agent=agent,
        at=at,
        blocks=tuple(held_blocks(connection, agent_id, settings)),
        passages=_passages(connection, agent_id),
        passage_count=count,
        live=tuple(live),
        outside=_outside(connection, agent_id, live),
        unfinished=_unfinished(connection, agent_id, at),
        history_bytes=packable,
    )


def held_blocks(
    connection: Connection, agent_id: str, settings: ConsolidationSettings
) -> list[HeldBlock]:
    """The agent's blocks, in their order."""
    return [
        HeldBlock(
            label,
            row,
            settings.target(row["soft_limit"], row["hard_limit"]),
            untouched(connection, row),
        )
        for label, row in held_rows(connection, agent_id)
    ]


def untouched(connection: Connection, row: Mapping[str, Any]) -> str | None:
    """Why a block is left alone; None if it is not."""
    if row["read_only"]:
        return "it is read-only"
    if row["type"] == "shared":
        return "it is a shared block"
    if paths_with(connection, row["id"]):
        return "it is a project's block"
    others = len({agent_id for agent_id, _ in holders_of(connection, row["id"])}) - 1
    if others > 0:
        return f"{others} other agent{'s' if others > 1 else ''} hold{'' if others > 1 else 's'} it"
    return None


def packable_rows(
    connection: Connection, agent_id: str, before: int, limit: int, size: int
) -> Sequence[Mapping[str, Any]]:
    """(seq, label, change) of events of an agent that could be compressed, the oldest first: at
    most ``limit``, and none after those with ``size`` characters."""
    rows = connection.execute(
        f"SELECT seq, label, change{_TO_PACK} ORDER BY at, seq LIMIT ?", (agent_id, before, limit)
    )
    found = []
    for row in rows:
        found.append(row)
        size -= len(row["change"])
        if size <= 0:
            break
    rows.close()
    return found


def _passages(connection: Connection, agent_id: str) -> tuple[Mapping[str, Any], ...]:
    rows = connection.execute(
        "SELECT * FROM passages WHERE agent_id = ? ORDER BY created_at DESC, id DESC LIMIT ?",
        (agent_id, PASSAGES),
    )
    return tuple(dict(row) for row in rows)[::-1]


def _outside(
    connection: Connection, agent_id: str, live: Sequence[Mapping[str, Any]]
) -> frozenset[int]:
    torn = halves(live)
    agent = agent_row(connection, agent_id)
    text = system_text(agent["system"], held_rows(connection, agent_id))
    # A token is at least one byte: where that is little enough, none need be counted.
    size, window = len(text.encode()), agent["context_window"]
    if size + OVERHEAD + sum(row["tokens"] for row in live) <= window:
        return frozenset()
    if size <= _BYTES * window:
        with suppress(ContextTooSmall):
            return frozenset(assemble(connection, agent_id).overflow)
    return frozenset(row["seq"] for row in live) - torn


def _unfinished(connection: Connection, agent_id: str, at: int) -> int | None:
    # One that has been under way for a day is of a process that has gone away.
    row = connection.execute(
        "SELECT min(first) FROM turns WHERE agent_id = ? AND state = 'running' AND updated_at > ?",
        (agent_id, at - DAY_MS),
    ).fetchone()
    found: int | None = row[0]
    return found
