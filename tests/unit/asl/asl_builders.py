"""Small machines and visits for the tests of dcf.asl."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from dcf.asl import (
    Entered,
    Event,
    Execution,
    State,
    TaskCall,
    TaskSucceeded,
    VirtualClock,
    Visit,
    interpret,
    parse,
    step,
    validate,
)
from dcf.asl import evaluation_budget as limits


def lower_limits(monkeypatch: pytest.MonkeyPatch, share: int) -> float:
    """Expressions meet their limits of work and memory early: in share 0 of a campaign a fifth of
    what they may use elsewhere, which is returned. What is without a limit takes as long as
    before."""
    if share > 0:
        return 1.0
    part = 0.2
    for name in ("STEP_LIMIT", "TOTAL_LIMIT"):
        monkeypatch.setattr(limits, name, int(getattr(limits, name) * part))
    monkeypatch.setattr(limits, "REGEX_LIMIT_S", limits.REGEX_LIMIT_S * part)
    return part


def machine_of(**states: dict[str, Any]) -> dict[str, Any]:
    """A definition that starts at the first of ``states``."""
    return {"StartAt": next(iter(states)), "States": states}


def alone(state: dict[str, Any]) -> dict[str, Any]:
    """A definition with ``state`` as ``S`` and a Succeed ``Next`` after it."""
    if state["Type"] in ("Succeed", "Fail"):
        return machine_of(S=state)
    if state["Type"] == "Choice":
        return machine_of(S={"Default": "Next", **state}, Next={"Type": "Succeed"})
    return machine_of(S={"Next": "Next", **state}, Next={"Type": "Succeed"})


def parsed(state: dict[str, Any]) -> State:
    return parse(alone(state)).states["S"]


def visit_of(data: Any, context: dict[str, Any] | None = None, **more: Any) -> Visit:
    return Visit(data, context if context is not None else {"State": {"Name": "S"}}, **more)


def enter(state: dict[str, Any], data: Any, context: dict[str, Any] | None = None) -> Any:
    """The effect of entering ``state`` with ``data``."""
    return step(parsed(state), visit_of(data, context), Entered())


def react(state: dict[str, Any], data: Any, event: Event, **more: Any) -> Any:
    """The effect of ``event`` in ``state``."""
    return step(parsed(state), visit_of(data, **more), event)


def passed(state: dict[str, Any], data: Any, context: dict[str, Any] | None = None) -> Any:
    """The output of a Pass with these fields."""
    return enter({"Type": "Pass", **state}, data, context).output


def evaluated(call: str, data: Any = None) -> Any:
    """The value of an intrinsic call or path."""
    effect = enter({"Type": "Pass", "Parameters": {"v.$": call}}, data)
    return effect.output["v"] if hasattr(effect, "output") else (effect.error, effect.cause)


def codes(definition: Any) -> list[tuple[str, str]]:
    """(code, path) of each problem of ``definition``."""
    return [(problem.code, problem.path) for problem in validate(definition)]


def echo(call: TaskCall) -> TaskSucceeded:
    return TaskSucceeded(call.arguments)


def run(definition: dict[str, Any], data: Any = None, **more: Any) -> Execution:
    """Interpret ``definition``; tasks echo their arguments unless ``call_task`` is given."""
    given = {"call_task": echo, "clock": VirtualClock(), "rng": Random(7), **more}
    return interpret(parse(definition), data, **given)
