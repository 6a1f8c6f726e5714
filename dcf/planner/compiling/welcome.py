"""Examples that let a rehearsal get through: values by which a procedure goes on, where others
would stop it or send it back for ever."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product
from random import Random
from typing import Any

from dcf import asl
from dcf.planner.compiling.expression import Names, condition, wrapped
from dcf.planner.compiling.known import place_of
from dcf.planner.compiling.shape import Shape
from dcf.sop import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Constant,
    Direction,
    Match,
    Membership,
    Name,
    Not,
    Step,
    names_in,
)

_MOST = 64
"""Combinations of values that are tried for one step."""


def prefer_welcome(step: Step, steps: Sequence[Step], shape_at: Callable[[str], Shape]) -> None:
    """Give what drafts answer examples by which ``step``, one of ``steps``, goes on to a step
    behind it or to the end, if there are such. What the examples are already is tried first."""
    paths = dict.fromkeys(name.path for one in step.branches for name in names_in(one.condition))
    ours = [path for path in paths if shape_at(path).is_drafted]
    if not ours:
        return
    machine = _machine(step, [*paths])
    index = steps.index(step)
    choices = [list(_candidates(step, path, shape_at(path))) for path in ours]
    for values in islice(product(*choices), _MOST):
        tried = dict(zip(ours, values, strict=True))
        roots: dict[str, Any] = {}
        for path in paths:
            value = tried[path] if path in tried else shape_at(path).example()
            _put(roots, path.split("."), value)
        if _is_welcome(_taken(step, machine, roots), steps, index):
            for path, value in tried.items():
                shape_at(path).prefer(value)
            return


def _is_welcome(direction: Direction | None, steps: Sequence[Step], index: int) -> bool:
    if direction is None:
        return False
    place = place_of(direction, steps, index)
    if isinstance(place, int):
        ends = steps[place].kind == "end"
        return place > index and not (ends and place_of(steps[place].then, steps, place) == "stop")
    return place == "end"


def _machine(step: Step, paths: Sequence[str]) -> asl.StateMachine:
    """The conditions of ``step`` as the compiled workflow has them; it puts out the number of the
    first one that holds, -1 for none."""
    roots = dict.fromkeys(path.partition(".")[0] for path in paths)
    states: dict[str, Any] = {
        "Take": {
            "Type": "Pass",
            "Assign": {name: f"{{% $lookup($states.input, '{name}') %}}" for name in roots},
            "Next": "Choose",
        },
        "Choose": {
            "Type": "Choice",
            "Choices": [
                {"Condition": wrapped(condition(branch.condition, Names())), "Next": f"Way {at}"}
                for at, branch in enumerate(step.branches)
            ],
            "Default": "Way -1",
        },
    }
    for at in range(-1, len(step.branches)):
        states[f"Way {at}"] = {"Type": "Succeed", "Output": at}
    return asl.parse({"StartAt": "Take", "QueryLanguage": "JSONata", "States": states})


def _taken(step: Step, machine: asl.StateMachine, roots: dict[str, Any]) -> Direction | None:
    """Where ``step`` goes on with these values; None where they cannot be compared."""
    end = asl.interpret(machine, roots, call_task=_no_task, clock=asl.VirtualClock(), rng=Random(0))
    if end.status != "SUCCEEDED":
        return None
    at = end.output
    return step.then if at == -1 else step.branches[at].then


def _no_task(call: asl.TaskCall) -> Any:
    raise AssertionError(f"there is no Task in it: {call}")


def _candidates(step: Step, path: str, shape: Shape) -> Iterator[Any]:
    """The example that ``shape`` has, then what ``step`` compares the value with, and beside it."""
    tried: list[Any] = []
    found = [shape.example(), *([True, False] if shape.kind == "boolean" else ())]
    for branch in step.branches:
        for constant in _compared(branch.condition, path):
            value = constant.value
            if isinstance(value, int | float) and not isinstance(value, bool):
                found += [value, value + 1, value - 1]
            else:
                found.append(value)
    for one in found:
        if one not in tried:
            tried.append(one)
            yield one


def _compared(wanted: Condition, path: str) -> Iterator[Constant]:
    match wanted:
        case Comparison(Name(left), _, Constant() as right) if left == path:
            yield right
        case Membership(Name(name), values) if name == path:
            yield from values
        case Match(Name(name), pattern) if name == path:
            yield Constant(pattern.replace("\\*", "*"))
        case Not(inner):
            yield from _compared(inner, path)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _compared(part, path)


def _put(into: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for member in path[:-1]:
        into = into.setdefault(member, {})
    into[path[-1]] = value
