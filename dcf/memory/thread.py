"""A thread: what was said and done in one place, turn by turn, kept so that it can be cited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

ThreadStatus: TypeAlias = Literal["active", "completed", "abandoned"]
TurnStanding: TypeAlias = Literal["arriving", "current", "rewound", "edited", "gone"]
"""What is known of a turn at its source: its thread is being read; it stands there; it stands on a
branch that was left, as a conversation that was taken up again at an earlier turn has one; it has
another content now; it is there no more."""

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
    """What one said or did. ``at``: ms since the epoch, UTC, if that is known. ``key`` is the id
    that the source gives it, empty where it gives none; ``rewound``: it stands on a branch that was
    left."""

    role: str
    text: str
    tools: tuple[ToolUse, ...] = ()
    at: int | None = None
    key: str = ""
    rewound: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn as it is kept. Its number (from 1) and its content never change: a turn that is edited
    at its source is kept as another one. ``place`` is where it stands at its source now, from 1;
    None where it stands there no more."""

    number: int
    role: str
    text: str
    tools: tuple[ToolUse, ...]
    at: int | None
    key: str
    place: int | None
    standing: TurnStanding


@dataclass(frozen=True, slots=True)
class Outline:
    """What a source says of a thread, apart from its turns. ``started_at`` is in ms since the
    epoch, UTC (None: now); ``parent`` is the id that the source gives to the thread which this one
    is a part of, as that of an agent which another one sent for something."""

    source_id: str
    project: str = ""
    title: str = ""
    status: ThreadStatus = "active"
    started_at: int | None = None
    parent: str = ""


@dataclass(frozen=True, slots=True)
class NewThread:
    """A thread of a source as it is now, with all of its turns in their order."""

    source_type: str
    outline: Outline
    turns: tuple[NewTurn, ...]


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread as it is kept; ``turns`` is how many it has, ``current`` how many of them stand at
    its source now."""

    id: str
    source_type: str
    source_id: str
    project: str
    title: str
    status: ThreadStatus
    parent: str
    turns: int
    current: int
    started_at: int
    completed_at: int | None
    updated_at: int


@dataclass(frozen=True, slots=True)
class Synced:
    """What bringing a thread up to date did: the numbers of the turns that are new, and of those
    that were passed: edited, gone or rewound since."""

    thread: Thread
    new_turns: tuple[int, ...]
    passed: tuple[int, ...] = ()


def turn_line(number: int, who: str, text: str) -> str:
    """A turn as models read it, ``number`` being what it is cited by. Indented, what somebody wrote
    is no heading and no turn of another one."""
    return f"{number} {who}: {indented(text)}"


def indented(text: str) -> str:
    """``text`` whose lines but for the first are part of what stands above them."""
    return text.strip().replace("\n", "\n  ")
