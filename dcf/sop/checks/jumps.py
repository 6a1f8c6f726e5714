"""Numbers, jumps, and steps that nothing leads to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dcf.sop.direction import Continue, Direction, GoTo, Stop
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


def _shown(numbers: list[str]) -> str:
    most = 12
    left = len(numbers) - most
    return ", ".join(numbers[:most]) + (f" and {left} more" if left > 0 else "")


def _check_reached(steps: Sequence[Step], findings: Findings) -> None:
    places = {step.number: index for index, step in reversed(list(enumerate(steps)))}
    reached: set[int] = set()
    ahead = [0] if steps else []
    ahead += [places[number] for number in findings.mentioned if number in places]
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
    for index, step in enumerate(steps):
        if index not in reached and index - 1 in reached:
            _unreachable(steps[index - 1], step, findings)


def _unreachable(before: Step, step: Step, findings: Findings) -> None:
    hint = f"let another step say `go to step {step.number}`, or remove it"
    if before.kind == "end":
        message = f"step {step.number} comes after an end, and no step jumps to it"
        findings.add("SOP_AFTER_END", message, hint, step.line)
    else:
        message = f"step {step.number} is never reached: step {before.number} goes on elsewhere"
        findings.add("SOP_UNREACHABLE", message, hint, step.line)
