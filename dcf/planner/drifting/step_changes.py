"""What changed from one version of a procedure to the next, step by step."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from itertools import islice
from typing import Any, Literal

from dcf.planner.comparing.step_match import Told, matched
from dcf.sop import Direction, GoTo, Sop, Step, print_markdown

Kind = Literal["added", "removed", "moved", "changed", "same"]
_ANSWER = re.compile(r"\banswer_(\d+(?:_\d+)*)\b")
"""What a draft calls the answer of a person in a step, by its number."""
_SHIFTED = "0"
"""The number that a step is printed under, so that its place makes no difference."""


@dataclass(frozen=True, slots=True)
class StepChange:
    """``old`` and ``new`` are its numbers, None where it is not there; ``text`` the lines of the
    step that differ, as ``- old`` and ``+ new``. ``moved``: it stands behind others than before, or
    inside another step; it may have changed, too."""

    kind: Kind
    old: str | None
    new: str | None
    title: str
    text: tuple[str, ...] = ()
    moved: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "old": self.old,
            "new": self.new,
            "title": self.title,
            "text": list(self.text),
            "moved": self.moved,
        }


def step_changes(old: Sop, new: Sop) -> list[StepChange]:
    """A change for each step of ``new``, those that are the same too, and behind them one for each
    step of ``old`` that is gone."""
    before, after = list(old.all_steps()), list(new.all_steps())
    places = matched(*([Told(one.number, one.title, one.text) for one in steps]
                       for steps in (before, after)))  # fmt: skip
    numbers = {before[at].number: after[place].number for place, at in places.items()}
    kept = _in_order([places[place] for place in sorted(places)])
    changes = []
    for place, step in enumerate(after):
        if place not in places:
            text = tuple(f"+ {line}" for line in _printed(step, {}))
            changes.append(StepChange("added", None, step.number, step.title, text))
            continue
        was = before[places[place]]
        differs = tuple(_differing(_printed(was, numbers), _printed(step, {})))
        has_moved = places[place] not in kept or _parent(was, numbers) != _parent(step, {})
        kind: Kind = "changed" if differs else "moved" if has_moved else "same"
        changes.append(StepChange(kind, was.number, step.number, step.title, differs, has_moved))
    gone = set(range(len(before))) - set(places.values())
    for at in sorted(gone):
        text = tuple(f"- {line}" for line in _printed(before[at], {}))
        changes.append(StepChange("removed", before[at].number, None, before[at].title, text))
    return changes


def frame_changes(old: Sop, new: Sop) -> tuple[str, ...]:
    """The lines that differ in what is said of the whole procedure: objective, inputs, rules."""
    lines = [print_markdown(replace(one, steps=())).splitlines() for one in (old, new)]
    return tuple(one for one in _differing(*lines) if one[2:].strip())


def _differing(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    told = unified_diff(old, new, n=0, lineterm="")
    for line in islice(told, 2, None):  # behind the names of two files
        if not line.startswith("@@"):
            yield f"{line[0]} {line[1:]}".rstrip()


def _parent(step: Step, numbers: Mapping[str, str]) -> str:
    parent = step.number.rpartition(".")[0]
    return numbers.get(parent, parent)


def _in_order(places: Sequence[int]) -> set[int]:
    """The most of ``places`` that stand in rising order; the others have moved."""
    ends: list[int] = []
    lengths = []
    for place in places:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
        lengths.append(at)
    wanted, kept = len(ends) - 1, set[int]()
    for place, length in zip(reversed(places), reversed(lengths), strict=True):
        if length == wanted:
            kept.add(place)
            wanted -= 1
    return kept


def _printed(step: Step, numbers: Mapping[str, str]) -> list[str]:
    """The lines of ``step``, without the steps inside it; jumps, and answers that are called by the
    number of a step, by the numbers of the new text."""

    def led(then: Direction) -> Direction:
        return GoTo(numbers.get(then.step, then.step)) if isinstance(then, GoTo) else then

    alone = replace(
        step,
        number=_SHIFTED,
        steps=(),
        lanes=(),
        then=led(step.then),
        branches=tuple(replace(one, then=led(one.then)) for one in step.branches),
        handlers=tuple(replace(one, then=led(one.then)) for one in step.handlers),
    )
    text = print_markdown(Sop("", "", (alone,)))
    text = _ANSWER.sub(lambda found: f"answer_{_shifted(found[1], numbers)}", text)
    lines = text.partition(f"{_SHIFTED}. ")[2].splitlines()
    return [line.strip() for line in lines if line.strip()]


def _shifted(number: str, numbers: Mapping[str, str]) -> str:
    dotted = number.replace("_", ".")
    return numbers.get(dotted, dotted).replace(".", "_")
