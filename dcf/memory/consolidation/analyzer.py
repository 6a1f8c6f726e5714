"""Analysing an agent's memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dcf.memory.audit.event import Event
from dcf.memory.audit.history import Query, newest_first
from dcf.memory.consolidation.analysis import Analysis, BlockUse, Suggestion
from dcf.memory.consolidation.measuring import Measure
from dcf.memory.consolidation.plan import Plan
from dcf.memory.consolidation.settings import DAY_MS
from dcf.memory.consolidation.snapshot import Snapshot
from dcf.memory.database import Connection

SINCE_MS = 30 * DAY_MS
"""The time in which growth is looked at."""
_EVENTS = 1_000
"""The newest events of a block, which tell its growth."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What a block gained, in bytes, and how often it was written."""

    gained: int = 0
    writes: int = 0


def growth(connection: Connection, now: Snapshot) -> dict[str, Growth]:
    """The growth of each block, by its id."""
    found = {}
    for block in now.blocks:
        query = Query(entity="block", entity_id=block.row["id"], since=now.at - SINCE_MS)
        found[block.row["id"]] = _growth(newest_first(connection, query, limit=_EVENTS))
    return found


def active_at(connection: Connection, agent_id: str) -> int | None:
    """When the agent was last active; None if never. Consolidations and what undoes them are no
    activity, nor are summaries."""
    said = connection.execute(
        "SELECT created_at AS at FROM messages WHERE agent_id = ? AND role <> 'summary'"
        " ORDER BY seq DESC LIMIT 1",
        (agent_id,),
    ).fetchone()
    changed = connection.execute(
        "SELECT at FROM events WHERE agent_id = ? AND consolidation_id IS NULL"
        " AND operation <> 'rolled_back' ORDER BY seq DESC LIMIT 1",
        (agent_id,),
    ).fetchone()
    return max((row["at"] for row in (said, changed) if row is not None), default=None)


def analysis(
    now: Snapshot, measure: Measure, grown: dict[str, Growth], active: int | None, plan: Plan
) -> Analysis:
    """What a snapshot comes to; ``plan`` is what a consolidation would do by rules."""
    redundant = measure.redundancy(now.blocks)
    return Analysis(
        agent_id=now.agent_id,
        at=now.at,
        active_at=active,
        metrics=measure.metrics(now),
        blocks=tuple(
            BlockUse(
                block_id=block.row["id"],
                label=block.label,
                size=block.size,
                target=block.target,
                growth=grown[block.row["id"]].gained,
                writes=grown[block.row["id"]].writes,
                redundant=redundant.get(block.label, 0),
                updated_at=block.row["updated_at"],
                untouched=block.untouched,
            )
            for block in now.blocks
        ),
        suggestions=tuple(
            Suggestion(one.strategy, one.label, one.before - one.after, one.reason)
            for one in plan.changes
        ),
    )


def _growth(events: Iterable[Event]) -> Growth:
    gained = writes = 0
    for event in events:
        if "created" in event.change:
            gained += len(event.change["created"]["value"].encode())
        edit = event.change.get("changed", {}).get("value")
        if edit is not None:
            gained += len(edit["added"].encode()) - len(edit["removed"].encode())
            writes += 1
    return Growth(gained, writes)
