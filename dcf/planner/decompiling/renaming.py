"""Steps whose values are called by the names that they have outside of their list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from dcf.sop import (
    AllOf,
    AnyOf,
    ArgumentList,
    Branch,
    Comparison,
    Condition,
    Direction,
    Handler,
    Match,
    Membership,
    Name,
    Not,
    Placeholder,
    Presence,
    Step,
    Stop,
    Transfer,
    Wait,
)

T = TypeVar("T")
Names = Mapping[str, str]
"""Names by the variable that a list has for them."""
_QUOTED = re.compile(r"`([A-Za-z_]\w*)((?:\.\w+)*)`")


def renamed(steps: Iterable[Step], names: Names) -> tuple[Step, ...]:
    """``steps``, and those inside them, with the names of ``names``."""
    return tuple(_step(step, names) for step in steps) if names else tuple(steps)


def _step(step: Step, names: Names) -> Step:
    return replace(
        step,
        reads=tuple(_read(one, names, step.runs) for one in step.reads),
        writes=tuple(replace(one, target=names.get(one.target, one.target)) for one in step.writes),
        branches=tuple(
            Branch(_condition(one.condition, names), _direction(one.then, names))
            for one in step.branches
        ),
        handlers=tuple(Handler(one.errors, _direction(one.then, names)) for one in step.handlers),
        then=_direction(step.then, names),
        wait=step.wait and Wait(_value(step.wait.seconds, names), _value(step.wait.until, names)),
        loop=step.loop and replace(step.loop, items=_path(step.loop.items, names)),
        runs=step.runs and _command(step.runs, names),
        steps=renamed(step.steps, names),
        joins=tuple(replace(one, name=names.get(one.name, one.name)) for one in step.joins),
        lanes=tuple(replace(lane, steps=renamed(lane.steps, names)) for lane in step.lanes),
    )


def _read(read: Transfer, names: Names, runs: ArgumentList | None) -> Transfer:
    """What a command is given is called there as it is outside of the list."""
    source = _path(read.source, names)
    return Transfer(source, source if runs else read.target)


def _command(runs: ArgumentList, names: Names) -> ArgumentList:
    return ArgumentList(
        tuple(tuple(_part(one, names) for one in argument) for argument in runs.arguments)
    )


def _part(part: str | Placeholder, names: Names) -> str | Placeholder:
    return part if isinstance(part, str) else Placeholder(names.get(part.name, part.name))


def _path(path: str, names: Names) -> str:
    root, dot, rest = path.partition(".")
    return f"{names.get(root, root)}{dot}{rest}"


def _value(value: T | Name, names: Names) -> T | Name:
    return Name(_path(value.path, names)) if isinstance(value, Name) else value


def _direction(direction: Direction, names: Names) -> Direction:
    if not isinstance(direction, Stop):
        return direction
    told = _QUOTED.sub(lambda one: f"`{names.get(one[1], one[1])}{one[2]}`", direction.cause)
    return Stop(direction.error, told)


def _condition(found: Condition, names: Names) -> Condition:
    match found:
        case Comparison(left, operator, right):
            return Comparison(Name(_path(left.path, names)), operator, _value(right, names))
        case Presence(name):
            return Presence(Name(_path(name.path, names)))
        case Match(name, pattern):
            return Match(Name(_path(name.path, names)), pattern)
        case Membership(name, values):
            return Membership(Name(_path(name.path, names)), values)
        case Not(inner):
            return Not(_condition(inner, names))
        case AllOf(parts):
            return AllOf(tuple(_condition(part, names) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(_condition(part, names) for part in parts))
