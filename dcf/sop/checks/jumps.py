"""Numbers, jumps, and steps that nothing leads to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from dcf.sop.direction import Continue, Direction, Finish, GoTo, Stop
from dcf.sop.findings import Findings
from dcf.sop.nearest import nearest
from dcf.sop.procedure import Sop
from dcf.sop.step import Step


def check_jumps(sop: Sop, findings: Findings) -> None:
    """Numbers that stand twice, jumps to nowhere or to another list, unreachable steps."""
    numbers: dict[str, int] = {}
    for step in sop.all_steps():
        if step.number in numbers:
            first = f" (first on line {numbers[step.number]})" if numbers[step.number] else ""
            message = f"there are two steps {step.number}{first}"
            hint = "number them apart; jumps name steps by their numbers"
            findings.add("SOP_NUMBER", message, hint, step.line)
        numbers.setdefault(step.number, step.line)
    for steps in _lists(sop.steps):
        _check_targets(steps, numbers, findings)
        _check_order(steps, findings)
        if steps is not sop.steps:
            _check_ends(steps, findings)
        if not findings.cut_short:
            _check_reached(steps, findings)


def _lists(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Every list of steps: jumps stay within one."""
    yield steps
    for step in steps:
        if step.steps:
            yield from _lists(step.steps)
        for lane in step.lanes:
            yield from _lists(lane.steps)


def directions(step: Step) -> Iterator[tuple[Direction, int]]:
    """Where ``step`` may go on, with the line that says so."""
    for then, line in (
        *((branch.then, branch.line) for branch in step.branches),
        *((handler.then, handler.line) for handler in step.handlers),
    ):
        yield then, _line(then) or line or step.line
    yield step.then, _line(step.then) or step.line


def _line(direction: Direction) -> int:
    return direction.line if isinstance(direction, GoTo | Stop) else 0


def _check_targets(steps: Sequence[Step], numbers: dict[str, int], findings: Findings) -> None:
    here = {step.number for step in steps}
    for step in steps:
        for direction, line in directions(step):
            if not isinstance(direction, GoTo) or direction.step in here:
                continue
            if direction.step in numbers:
                message = f"step {step.number} jumps to step {direction.step}, in another list"
                hint = "jumps stay inside their loop or branch: end it with `finish`, or `stop`"
                findings.add("SOP_JUMP_SCOPE", message, hint, line)
            elif not findings.cut_short:
                near = nearest(direction.step, here, 0.5)
                hint = f"did you mean step {near}? " if near else ""
                hint += f"The steps here are {_shown([one.number for one in steps])}"
                message = f"there is no step {direction.step}"
                findings.add("SOP_JUMP", message, hint, line)


def _check_order(steps: Sequence[Step], findings: Findings) -> None:
    """Steps follow one another as they stand, whatever their numbers."""
    for before, step in pairwise(steps):
        if _place(step.number) < _place(before.number):
            message = f"step {step.number} stands after step {before.number}, and is done after it"
            hint = "put the steps in the order of their numbers, or number them anew"
            findings.add("SOP_NUMBER", message, hint, step.line, "warning")


def _place(number: str) -> list[tuple[int, str]]:
    return [(int(part[:15]), letter) for part, letter in re.findall(r"([0-9]+)([a-z]*)", number)]


def _check_ends(steps: Sequence[Step], findings: Findings) -> None:
    """Inside a loop or a branch nothing ends the procedure but a stop."""
    for step in steps:
        for direction, line in directions(step):
            if isinstance(direction, Finish) and direction.of_procedure:
                message = f"step {step.number} cannot end the procedure from inside a step"
                hint = (
                    "`finish` ends this turn or branch only, `stop with SomeError` everything; to "
                    "end well, write what was found and let a condition after the step `finish`"
                )
                findings.add("SOP_JUMP_SCOPE", message, hint, line)


def _shown(numbers: list[str]) -> str:
    most = 12
    left = len(numbers) - most
    return ", ".join(numbers[:most]) + (f" and {left} more" if left > 0 else "")


def _check_reached(steps: Sequence[Step], findings: Findings) -> None:
    places = {step.number: index for index, step in reversed(list(enumerate(steps)))}
    ahead = [0] if steps else []
    ahead += [places[number] for number in findings.mentioned if number in places]
    reached = _reached(steps, places, ahead)
    for index, step in enumerate(steps):
        if index not in reached and index - 1 in reached:
            _unreachable(steps[index - 1], step, findings)


def _reached(steps: Sequence[Step], places: dict[str, int], ahead: list[int]) -> set[int]:
    """The steps by index that some way leads to from those ``ahead``."""
    reached: set[int] = set()
    while ahead:
        index = ahead.pop()
        if index in reached or index >= len(steps):
            continue
        reached.add(index)
        for direction, _ in directions(steps[index]):
            if isinstance(direction, GoTo) and direction.step in places:
                ahead.append(places[direction.step])
            elif isinstance(direction, Continue | GoTo):  # a jump to nowhere was said before
                ahead.append(index + 1)
    return reached


def ends_well(steps: Sequence[Step]) -> bool:
    """Whether some step that can be reached leads to the end of the list, and not to a stop."""
    places = {step.number: index for index, step in reversed(list(enumerate(steps)))}
    for index in _reached(steps, places, [0] if steps else []):
        for direction, _ in directions(steps[index]):
            last = isinstance(direction, Continue) and index + 1 == len(steps)
            if last or isinstance(direction, Finish):
                return True
    return not steps


def _unreachable(before: Step, step: Step, findings: Findings) -> None:
    hint = f"let another step say `go to step {step.number}`, or remove it"
    if before.kind == "end":
        message = f"step {step.number} comes after an end, and no step jumps to it"
        findings.add("SOP_AFTER_END", message, hint, step.line)
    else:
        message = f"step {step.number} is never reached: step {before.number} goes on elsewhere"
        findings.add("SOP_UNREACHABLE", message, hint, step.line)
