"""A passage of the archive: a text that is found by search, not shown in every context."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NewPassage:
    """What is put into the archive. ``salience`` (0 to 1) is how much it matters."""

    text: str
    tags: tuple[str, ...] = ()
    salience: float = 0.5
    source: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as it is kept; ``reads`` counts how often a search gave it to an agent. Times are
    ms since the epoch, UTC."""

    id: str
    agent_id: str
    text: str
    tags: tuple[str, ...]
    salience: float
    source: str
    reads: int
    read_at: int | None
    created_at: int
