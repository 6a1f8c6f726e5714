"""Steps that no skill covers, as steps that a person does.

A file of its own: what a procedure needs before it can be compiled, where the compiler takes it as
it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from dcf.sop import CONTINUE, Sop, Step

_REJECTED = frozenset({"DCF.ApprovalRejected"})


def with_people(sop: Sop, numbers: Collection[str]) -> Sop:
    """``sop`` with manual steps for its tasks of these ``numbers``. A task that somebody has to
    approve first becomes an approval and the manual step behind it."""
    taken = {step.number for step in sop.all_steps()}
    return replace(sop, steps=_manual(sop.steps, numbers, taken))


def _manual(steps: tuple[Step, ...], numbers: Collection[str], taken: set[str]) -> tuple[Step, ...]:
    return tuple(made for step in steps for made in _of(step, numbers, taken))


def _of(step: Step, numbers: Collection[str], taken: set[str]) -> Iterator[Step]:
    if step.number not in numbers or step.kind != "task" or step.runs is not None:
        lanes = tuple(
            replace(lane, steps=_manual(lane.steps, numbers, taken)) for lane in step.lanes
        )
        yield replace(step, steps=_manual(step.steps, numbers, taken), lanes=lanes)
        return
    work = replace(step, kind="manual", skills=(), approval=None, tier=None, budget=None)
    if step.approval is None:
        yield work
        return
    refused = tuple(one for one in step.handlers if set(one.errors) & _REJECTED)
    yield Step(
        step.number,
        step.title,
        "approval",
        approval=step.approval,
        reads=step.reads,
        handlers=refused,
        then=CONTINUE,
        line=step.line,
    )
    others = tuple(one for one in step.handlers if one not in refused)
    yield replace(work, number=free_number(step.number, taken), handlers=others)


def free_number(number: str, taken: set[str]) -> str:
    """A number behind ``number`` that no other step has; it is among those ``taken`` then."""
    count = 1
    while f"{number}.{count}" in taken:
        count += 1
    taken.add(f"{number}.{count}")
    return f"{number}.{count}"
