"""A message that was left for an agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

LetterState: TypeAlias = Literal["waiting", "taken", "answered", "failed", "expired"]
"""In the inbox; somebody works on it; and the three ways in which that ends."""


@dataclass(frozen=True, slots=True)
class NewLetter:
    """What is left for ``agent_id``. ``sender`` is an agent's id or another name; letters of one
    question and of all that is asked because of it have one ``correlation_id``. After
    ``timeout_ms`` it is not delivered any more."""

    agent_id: str
    sender: str
    text: str
    correlation_id: str
    timeout_ms: int


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter as it is kept. ``tries`` counts how often it was taken; whoever took it has it until
    ``taken_until`` and answers under the number of that try. ``reply`` is what it was answered
    with, ``error`` and ``cause`` why it failed. Times are ms since the epoch, UTC."""

    id: str
    agent_id: str
    sender: str
    text: str
    correlation_id: str
    state: LetterState
    deadline: int
    tries: int
    taken_until: int | None
    reply: Mapping[str, Any] | None
    error: str | None
    cause: str | None
    created_at: int
    updated_at: int

    @property
    def is_over(self) -> bool:
        """Whether nothing will change any more."""
        return self.state in ("answered", "failed", "expired")
