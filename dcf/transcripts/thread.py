"""What people and agents said and did, in turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

ThreadStatus: TypeAlias = Literal["active", "completed", "abandoned"]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call that has its result."""

    name: str
    input: Mapping[str, Any]
    output: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """One entry of a thread. ``number`` counts from 1, and is the same when the thread is read
    again after it grew; ``at`` has a time zone."""

    number: int
    role: str
    text: str
    tools: tuple[ToolUse, ...] = ()
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Thread:
    """A session of an agent, an issue, a recording. ``project`` is a folder or a name, and empty
    where the source has none."""

    source_type: str
    source_id: str
    project: str
    title: str
    status: ThreadStatus
    turns: tuple[Turn, ...]
