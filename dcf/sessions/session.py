"""A session as its record has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from control_plane import JSON
from dcf.sessions.companion import Companion
from dcf.sessions.plain import plain, read_into
from dcf.sessions.task import SessionTask

SessionState = Literal["active", "paused", "completing", "completed", "abandoned"]

OVER: frozenset[SessionState] = frozenset({"completed", "abandoned"})
ANNOUNCEMENTS = 20


@dataclass(frozen=True, slots=True)
class Counts:
    """How many tasks were delegated, and how they ended. A broadcast counts by its children."""

    delegated: int = 0
    succeeded: int = 0
    failed: int = 0
    partial: int = 0
    cancelled: int = 0

    @property
    def closed(self) -> int:
        return self.succeeded + self.failed + self.partial + self.cancelled


@dataclass(frozen=True, slots=True)
class Head:
    """What a session is. ``analysed`` is how many tasks were closed when its Strategist last
    looked; ``pages`` how many pages of closed tasks there are; ``told`` the state that the graph
    knows, ``told_employed`` how many companions; ``employed`` counts those there ever were.
    ``ending`` is what it becomes when its last task and companion are gone."""

    objective: str
    conductors: tuple[str, ...]
    created_at: int
    state: SessionState = "active"
    ending: Literal["completed", "abandoned"] | None = None
    reason: str | None = None
    ended_at: int | None = None
    counts: Counts = Counts()
    analysed: int = 0
    analysed_at: int | None = None
    pages: int = 0
    employed: int = 0
    told: str | None = None
    told_employed: int = 0

    @property
    def is_told(self) -> bool:
        """Whether the graph knows the session as it is."""
        return self.told == self.state and self.told_employed == self.employed

    def to_json(self) -> dict[str, Any]:
        return plain(self)

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Head:
        counts = read_into(Counts, raw.get("counts", {}))()
        return read_into(cls, raw)(conductors=tuple(raw["conductors"]), counts=counts)


@dataclass(frozen=True, slots=True)
class Context:
    """What those who work in a session share. ``announcements`` are {timestamp, message}, the last
    20."""

    preferences: dict[str, JSON] = field(default_factory=dict)
    shared_data: dict[str, JSON] = field(default_factory=dict)
    announcements: tuple[dict[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        return plain(self)

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Context:
        return read_into(cls, raw)(announcements=tuple(raw.get("announcements", ())))


@dataclass(frozen=True, slots=True)
class Session:
    """A session at ``revision``: its companions and tasks by id (closed tasks move to pages, and
    are not among these then), dismissed companions in ``former``; ``requests`` is what a conductor
    by rule keeps. Times are ms."""

    session_id: str
    revision: int
    updated_at: int
    head: Head
    context: Context
    companions: Mapping[str, Companion]
    former: Mapping[str, Companion]
    tasks: Mapping[str, SessionTask]
    requests: Mapping[str, JSON] = field(default_factory=dict)

    @property
    def state(self) -> SessionState:
        return self.head.state

    @property
    def is_over(self) -> bool:
        return self.head.state in OVER

    @property
    def open_tasks(self) -> list[SessionTask]:
        """Those that wait or are worked on, in the order in which they were delegated."""
        return [task for task in self.tasks.values() if task.is_open]
