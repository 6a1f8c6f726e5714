"""A consolidation, as it is logged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from dcf.memory.consolidation.strategy import Strategy

Status: TypeAlias = Literal["planned", "unchanged", "completed", "rolled_back"]
"""``planned``: a dry run, which is not logged. ``unchanged``: nothing was done; logged only if it
used tokens."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """What an agent's memory takes. ``efficiency`` is from 0 to 1, as Analysis says.
    ``block_bytes`` are of all blocks, what is redundant and in excess of those that may be changed.
    ``messages`` and ``message_tokens`` are of those that would stand in the context if there were
    room, ``outside_tokens`` of those for which there is none. ``history_bytes`` is what old events
    take that could be compressed."""

    efficiency: float
    blocks: int
    block_bytes: int
    redundant_bytes: int
    excess_bytes: int
    passages: int
    messages: int
    message_tokens: int
    outside_tokens: int
    history_bytes: int


@dataclass(frozen=True, slots=True)
class ConsolidationChange:
    """One thing that was done, and why. ``label`` is the block (None: not a block); ``before`` and
    ``after`` are bytes; ``by_model``: a model wrote the text."""

    strategy: Strategy
    label: str | None
    before: int
    after: int
    reason: str
    by_model: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was not done although it should have been, and why."""

    strategy: Strategy
    label: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Session:
    """A consolidation of one agent: whole, or it is not there. ``id`` is the ``consolidation_id``
    of its events. ``tokens`` is what models used; times are ms since the epoch, UTC."""

    id: str
    agent_id: str
    status: Status
    actor: str
    strategies: tuple[Strategy, ...]
    level: int
    before: Metrics
    after: Metrics
    changes: tuple[ConsolidationChange, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int
    started_at: int
    completed_at: int
    rolled_back_at: int | None = None
