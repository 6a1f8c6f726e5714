"""What the Tasks of a user's machine do in a simulation: try for try what its mocks answered the
interpreter.

A sequence of mocks is for calls one after another. Here work is done again where a worker died, and
what runs side by side comes in another order under each seed. So what answers a try is settled by
its place, once and for all: the state, which of its visits, which try. One that only a fault leads
to gets what the last one before it got there; else what the mocks say first.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from dcf import asl
from dcf.asl.trial import CallTask, MockedAnswer, Mocks, suits

Path = tuple[str | int, ...]
Place = tuple[Path, int, int]
"""A state, which of its visits that want work, and which try of it; both from 0."""
Revocation = Literal["timeout", "heartbeat"]


@dataclass(slots=True)
class Visits:
    """Numbers visits in the order in which they first want work."""

    _seen: dict[Path, list[int]] = field(default_factory=lambda: defaultdict(list))

    def number(self, path: Path, visit: int) -> int:
        """Which of the visits of ``path`` the one is that is called ``visit``."""
        seen = self._seen[path]
        if visit not in seen:
            seen.append(visit)
        return seen.index(visit)


class Recording:
    """Answers an interpreter with ``mocks``, and keeps what each place was answered, and how many
    seconds the longest work took that somebody has to hold a lease for, and all of it."""

    def __init__(self, mocks: Mocks) -> None:
        self.answers: dict[Place, MockedAnswer] = {}
        self.longest_s = self.work_s = 0.0
        self._mocks = mocks
        self._visits: dict[Path, int] = {}

    def __call__(self, call: asl.TaskCall) -> asl.Answer:
        """See ``asl.CallTask``. Raises MockTrouble."""
        place = place_of(call, self._visits)
        answer = self.answers[place] = self._mocks.choose(call)
        if call.token is None:
            self.longest_s = max(self.longest_s, answer.after_s)
            self.work_s += answer.after_s
        return answer.to(call.arguments)


def place_of(call: asl.TaskCall, visits: dict[Path, int]) -> Place:
    """The place of a call of an interpreter; ``visits`` counts what was called before."""
    if call.attempt == 0:
        visits[call.path] = visits.get(call.path, -1) + 1
    return call.path, visits.get(call.path, 0), call.attempt


@dataclass(frozen=True, slots=True)
class MockedWork:
    """``answers`` are the recorded ones; ``mocks`` makes mocks that answered nothing yet."""

    answers: Mapping[Place, MockedAnswer]
    mocks: Callable[[], Mocks]

    def answer(self, place: Place, call: asl.TaskCall) -> asl.Answer:
        """What the work at ``place`` answers. Raises MockTrouble where nothing is mocked, or other
        arguments are expected."""
        return self._chosen(place, call).to(call.arguments)

    def replay(self) -> CallTask:
        """Answers one execution, in which each try is called once."""
        visits: dict[Path, int] = {}
        return lambda call: self.answer(place_of(call, visits), call)

    def _chosen(self, place: Place, call: asl.TaskCall) -> MockedAnswer:
        recorded = self._recorded(place)
        if recorded is not None and suits(recorded, call.arguments):
            return recorded
        # A fault led here, or to other arguments: the mocks say what is answered to these.
        return self.mocks().choose(call)

    def _recorded(self, place: Place) -> MockedAnswer | None:
        if place in self.answers:
            return self.answers[place]
        path, visit, attempt = place
        before = [at for at in self.answers if at[0] == path and at[1:] < (visit, attempt)]
        return self.answers[max(before, key=lambda at: at[1:])] if before else None


def revocation(
    answer: asl.Answer, timeout_s: float | None, heartbeat_s: float | None
) -> Revocation | None:
    """Which limit of time ends a try that is answered so, where no fault delays it."""
    missed_s = math.inf
    if answer.event is None and heartbeat_s is not None:
        missed_s = answer.missed_heartbeat(heartbeat_s)
    ends_s = math.inf if answer.event is None else answer.after_s
    if timeout_s is not None and timeout_s <= min(missed_s, ends_s):
        return "timeout"
    return "heartbeat" if missed_s < math.inf else None
