"""An observation: something that happened and is worth knowing again, told in layers.

Who looks for something reads the index first (``row_of``, some 30 tokens each), then the details of
what looks useful, and the source itself if that does not do.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcf.observing import Artifact, Concept, ObservationType


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something is known from: the kind of source, which one, and the turn in it, from 1."""

    source_type: str
    source_id: str
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class NewObservation:
    """What is to be remembered. ``related`` are the URIs of other observations; ``at`` is when it
    happened, in ms since the epoch, UTC (None: now)."""

    type: ObservationType
    title: str
    origin: Origin
    project: str = ""
    subtitle: str = ""
    facts: tuple[str, ...] = ()
    narrative: str = ""
    concepts: tuple[Concept, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    related: tuple[str, ...] = ()
    agent_id: str | None = None
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """An observation as it is kept. ``tokens`` is what all of it costs a model to read.
    Times are ms since the epoch, UTC."""

    id: str
    project: str
    type: ObservationType
    title: str
    subtitle: str
    facts: tuple[str, ...]
    narrative: str
    concepts: tuple[Concept, ...]
    artifacts: tuple[Artifact, ...]
    related: tuple[str, ...]
    origin: Origin
    agent_id: str | None
    tokens: int
    at: int
    revision: int
    created_at: int
    updated_at: int
