"""What comes back from a turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcf.memory import Message, Usage


@dataclass(frozen=True, slots=True)
class Reply:
    """The agent's answer. ``messages`` are all that the turn added, the question first; ``model``
    is the name of the model that answered."""

    agent_id: str
    text: str
    messages: tuple[Message, ...]
    usage: Usage
    correlation_id: str
    model: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """A message is kept for ``agent_id``. It is not delivered after ``deadline`` (ms since the
    epoch, UTC)."""

    id: str
    correlation_id: str
    agent_id: str
    sender: str
    deadline: int
