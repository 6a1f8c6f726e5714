"""What the person named besides the objective, brought into the procedure that is planned."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from dcf.planner.conversation.question import lines_of
from dcf.problem import Problem
from dcf.sop import Budget, Guardrail, Sop, Value, parse

_LIMIT = re.compile(r"(budget|deadline|time limit)\s*:|within\s", re.IGNORECASE)
_NAME = re.compile(r"`?([A-Za-z_]\w*)`?(?:\s*\(\w+\))?")
_ONE_RULE = (
    "# A rule\n\n## Objective\n\nIt holds.\n\n## Guardrails\n\n- {}\n\n## Steps\n\n1. Work\n"
)


def unreadable(answer: Any) -> list[Problem]:
    """What of the guardrails in ``answer`` begins like a limit and is none."""
    return [
        replace(problem, file="guardrails", line=None)
        for line in lines_of(answer or "")
        if _LIMIT.match(line)
        for problem in parse(_ONE_RULE.format(line), "guardrails.md").problems
        if problem.is_error
    ]


def with_guardrails(sop: Sop, answer: Any) -> Sop:
    """``sop`` with the guardrails in ``answer`` that it does not have yet. ``Budget: 3 tool calls``
    and ``Within 2 days`` among them are limits of the run, as in a procedure; of two the narrower
    one holds."""
    for line in lines_of(answer or ""):
        limits = _limits(line)
        if limits is not None:
            budget = _narrower(sop.budget, limits.budget)
            sop = replace(sop, budget=budget, deadline=_least(sop.deadline, limits.deadline))
        elif all(line != one.text for one in sop.guardrails):
            sop = replace(sop, guardrails=(*sop.guardrails, Guardrail(line)))
    return sop


def unnamed(sop: Sop, answers: Mapping[str, Any], *, drafted: bool) -> list[Problem]:
    """The inputs and outputs that the person named, one name to a part, and ``sop`` does not have.
    A draft must have them; what is stored is as it is."""
    return [
        Problem(
            "PLAN_WISH",
            f"the procedure has no {what} `{name}`, which was asked for",
            hint="name it so; a step can write it with `Writes: other as name`",
            severity="error" if drafted else "warning",
            file=f"{what}s",
        )
        for what, there in (("input", sop.inputs), ("output", sop.outputs))
        for name in _missing(answers.get(f"{what}s"), there)
    ]


def _limits(line: str) -> Sop | None:
    """A procedure with the limits in ``line``; None where it is a rule in words."""
    if not _LIMIT.match(line):
        return None
    read = parse(_ONE_RULE.format(line), "guardrails.md").sop
    return None if read is None or read.guardrails else read


def _narrower(first: Budget | None, second: Budget | None) -> Budget | None:
    if first is None or second is None:
        return second or first
    least = {
        one.name: _least(getattr(first, one.name), getattr(second, one.name))
        for one in fields(Budget)
    }
    return Budget(**least)


def _least(first: Any, second: Any) -> Any:
    given = [one for one in (first, second) if one is not None]
    return min(given, default=None)


def _missing(answer: Any, there: Iterable[Value]) -> list[str]:
    known = {one.name for one in there}
    return [name for name in _names(answer) if name not in known]


def _names(answer: Any) -> list[str]:
    """The names in an answer; a part that is no name is words, which nobody can check."""
    parts = [part.strip() for line in lines_of(answer or "") for part in line.split(",")]
    return [found[1] for part in parts if (found := _NAME.fullmatch(part))]
