"""After how many deaths a Task that kills its workers is stopped, by the history of its run.

The rules of decision 0036 are written down here a second time, over the events alone, so that the
scripts are not judged by what they themselves have counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from control_plane import RunDocument

LIMIT = 3
"""So many workers may die over a state where its workflow says nothing else."""
_VANISHED = 10
"""So many times the limit may a solo process vanish together with its worker."""
_STOPS = "worker_lost"


@dataclass(slots=True)
class Deaths:
    """What must follow from the events of one state, as they come."""

    charged: int = 0
    takeovers: int = 0
    holder: int | None = None
    is_stopped: bool = False
    is_overdue: bool = False
    """The limit was reached by a death that stopped nobody."""

    def follow(self, event: Mapping[str, Any]) -> str:
        """Take one event; what is wrong with it, "" for nothing."""
        match event["type"]:
            case "LeaseAcquired":
                self.holder = event["fence"]
                return self._compare(event, "was leased again")
            case "LeaseReleased":
                self.holder = None
            # The last one that counts revokes the lease: it makes an event of the state.
            case "LeaseExpired" | "LeaseRevoked":
                self.holder = None
                self.takeovers += 1
                self._lose(event.get("alone"))
                return self._compare(event, "lost a lease")
            case "WorkerDied":
                # Of a death that was told when somebody else had the state already, the next one
                # draws the consequence.
                late = self.holder is not None and self.holder != event["fence"]
                self._charge(stops=not late)
                if not late:
                    self.holder = None
                return self._compare(event, "lost a worker")
        return ""

    def _lose(self, alone: str | None) -> None:
        watched = alone == "watched" and self.takeovers <= _VANISHED * LIMIT
        watched = watched and not self.is_overdue
        # Only the first death counts that may be a neighbour's.
        if not watched and (alone is not None or not self.charged):
            self._charge(stops=True)

    def _charge(self, *, stops: bool) -> None:
        self.charged += 1
        reached = self.charged >= LIMIT and not self.is_stopped
        self.is_stopped = self.is_stopped or (stops and reached)
        self.is_overdue = reached and not self.is_stopped

    def _compare(self, event: Mapping[str, Any], said: str) -> str:
        stopped = event.get("event") == _STOPS
        if stopped == self.is_stopped:
            return ""
        done = "was stopped" if stopped else "was not stopped"
        return f"{done} after {self.charged} deaths, and the limit is {LIMIT}: it {said}"


def problem_of(run: RunDocument, path: str, events: Sequence[Mapping[str, Any]]) -> str:
    """What is wrong with how the poison Task at ``path`` of ``run``, which is over, was stopped;
    "" for nothing."""
    if run.error is None or run.error.error != "DCF.WorkerLost":
        return f"ended as {run.status}, not by its deaths: {run.error}"
    deaths = Deaths()
    for event in events:
        if event.get("path") == path and (problem := deaths.follow(event)):
            return f"{problem} (fence {event['fence']})"
    if not deaths.is_stopped:
        return f"ended by its deaths after {deaths.charged}, and the limit is {LIMIT}"
    return ""
