"""Which values may be known where, along the paths of one list of steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush

from dcf.sop.direction import Direction, Finish, GoTo, Stop
from dcf.sop.findings import Findings
from dcf.sop.procedure import Sop
from dcf.sop.step import Step

Known = int
"""A set of names, a bit for each: the sets of a long list are joined millions of times."""


class Flow:
    """A name is known at a step if some path to it gives or writes it."""

    def __init__(self, sop: Sop, findings: Findings) -> None:
        self._findings = findings
        self._bits: dict[str, int] = {}
        self._left: dict[int, Known] = {}
        self.written = {
            *(transfer.target for step in sop.all_steps() for transfer in step.writes),
            *(step.loop.item for step in sop.all_steps() if step.loop),
        }

    def names(self, names: Iterable[str]) -> Known:
        """The set of ``names``."""
        known = 0
        for name in names:
            known |= 1 << self._bits.setdefault(name, len(self._bits))
        return known

    def has(self, known: Known, name: str) -> bool:
        return name in self._bits and bool(known >> self._bits[name] & 1)

    def writes(self, step: Step) -> Known:
        """What ``step`` may leave written, whatever was known before; each step is asked once, so
        that nesting costs nothing."""
        if id(step) not in self._left:
            own = self.names(transfer.target for transfer in step.writes)
            for lane in step.lanes:
                own |= self.settle(lane.steps, 0)[-1]
            self._left[id(step)] = own
        return self._left[id(step)]

    def settle(self, steps: Sequence[Step], given: Known) -> list[Known]:
        """What may be known before each step, and after all of them.

        What nothing leads to, or perhaps only a phrase that was not understood, counts as knowing
        everything: what is wrong with it was said.
        """
        edges = self._edges(steps)
        known = [given, *[0] * len(steps)]
        seen: set[int] = set()
        for start, step in enumerate(steps):
            if start and (start not in seen or step.number in self._findings.mentioned):
                known[start] |= given | self.names(self.written)
            elif start:
                continue
            self._spread(start, edges, known, seen)
        return known

    def _spread(
        self,
        start: int,
        edges: list[list[tuple[int, Known]]],
        known: list[Known],
        seen: set[int],
    ) -> None:
        """Carry what is known at ``start`` along all paths. Sets only grow, so this ends."""
        ahead, waiting = [start], {start}
        while ahead:
            index = heappop(ahead)
            waiting.discard(index)
            seen.add(index)
            for target, added in edges[index]:
                more = known[target] | known[index] | added
                again = more != known[target] or target not in seen
                known[target] = more
                if again and target < len(edges) and target not in waiting:
                    heappush(ahead, target)
                    waiting.add(target)

    def _edges(self, steps: Sequence[Step]) -> list[list[tuple[int, Known]]]:
        """Where each step may go on, with what is written by then."""
        places = {step.number: index for index, step in enumerate(steps)}
        return [
            [
                (target, added)
                for direction, added in self._exits(step)
                if (target := _target(direction, index, places, len(steps))) is not None
            ]
            for index, step in enumerate(steps)
        ]

    def _exits(self, step: Step) -> Iterator[tuple[Direction, Known]]:
        after = self.writes(step)
        for branch in step.branches:
            yield branch.then, after
        for handler in step.handlers:
            yield handler.then, 0
        yield step.then, after
        if self._findings.spoilt(step.line):
            yield Finish(), after


def _target(direction: Direction, index: int, places: dict[str, int], end: int) -> int | None:
    match direction:
        case GoTo(step):
            return places.get(step, index + 1)
        case Finish():
            return end
        case Stop():
            return None
    return index + 1
