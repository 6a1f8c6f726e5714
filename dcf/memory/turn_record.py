"""A turn of a conversation: from a message to the agent until its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

TurnState: TypeAlias = Literal["running", "answered", "failed"]


@dataclass(frozen=True, slots=True)
class Usage:
    """What models and tools were asked for in a turn. ``cost_usd`` is None when a price is not
    known."""

    requests: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    duration_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class TurnFence:
    """The authority of a turn that belongs to other work. ``holder`` names that work, for example a
    state of a run; ``number`` grows each time the work is taken over. An agent that is lent has the
    tag ``lent`` for as long as the holder has it; "" for an agent that is not lent. ``part`` names
    what of the work a turn does, where it has several: a visit of the state."""

    holder: str
    number: int
    lent: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn as it is kept. Its messages are those numbered from ``first`` to ``last``; one that is
    running has no last one yet, and one whose process died stays so until it is taken up again.
    ``letter_id`` is the letter it answers; ``error`` and ``cause`` say why it failed. ``holder``
    and ``fence`` are those of a TurnFence, or the letter's number of tries; None and 0 without."""

    id: str
    agent_id: str
    correlation_id: str
    letter_id: str | None
    state: TurnState
    first: int
    last: int | None
    model: str
    usage: Usage
    error: str | None
    cause: str | None
    created_at: int
    updated_at: int
    holder: str | None = None
    fence: int = 0
