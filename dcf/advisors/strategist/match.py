"""Outcomes of one side held against those of others, so that what else differs is the same."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from dcf.advisors.strategist.activity import Task
from dcf.advisors.strategist.outcomes import counts_of, difference, in_order
from dcf.advisors.strategist.wager import quicker, succeeds_less, succeeds_more
from dcf.evidence import Counts, difference_interval

Block = tuple[Task, tuple[Task, ...]]
"""One outcome of the one side, and as many of the others as there are others."""


@dataclass(frozen=True, slots=True)
class Match:
    """``first`` and ``second`` count the matched outcomes of both sides. ``more``, ``less`` and
    ``quicker`` are the evidence that the first succeeds more often, less often, and is quicker when
    it succeeds. ``speed`` is its median time as a share of that of the others, None where a side
    has no success; in ``faster`` of ``timed`` successes it took less than their median."""

    first: Counts
    second: Counts
    more: float
    less: float
    quicker: float
    speed: float | None
    faster: int
    timed: int

    @property
    def difference(self) -> float:
        """The success rate of the first less that of the second; 0 without matched outcomes."""
        return difference(self.first, self.second)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the difference."""
        first, second = self.first, self.second
        return difference_interval((first.successes, first.n), (second.successes, second.n))


def match(
    own: Sequence[Task], others: Sequence[Task], rivals: int, alike: Callable[[Task], Hashable]
) -> Match:
    """Hold ``own`` against the outcomes of ``rivals`` others, each among those that are ``alike``.
    Both are in the order of time."""
    blocks = _blocks(own, others, rivals, alike)
    bets = [(int(one.ok), sum(task.ok for task in rest), len(rest)) for one, rest in blocks]
    timed = _blocks(
        [task for task in own if task.ok], [task for task in others if task.ok], rivals, alike
    )
    ranks = ((sum(task.work_ms <= one.work_ms for task in rest), len(rest)) for one, rest in timed)
    usual = _median(task for _, rest in timed for task in rest)
    mine = _median(one for one, _ in timed)
    return Match(
        first=counts_of(one for one, _ in blocks),
        second=counts_of(task for _, rest in blocks for task in rest),
        more=succeeds_more(bets),
        less=succeeds_less(bets),
        quicker=quicker(ranks),
        speed=mine / usual if mine is not None and usual else None,
        faster=sum(one.work_ms < (usual or 0) for one, _ in timed),
        timed=len(timed),
    )


def _blocks(
    own: Sequence[Task], others: Sequence[Task], rivals: int, alike: Callable[[Task], Hashable]
) -> list[Block]:
    """The first of ``own`` with the first ``rivals`` of the others that are alike, the second with
    the next ones, and so on, in the order in which they were complete. What is left over is not
    used. More outcomes only add blocks at the end: that is why they can be bet on (``wager``)."""
    waiting: dict[Hashable, tuple[deque[Task], deque[Task]]] = defaultdict(
        lambda: (deque(), deque())
    )
    mine = {task.task_id for task in own}
    found: list[Block] = []
    for task in in_order([*own, *others]):
        one, rest = waiting[alike(task)]
        (one if task.task_id in mine else rest).append(task)
        if one and len(rest) >= rivals:
            found.append((one.popleft(), tuple(rest.popleft() for _ in range(rivals))))
    return found


def _median(tasks: Iterable[Task]) -> float | None:
    times = [task.work_ms for task in tasks]
    return median(times) if times else None
