"""Numbers of steps: in full, whatever was written inside another step."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from dcf.sop.direction import Direction, GoTo
from dcf.sop.step import Step


def full_number(parent: str, written: str) -> str:
    """The number of a step inside step ``parent``.

    >>> full_number("4", "2"), full_number("4", "4.2"), full_number("4", "b"), full_number("", "3a")
    ('4.2', '4.2', '4b', '3a')
    """
    if not parent or re.match(rf"{re.escape(parent)}[.a-z]", written):
        return written
    return f"{parent}{'.' if written[0].isdigit() else ''}{written}"


def number_jumps(steps: Iterable[Step], parent: str) -> tuple[Step, ...]:
    """``steps`` of one list, with jumps to full numbers: inside step 4, ``go to step 2`` means 4.2
    if there is one."""
    listed = tuple(steps)
    known = {step.number for step in listed}

    def full(direction: Direction) -> Direction:
        if not isinstance(direction, GoTo):
            return direction
        inside = full_number(parent, direction.step)
        return replace(direction, step=inside) if inside in known else direction

    return tuple(_directed(step, full) for step in listed)


def _directed(step: Step, full: Callable[[Direction], Direction]) -> Step:
    return replace(
        step,
        then=full(step.then),
        branches=tuple(replace(each, then=full(each.then)) for each in step.branches),
        handlers=tuple(replace(each, then=full(each.then)) for each in step.handlers),
    )
