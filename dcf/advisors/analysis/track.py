"""How one skill version does at one type of task."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite

from dcf.evidence import Counts, Record, Spread, Watch, record_from, spread_of
from dcf.knowledge import Outcome

RUNS = 10
"""Of the runs that show something, the last so many are named."""


@dataclass(frozen=True, slots=True)
class TrackRecord:
    """``skill`` is a manifest id, None for all outcomes of ``task_type`` whatever their skills.

    ``counts``, ``duration_ms`` (of successes), ``cost_usd`` and ``retried`` (outcomes that took
    more than one try) are those of the period, ``before`` and ``duration_before_ms`` of the time
    before it that was read. ``steady`` counts all outcomes since the last change that was detected,
    ``record`` is what they are worth now. ``workflows`` counts runs, ``workflows_within`` those of
    the period, ``runs`` are the ids of the last of them (an id may be used again); ``first_at`` and
    ``last_at`` (ms) bound all of it.
    """

    task_type: str
    skill: str | None
    counts: Counts
    before: Counts
    steady: Counts
    record: Record
    duration_ms: Spread | None
    duration_before_ms: Spread | None
    durations_ms: tuple[int, ...]
    durations_before_ms: tuple[int, ...]
    cost_usd: Spread | None
    retried: int
    workflows: int
    workflows_within: int
    runs: tuple[str, ...]
    first_at: int
    last_at: int


@dataclass(slots=True)
class _Track:
    watch: Watch = field(default_factory=Watch)
    won: list[int] = field(default_factory=lambda: [0, 0])
    lost: list[int] = field(default_factory=lambda: [0, 0])
    durations: tuple[array[int], array[int]] = field(
        default_factory=lambda: (array("q"), array("q"))
    )
    costs: array[float] = field(default_factory=lambda: array("d"))
    retried: int = 0
    workflows: set[str] = field(default_factory=set)
    workflows_within: set[str] = field(default_factory=set)
    runs: deque[str] = field(default_factory=lambda: deque(maxlen=RUNS))
    first_at: int = 0
    last_at: int = 0

    def add(self, outcome: Outcome, within: bool) -> None:
        at = outcome.ended_at
        self.first_at = at if self.watch.n == 0 else min(at, self.first_at)
        self.last_at = max(at, self.last_at)
        self.watch.add(at, int(outcome.ok), int(not outcome.ok))
        (self.won if outcome.ok else self.lost)[within] += 1
        if outcome.ok:
            self.durations[within].append(outcome.duration_ms)
        if outcome.workflow_id not in self.runs:
            self.runs.append(outcome.workflow_id)
        self.workflows.add(outcome.run)
        if within:
            self.workflows_within.add(outcome.run)
            self.retried += outcome.tries > 1
            if outcome.cost_usd is not None and isfinite(outcome.cost_usd):
                self.costs.append(outcome.cost_usd)


class Tracks:
    """Takes in outcomes in the order of time; ``since`` (ms) is where the period begins."""

    def __init__(self, since: int) -> None:
        self._since = since
        self._tracks: dict[tuple[str, str | None], _Track] = {}

    def add(self, outcome: Outcome) -> None:
        """Credit the task type, and each of its skills, with ``outcome``."""
        within = outcome.ended_at >= self._since
        for skill in (None, *dict.fromkeys(outcome.skills)):
            key = outcome.task_type, skill
            track = self._tracks.get(key)
            if track is None:
                track = self._tracks[key] = _Track()
            track.add(outcome, within)

    def records(self, now: int) -> Iterator[TrackRecord]:
        """What is known at ``now`` (ms), by task type and skill; the task type itself is first."""
        for task_type, skill in sorted(self._tracks, key=lambda key: (key[0], key[1] or "")):
            track = self._tracks[task_type, skill]
            before, within = track.durations
            yield TrackRecord(
                task_type=task_type,
                skill=skill,
                counts=Counts(track.won[True], track.lost[True]),
                before=Counts(track.won[False], track.lost[False]),
                steady=Counts(round(track.watch.successes), round(track.watch.failures)),
                record=record_from(track.watch, now=now),
                duration_ms=spread_of(within),
                duration_before_ms=spread_of(before),
                durations_ms=tuple(within),
                durations_before_ms=tuple(before),
                cost_usd=spread_of(track.costs),
                retried=track.retried,
                workflows=len(track.workflows),
                workflows_within=len(track.workflows_within),
                runs=tuple(track.runs),
                first_at=track.first_at,
                last_at=track.last_at,
            )
