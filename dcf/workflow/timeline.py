"""The history of a run as a timeline: when, what, where, and who did it.

An event of its own tells who took a state from the queue. A state that was taken in place, by who
finished the one before, has none: the holder is then the one of the state that led there. Where
nobody's name is known, it is the part of the system that acted.
"""

from __future__ import annotations

from collections.abc import AsyncIterable
from dataclasses import dataclass, field
from typing import Any

from control_plane import HistoryEvent

CLIENT, SWEEPER, WORKER, AGENT, SYSTEM = "client", "sweeper", "worker", "agent", "system"
"""Parts of the system: what submits, redrives and answers; what lets time move runs; what works on
states; an agent outside runs; and whatever else acts there."""
_BY_TIME = frozenset({"TimerFired", "LeaseExpired", "LeaseRevoked"})
_BY_CLIENTS = frozenset({"RunStarted", "RunCancelled", "RunRedriven", "RunMoved", "Signalled"})
_BY_PERSONS = frozenset({"ApprovalDecided", "ManualTaskDone", "ManualTaskFailed"})
_BY_AGENTS = frozenset(
    {"ToolDecision", "ToolFailed", "ModelCall", "ModelCallRefused", "ApprovalRequested"}
)
_PLAIN = frozenset({"type", "path", "owner", "by", "visit", "digest", "output"})


@dataclass(frozen=True, slots=True)
class Moment:
    """One event. ``offset_s`` counts from the first one; ``who`` is a name or a part of the system;
    ``details`` are its other members."""

    offset_s: float
    type: str
    path: str
    who: str
    details: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "offset_s": round(self.offset_s, 3),
            "type": self.type,
            "path": self.path,
            "who": self.who,
            **self.details,
        }


class Timeline:
    """Built event by event. ``holders`` is who last worked on each path."""

    def __init__(self) -> None:
        self.moments: list[Moment] = []
        self.holders: dict[str, str] = {}
        self._led_by: dict[str, str] = {}
        self._start: int | None = None

    def add(self, event: HistoryEvent) -> Moment:
        """The next event, as it stands in ``moments`` then."""
        said = event.event
        self._start = event.at if self._start is None else self._start
        kind, path = str(said.get("type") or ""), str(said.get("path") or "")
        moment = Moment(
            (event.at - self._start) / 1000,
            kind,
            path,
            self._ended_by(said)
            if kind == "RunEnded"
            else self._who(kind, path, said) or part(said),
            {key: value for key, value in said.items() if _tells(key, value)},
        )
        self.moments.append(moment)
        return moment

    def _ended_by(self, said: dict[str, Any]) -> str:
        """A run ends in the same step as what ends it; only its time limit has no event before."""
        before = self.moments[-1] if self.moments else None
        if before is None or said.get("status") == "timed_out" or before.type in _BY_TIME:
            return SWEEPER
        return before.who

    def _who(self, kind: str, path: str, said: dict[str, Any]) -> str:
        owner = str(said.get("owner") or "")
        if kind in ("Joined", "ChildFailed"):
            # `by` is the frame that made it so; its holder goes on with the join in place.
            self._lead(path, self.holders.get(str(said.get("by", "")), ""))
            return self._led_by[path]
        if kind.startswith("Run") or kind in _BY_PERSONS:
            return str(said.get("by") or "")
        if owner:
            self.holders[path] = owner
        elif kind.startswith("State") or kind in ("FannedOut", "FrameOpened", "WaitStarted"):
            owner = self._take_over(path)
        if kind in (
            *("LeaseExpired", "LeaseRevoked", "LeaseReleased", "WorkerDied", "TimerFired"),
        ):
            self._led_by.pop(path, None)
        if said.get("next"):
            self._lead(str(said["next"]), owner)
        elif kind == "FannedOut":
            # The first frame is opened in place; who opens the others is not written down.
            self._lead(f"{path}[0]", owner)
        return owner

    def _lead(self, target: str, owner: str) -> None:
        """``owner`` may go on with ``target`` in place; an earlier visit's holder is history."""
        self._led_by[target] = owner
        self.holders.pop(target, None)

    def _take_over(self, path: str) -> str:
        """Who did what is reported of ``path``: its holder, else who led there."""
        holder = self.holders.get(path) or self._led_by.pop(path, "")
        if holder:
            self.holders[path] = holder
            frame = path.rpartition("/")[0]
            if frame:
                self.holders[frame] = holder
        return holder


async def read_timeline(events: AsyncIterable[HistoryEvent]) -> Timeline:
    """The timeline of a whole history."""
    timeline = Timeline()
    async for event in events:
        timeline.add(event)
    return timeline


def part(said: dict[str, Any]) -> str:
    """The part of the system that made an event which names nobody: ``client``, ``sweeper``,
    ``worker``, ``agent`` or ``system``."""
    kind = said.get("type")
    if kind in _BY_CLIENTS:
        return CLIENT
    if kind in _BY_TIME:
        return SWEEPER
    if said.get("path"):
        return WORKER
    return AGENT if kind in _BY_AGENTS else SYSTEM


def _tells(key: str, value: Any) -> bool:
    return key not in _PLAIN and value is not None
