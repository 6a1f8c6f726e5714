"""Steps of the YAML form."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from dcf.sop.conduct import Approval, Join, Transfer, Wait
from dcf.sop.direction import CONTINUE, Direction, GoTo, Stop
from dcf.sop.findings import Findings
from dcf.sop.kind import asks, asks_only
from dcf.sop.language.approval_text import read_approver
from dcf.sop.language.condition_text import read_condition
from dcf.sop.language.direction_text import read_direction
from dcf.sop.language.join_text import read_joins
from dcf.sop.language.labels import read_skills
from dcf.sop.language.phrase import STEP_NUMBER
from dcf.sop.language.retry_text import read_retry
from dcf.sop.language.run_text import read_run
from dcf.sop.language.transfer_text import read_transfer
from dcf.sop.language.wait_text import read_wait
from dcf.sop.numbers import full_number, number_jumps
from dcf.sop.step import Branch, Handler, Lane, Loop, Step, StepKind
from dcf.sop.yaml_form.limits import read_budget_of, read_duration_of

T = TypeVar("T")
_WORK = ("skills", "reads", "writes", "role", "tier", "budget", "runs")


class StepReader:
    """Reads steps whose shape is as the schema demands; a place is a value with its mark."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def steps(self, place: Any, parent: str) -> tuple[Step, ...]:
        """The steps of one list; one without a number is counted."""
        elements = list(place.elements()) if place else []
        read = [self._step(one, parent, index) for index, one in enumerate(elements, start=1)]
        return number_jumps(read, parent)

    def _step(self, place: Any, parent: str, index: int) -> Step:
        number = self._number(place, parent, index)
        value = place.value
        known = len(self._findings.problems)
        approval = self._approval(place)
        step = Step(
            number,
            value["title"],
            _kind(value, approval),
            value.get("text", ""),
            role=value.get("role"),
            skills=tuple(
                name for names in self._each(place, "skills", read_skills) for name in names
            ),
            reads=self._transfers(place, "reads"),
            writes=self._transfers(place, "writes"),
            branches=tuple(self._branches(place)),
            then=self._direction(place),
            wait=self._wait(place),
            approval=approval,
            runs=self._read(place.member("runs"), read_run),
            choices=tuple(value.get("choices", ())),
            loop=_loop(value.get("for_each")),
            steps=self.steps(place.member("steps"), number),
            lanes=self._lanes(place, number),
            joins=self._joins(place),
            retries=tuple(self._each(place, "retries", read_retry)),
            deadline=read_duration_of(place.member("deadline"), self._findings),
            handlers=tuple(self._handlers(place)),
            tier=value.get("tier"),
            budget=read_budget_of(place.member("budget"), self._findings),
            line=place.mark[0],
        )
        if len(self._findings.problems) > known:
            self._findings.spoil(step.line)
        return step

    def _number(self, place: Any, parent: str, index: int) -> str:
        given = place.value.get("number")
        if given is None:
            return full_number(parent, str(index))
        if not re.fullmatch(STEP_NUMBER, str(given)):
            hint = 'write "3", "3a" or "4.2"'
            line = place.member("number").mark[0]
            self._findings.add("SOP_NUMBER", f"{given!r} is no number of a step", hint, line)
            return full_number(parent, str(index))
        return full_number(parent, str(given))

    def _read(self, place: Any, read: Callable[[str], T]) -> T | None:
        if place is None:
            return None
        return self._findings.attempt(lambda: read(place.value), place.value, place.mark[0])

    def _each(self, place: Any, name: str, read: Callable[[str], T]) -> list[T]:
        inside = place.member(name)
        found = [self._read(one, read) for one in inside.elements()] if inside else []
        return [one for one in found if one is not None]

    def _transfers(self, place: Any, name: str) -> tuple[Transfer, ...]:
        inside = place.member(name)
        found = (
            (self._read(one, read_transfer), one.mark[0])
            for one in (inside.elements() if inside else ())
        )
        return tuple(replace(one, line=line) for one, line in found if one is not None)

    def _joins(self, place: Any) -> tuple[Join, ...]:
        inside = place.member("keep")
        found = (
            (self._read(one, read_joins), one.mark[0])
            for one in (inside.elements() if inside else ())
        )
        return tuple(replace(one, line=line) for several, line in found for one in several or ())

    def _approval(self, place: Any) -> Approval | None:
        if place.member("approval") is None:
            return None
        return Approval(tuple(self._each(place, "approval", read_approver)))

    def _wait(self, place: Any) -> Wait | None:
        return self._read(place.member("wait"), read_wait)

    def _direction(self, place: Any) -> Direction:
        then = place.member("then")
        found = self._read(then, read_direction)
        if isinstance(found, GoTo | Stop):
            return replace(found, line=then.mark[0])
        return CONTINUE if found is None else found

    def _branches(self, place: Any) -> list[Branch]:
        branches = []
        inside = place.member("branches")
        for one in inside.elements() if inside else ():
            condition = self._read(one.member("if"), read_condition)
            then = self._direction(one)
            if condition is not None:
                branches.append(Branch(condition, then, one.mark[0]))
        return branches

    def _handlers(self, place: Any) -> list[Handler]:
        inside = place.member("on_error")
        return [
            Handler(tuple(one.value.get("errors", ())), self._direction(one), one.mark[0])
            for one in (inside.elements() if inside else ())
        ]

    def _lanes(self, place: Any, number: str) -> tuple[Lane, ...]:
        inside = place.member("lanes")
        lanes = []
        for index, one in enumerate(inside.elements() if inside else (), start=1):
            title = one.value.get("title", "")
            alone = not title and len(one.value["steps"]) == 1
            if alone and "number" not in one.value["steps"][0]:
                steps = self._only(one.member("steps"), number, index)
            else:
                steps = self.steps(one.member("steps"), number if alone else f"{number}.{index}")
            lanes.append(Lane(steps, title, one.mark[0]))
        return tuple(lanes)

    def _only(self, place: Any, number: str, index: int) -> tuple[Step, ...]:
        """The single step of a lane without title, counted among the lanes."""
        return number_jumps([self._step(one, number, index) for one in place.elements()], number)


def _loop(given: Any) -> Loop | None:
    if given is None:
        return None
    at_once = given.get("at_once", 1)
    return Loop(given["in"], given["item"], None if at_once == "all" else at_once)


def _kind(value: dict[str, Any], approval: Approval | None) -> StepKind:
    """As it is said, or as the other members show."""
    kind: StepKind | None = value.get("kind")
    if kind is not None:
        return kind
    if "choices" in value:
        return "manual"
    if "for_each" in value:
        return "loop"
    if "lanes" in value:
        return "parallel"
    if "wait" in value:
        return "wait"
    works = any(name in value for name in _WORK)
    plain = not works and not value.get("text") and "retries" not in value
    if plain and approval is not None and asks_only(value["title"], approval.by):
        return "approval"
    return "decision" if "branches" in value and not works and asks(value["title"]) else "task"
