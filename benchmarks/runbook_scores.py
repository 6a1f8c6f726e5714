"""An outcome against the labels of its runbook: what is right, missing, invented.

Things meet where their lines overlap, each once, nearest first lines before others. Nothing is
invented that an optional label has, that a diagram or a summary says again (``restated``), or that
splits a labelled step with a command block into its sentence and its command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from benchmarks.runbook_outcome import InputMade, Label, Labels, Lines, Outcome, StepMade, WayLabel

_Wanted = TypeVar("_Wanted", bound=Label)
_Made = TypeVar("_Made", bound=Lines)


@dataclass(frozen=True, slots=True)
class Score:
    """Of one kind of labels in one text; lines stand for what a person looks up."""

    wanted: int
    right: int
    missing: Sequence[str] = ()
    made: int = 0
    """What counts as right or invented; 0 where invented ones are not counted."""
    invented: Sequence[int] = ()


def scores(labels: Labels, outcome: Outcome) -> dict[str, Score]:
    """By kind of labels, each counted by itself."""
    restated = [Lines(line=first, last_line=last) for first, last in labels.restated]
    pairs = _paired(labels.steps, outcome.steps)
    numbers = {label.id: made.number for label, made in pairs}
    blocks = [*restated, *labels.commands]
    ways = _ways(numbers, outcome.steps)
    branches = _paired(labels.branches, outcome.branches, ways)
    # "Go to step 2" behind a condition is a branch, and a jump as well.
    jumps = _paired(labels.jumps, [*outcome.jumps, *outcome.branches], ways)
    loops = _paired(labels.loops, outcome.loops)
    ends = _paired(labels.ends, outcome.ends, lambda label, made: label.outcome == made.outcome)
    approvals = _paired(labels.approvals, outcome.approvals)
    inputs = _paired(labels.inputs, outcome.inputs, _same_input, anywhere=True)
    return {
        "steps": _score(labels.steps, pairs, outcome.steps, blocks),
        "order": _order(labels, outcome, numbers),
        "branches": _score(
            labels.branches, branches, outcome.branches, [*restated, *_all_met(branches, labels)]
        ),
        "jumps": _score(labels.jumps, jumps),
        "loops": _score(labels.loops, loops),
        "ends": _score(labels.ends, ends, _stated_ends(outcome, ends), restated),
        "approvals": _score(labels.approvals, approvals, outcome.approvals, restated),
        "inputs": _score(labels.inputs, inputs),
    }


def _paired(
    labels: Sequence[_Wanted],
    made: Sequence[_Made],
    fits: Callable[[_Wanted, _Made], bool] = lambda _label, _made: True,
    *,
    anywhere: bool = False,
) -> list[tuple[_Wanted, _Made]]:
    """Pairs of what overlaps, each once: required labels and the nearest first lines come first."""
    candidates = sorted(
        (label.optional, abs(label.line - one.line), abs(label.last - one.last), at, by)
        for at, label in enumerate(labels)
        for by, one in enumerate(made)
        if (anywhere or label.overlaps(one)) and fits(label, one)
    )
    by_label: dict[int, int] = {}
    taken: set[int] = set()
    for *_, at, by in candidates:
        if at not in by_label and by not in taken:
            by_label[at] = by
            taken.add(by)
    return [(labels[at], made[by]) for at, by in sorted(by_label.items())]


def _score(
    labels: Sequence[_Wanted],
    pairs: Sequence[tuple[_Wanted, _Made]],
    made: Sequence[_Made] = (),
    neutral: Iterable[Lines] = (),
) -> Score:
    """Missing labels, and what is made beside labels and ``neutral`` lines."""
    met = {id(label) for label, _one in pairs}
    needed = [label for label in labels if not label.optional]
    missing = [_named(label) for label in needed if id(label) not in met]
    paired = {id(one) for _label, one in pairs}
    excused = [*neutral, *(label for label in labels if label.optional)]
    invented = [
        one.line
        for one in made
        if id(one) not in paired and not any(one.overlaps(lines) for lines in excused)
    ]
    right = len(needed) - len(missing)
    return Score(len(needed), right, missing, right + len(invented) if made else 0, invented)


def _named(label: Label) -> str:
    """A label for a person: its line, and its words, name or outcome."""
    said = [getattr(label, name, "") for name in ("id", "words", "name", "outcome", "to")]
    return " ".join([f"line {label.line}:", *filter(None, said)])


def _order(labels: Labels, outcome: Outcome, numbers: Mapping[str, str]) -> Score:
    """Pairs whose steps were both found, the first before the second."""
    place = {made.number: at for at, made in enumerate(outcome.steps)}
    optional = {label.id for label in labels.steps if label.optional}
    wanted = [pair for pair in labels.order if not optional & set(pair)]
    missing = [
        f"{before} before {after}"
        for before, after in wanted
        if not (
            before in numbers
            and after in numbers
            and place[numbers[before]] < place[numbers[after]]
        )
    ]
    return Score(len(wanted), len(wanted) - len(missing), missing)


def _ways(
    numbers: Mapping[str, str], steps: Sequence[StepMade]
) -> Callable[[WayLabel, Lines], bool]:
    """Whether a branch or jump leads where the label says, or to a step around or inside of it.

    Escalation may also be a step at the line that says it.
    """

    def fits(label: WayLabel, made: Lines) -> bool:
        to = getattr(made, "to", "")
        if label.to == "*" or (label.to == to and to in ("end", "escalate")):
            return True
        if label.to == "escalate":
            return any(step.number == to and step.overlaps(label) for step in steps)
        wanted = numbers.get(label.to, "")
        return bool(wanted) and (f"{to}.".startswith(f"{wanted}.") or wanted.startswith(f"{to}."))

    return fits


def _all_met(pairs: Sequence[tuple[WayLabel, Lines]], labels: Labels) -> list[Lines]:
    """Labelled conditions that were found: a further branch there is their "otherwise"."""
    met = {id(label) for label, _made in pairs}
    return [
        label
        for label in labels.branches
        if all(id(other) in met for other in labels.branches if other.line == label.line)
    ]


def _stated_ends(outcome: Outcome, pairs: Sequence[tuple[Label, Lines]]) -> list[Lines]:
    """Ends without the one good end after the last step, which texts need not name."""
    paired = {id(made) for _label, made in pairs}
    beside = [end for end in outcome.ends if end.outcome == "ok" and id(end) not in paired]
    return [end for end in outcome.ends if end not in beside[-1:]]


def _same_input(label: Label, made: InputMade) -> bool:
    """One name holds the other, letters and digits alone; or they share a line and a word."""
    wanted = getattr(label, "name", "")
    first, second = _letters(wanted), _letters(made.name)
    if first and second and (first in second or second in first):
        return True
    shared = set(re.findall(r"\w+", wanted.casefold())) & set(
        re.findall(r"[^\W_]+", made.name.casefold())
    )
    return label.overlaps(made) and bool(shared)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())
