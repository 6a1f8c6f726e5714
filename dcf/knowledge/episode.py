"""What is written: entities, facts between them, and the episodes that say so."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from dcf.knowledge.naming import edge_uuid, entity_uuid
from dcf.knowledge.schema import EntityLabel, EpisodeLabel, FactName

_COUNTING = 2
"""Grows when something else is counted of an episode: told again, it is then counted anew."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing that has a name. ``properties`` are its own, beside those that Graphiti wants."""

    label: EntityLabel
    name: str
    summary: str = ""
    properties: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def uuid(self) -> str:
        return entity_uuid(self.label, self.name)


@dataclass(frozen=True, slots=True)
class Fact:
    """What holds between two entities; ``text`` is the sentence that is searched."""

    name: FactName
    source: Entity
    target: Entity
    text: str

    @property
    def uuid(self) -> str:
        return edge_uuid(self.name, self.source.uuid, self.target.uuid)


@dataclass(frozen=True, slots=True)
class Tally:
    """What an outcome adds to the sums of each pair of a version and a task type."""

    ok: int
    duration_ms: int
    cost_usd: float
    tokens: int
    tries: int
    escalated: int


@dataclass(frozen=True)
class Episode:
    """Something that happened at ``at`` (ms): a node with what was measured (``properties``), the
    entities it ``mentions``, the ``facts`` it supports, and what it counts for (``versions`` at
    ``task``; ``tally`` None where nothing is counted). ``replaces`` says which run's earlier ends
    it takes the place of, (run, redrives)."""

    uuid: str
    label: EpisodeLabel
    name: str
    content: str
    at: int
    properties: Mapping[str, Any]
    mentions: tuple[Entity, ...]
    facts: tuple[Fact, ...]
    versions: tuple[Entity, ...] = ()
    task: Entity | None = None
    tally: Tally | None = None
    replaces: tuple[str, int] | None = None

    @property
    def day(self) -> str:
        """The UTC day that it is counted for."""
        return iso(self.at)[:10]

    @cached_property
    def digest(self) -> str:
        """What tells this account of it from another: what is counted, and where."""
        tally = self.tally
        told = [
            _COUNTING,
            self.at,
            sorted(fact.uuid for fact in self.facts),
            sorted(version.uuid for version in self.versions),
            self.task.uuid if self.task else None,
            [getattr(tally, name) for name in Tally.__slots__] if tally else None,
        ]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def iso(milliseconds: int) -> str:
    """An instant as Graphiti writes it: ISO 8601 in UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()
