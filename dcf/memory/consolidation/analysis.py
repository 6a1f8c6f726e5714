"""What an agent's memory takes, and what could be done about it."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.memory.consolidation.session import Metrics
from dcf.memory.consolidation.strategy import Strategy


@dataclass(frozen=True, slots=True)
class BlockUse:
    """A block. ``target`` is the size that it should have, ``growth`` what it gained (or lost) in
    the last 30 days and ``writes`` how often it was written in them; sizes in bytes.
    ``redundant`` is what stands elsewhere too. ``untouched`` says why a consolidation leaves it
    alone (None: it does not); ``updated_at`` is in ms since the epoch, UTC."""

    block_id: str
    label: str
    size: int
    target: int
    growth: int
    writes: int
    redundant: int
    updated_at: int
    untouched: str | None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a strategy could do. ``saves`` is in bytes, about."""

    strategy: Strategy
    label: str | None
    saves: int
    reason: str


@dataclass(frozen=True, slots=True)
class Analysis:
    """An agent's memory at one moment. ``metrics.efficiency`` is::

        1 - 0.5 * redundant / bytes of blocks
          - 0.3 * excess / bytes of blocks
          - 0.2 * tokens of messages outside the window / tokens of messages

    ``redundant`` are the bytes of lines that stand in an earlier line of a block too, ``excess``
    those above the targets of blocks, both of the blocks that a consolidation may change; a part is
    0 where there is nothing. 1.0 is a memory without anything to consolidate. ``active_at`` is when
    the agent was last active (None: never): a message, or a change that no consolidation made.
    """

    agent_id: str
    at: int
    active_at: int | None
    metrics: Metrics
    blocks: tuple[BlockUse, ...]
    suggestions: tuple[Suggestion, ...]
