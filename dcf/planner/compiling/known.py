"""What is known where: which values every way to a step has written before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from dcf.sop import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Direction,
    Finish,
    GoTo,
    Match,
    Membership,
    Name,
    Not,
    Presence,
    Step,
    Stop,
)

Known = frozenset[str]
"""Names that surely have been written."""

NOTHING: Known = frozenset()
Place = int | Literal["end", "stop"]
"""Where a way leads: a step by its index in the list, the end of the list, or failure."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way out of a step. ``done``: the step did its work, so that what it writes is there;
    ``shown`` are names that the condition on the way has shown to be there."""

    to: Place
    done: bool
    shown: Known = NOTHING


@dataclass(frozen=True, slots=True)
class Reached:
    """``before`` has what is known before each step, None for one that no way leads to;
    ``at_end`` what is known where the list ends, one entry for each way to it."""

    before: tuple[Known | None, ...]
    at_end: tuple[Known, ...]

    @property
    def surely(self) -> Known:
        """What is known at the end whichever way was taken."""
        return frozenset.intersection(*self.at_end) if self.at_end else NOTHING


def ways(steps: Sequence[Step], index: int) -> Iterator[Way]:
    """Every way out of the step at ``index``."""
    step = steps[index]
    if step.kind == "end":
        yield Way("end" if isinstance(step.then, Finish) else "stop", done=True)
        return
    refuted = NOTHING
    for branch in step.branches:
        shown = refuted | shown_if(branch.condition, True)
        yield Way(place_of(branch.then, steps, index), True, shown)
        refuted |= shown_if(branch.condition, False)
    yield Way(place_of(step.then, steps, index), True, refuted)
    for handler in step.handlers:
        yield Way(place_of(handler.then, steps, index), done=False)


def place_of(direction: Direction, steps: Sequence[Step], index: int) -> Place:
    """Where ``direction`` leads from the step at ``index``; to the end for a step that is not in
    the list, which whoever read the procedure has reported."""
    if isinstance(direction, GoTo):
        there = {step.number: place for place, step in enumerate(steps)}
        return there.get(direction.step, "end")
    if isinstance(direction, Finish):
        return "end"
    if isinstance(direction, Stop):
        return "stop"
    return index + 1 if index + 1 < len(steps) else "end"


def reach(steps: Sequence[Step], at_start: Known, written: Callable[[Step], Known]) -> Reached:
    """Follow every way through the list until nothing changes; ``written`` says what a step that
    has done its work has surely written."""
    before: list[Known | None] = [None] * len(steps)
    waiting: list[int] = []
    ends: dict[tuple[int, int], Known] = {}
    if steps:
        before[0] = at_start
        waiting.append(0)
    while waiting:
        index = waiting.pop()
        known = before[index] or NOTHING
        done = known | written(steps[index])
        for number, way in enumerate(ways(steps, index)):
            after = (done if way.done else known) | way.shown
            if way.to == "end":
                ends[index, number] = after
            elif isinstance(way.to, int):
                there = before[way.to]
                met = after if there is None else there & after
                if met != there:
                    before[way.to] = met
                    waiting.append(way.to)
    at_end = tuple(known for _, known in sorted(ends.items())) if steps else (at_start,)
    return Reached(tuple(before), at_end)


def shown_if(condition: Condition, holds: bool) -> Known:
    """The names that must be there if ``condition`` holds, or does not."""
    match condition:
        case Not(inner):
            return shown_if(inner, not holds)
        case AllOf(parts) | AnyOf(parts):
            shown = [shown_if(part, holds) for part in parts]
            every = isinstance(condition, AllOf) is holds
            return frozenset().union(*shown) if every else frozenset.intersection(*shown)
        case Comparison(left, operator, right):
            # Unequal is also what is missing; everything else is false of it.
            return NOTHING if (operator == "!=") is holds else _roots(left, right)
        case Presence(name) | Match(name, _) | Membership(name, _):
            return _roots(name) if holds else NOTHING


def _roots(*operands: object) -> Known:
    return frozenset(one.root for one in operands if isinstance(one, Name))
