"""An event: one change of one row, who made it and why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcf.memory.actor import Actor, ActorKind
from dcf.memory.audit.entity import Row
from dcf.memory.database import unpacked


@dataclass(frozen=True, slots=True)
class Event:
    """``seq`` grows through the whole file. ``operation`` is ``created``, ``updated``, ``deleted``,
    ``attached``, ``detached``, ``linked``, ``unlinked``, ``entered``, ``left`` or ``rolled_back``
    (the row is again as it was just after the event ``back_to``); ``change`` is as change.py says.
    ``agent_id`` is the agent through which it was done, ``label`` what the block is for it. ``at``
    is in ms since the epoch, UTC."""

    seq: int
    at: int
    by: Actor
    operation: str
    entity: str
    entity_id: str
    agent_id: str | None
    label: str | None
    change: Mapping[str, Any]
    consolidation_id: str | None
    back_to: int | None

    @classmethod
    def of(cls, row: Row) -> Event:
        """The event in a row of ``events`` with all its columns, or of the same with ``change`` as
        data. Texts that a consolidation compressed are there as before."""
        kind: ActorKind = row["actor_kind"]
        change = row["change"]
        if isinstance(change, str):
            change = unpacked(json.loads(change), row["packed"])
        return cls(
            seq=row["seq"],
            at=row["at"],
            by=Actor(kind, row["actor"], row["reason"]),
            operation=row["operation"],
            entity=row["entity"],
            entity_id=row["entity_id"],
            agent_id=row["agent_id"],
            label=row["label"],
            change=change,
            consolidation_id=row["consolidation_id"],
            back_to=row["back_to"],
        )
