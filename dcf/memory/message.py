"""A message of an agent's conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant", "tool", "summary"]


@dataclass(frozen=True, slots=True)
class NewMessage:
    """What is added to a conversation. ``parts`` has what is not text: tool calls
    ``{"kind": "call", "id", "tool", "arguments"}`` and returns ``{"kind": "return", "id", "tool",
    "content", "is_error"}``. ``replaces`` are the first and last ``seq`` a summary stands for."""

    role: Role
    content: str
    parts: Sequence[dict[str, Any]] = ()
    session_id: str | None = None
    run_id: str | None = None
    sender: str | None = None
    correlation_id: str | None = None
    replaces: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it is kept; nothing of it ever changes but ``archived_at``. ``seq`` counts an
    agent's messages from 1, ``tokens`` is its price in a context."""

    id: str
    agent_id: str
    seq: int
    role: Role
    content: str
    parts: tuple[dict[str, Any], ...]
    tokens: int
    session_id: str | None
    run_id: str | None
    sender: str | None
    correlation_id: str | None
    replaces: tuple[int, int] | None
    archived_at: int | None
    created_at: int


def heading_of(message: NewMessage | Message) -> str:
    """The line that a model is told before the text: who says it, or what a summary stands for;
    empty if there is none."""
    if message.replaces is not None:
        first, last = message.replaces
        return f"[Summary of messages {first} to {last}]"
    return f"[From {message.sender}]" if message.role == "user" and message.sender else ""
