"""A scratch pad: what an agent notes while it does one task, gone when the task ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

PadOutcome: TypeAlias = Literal["done", "failed", "expired"]
"""How a pad's task ended: it was done, it failed, or its time was over before that."""

PAD_BYTES = 16_000
PAD_TTL_MS = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class ScratchPad:
    """A pad as it is kept. ``task`` names the task, by its run for example, and is that of one open
    pad of the agent at most. ``value`` has at most ``most_bytes`` bytes of UTF-8.

    Once it has ended the text is gone: ``value`` is empty, ``bytes`` and ``digest`` (of BLAKE2b,
    32 hex digits) say what it was. Nobody's history has it. ``writes`` counts changes of the text.
    Times are ms since the epoch, UTC; one that is open after ``expires_at`` counts as expired.
    """

    id: str
    agent_id: str
    task: str
    value: str
    most_bytes: int
    writes: int
    expires_at: int
    outcome: PadOutcome | None
    bytes: int
    digest: str | None
    created_at: int
    ended_at: int | None
    updated_at: int
