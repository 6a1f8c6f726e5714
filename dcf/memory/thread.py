"""A thread: what was said and done in one place, turn by turn, kept so that it can be cited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

ThreadStatus: TypeAlias = Literal["active", "completed", "abandoned"]

STATUSES: tuple[ThreadStatus, ...] = get_args(ThreadStatus)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of a tool that has its result."""

    name: str
    input: Mapping[str, Any]
    output: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class NewTurn:
    """What one said or did. ``at``: ms since the epoch, UTC, if that is known."""

    role: str
    text: str
    tools: tuple[ToolUse, ...] = ()
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn as it is kept; numbers count from 1."""

    number: int
    role: str
    text: str
    tools: tuple[ToolUse, ...]
    at: int | None


@dataclass(frozen=True, slots=True)
class NewThread:
    """A thread of a source as it is now, with all of its turns from the first on. ``started_at`` is
    in ms since the epoch, UTC (None: now)."""

    source_type: str
    source_id: str
    turns: tuple[NewTurn, ...]
    project: str = ""
    title: str = ""
    status: ThreadStatus = "active"
    started_at: int | None = None


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread as it is kept; ``turns`` is how many it has."""

    id: str
    source_type: str
    source_id: str
    project: str
    title: str
    status: ThreadStatus
    turns: int
    started_at: int
    completed_at: int | None
    updated_at: int


@dataclass(frozen=True, slots=True)
class Synced:
    """What bringing a thread up to date did: the numbers of the turns that are new."""

    thread: Thread
    new_turns: tuple[int, ...]
