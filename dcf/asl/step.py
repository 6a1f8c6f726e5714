"""One step: a state, what it sees, what happened to it -> what it wants. Pure, no clock."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from dcf.asl import flow_steps, work_steps
from dcf.asl.effect import Effect
from dcf.asl.errors import RUNTIME, AslError, EvaluationError
from dcf.asl.outcome import recover
from dcf.asl.scope import Scope
from dcf.asl.state import State
from dcf.asl.visit import (
    ChildFailed,
    Entered,
    Event,
    Joined,
    TaskFailed,
    TaskSucceeded,
    TimerFired,
    Visit,
)


class UnexpectedEvent(AslError):
    """The caller sent an event that this type of state never waits for."""

    def __init__(self, state: State, event: Event) -> None:
        self.state = state.name
        self.event = type(event).__name__
        super().__init__(f"a {state.type} state ({state.name}) never gets {self.event}")


_Handler = Callable[[Any, Scope, Visit, Any], Effect]
_HANDLERS: dict[str, dict[type[Any], _Handler]] = {
    "Task": {
        Entered: work_steps.enter_task,
        TaskSucceeded: work_steps.end_task,
        TaskFailed: work_steps.fail,
    },
    "Pass": {Entered: flow_steps.enter_pass},
    "Choice": {Entered: flow_steps.enter_choice},
    "Wait": {Entered: flow_steps.enter_wait, TimerFired: flow_steps.end_wait},
    "Succeed": {Entered: flow_steps.enter_succeed},
    "Fail": {Entered: flow_steps.enter_fail},
    "Parallel": {
        Entered: work_steps.enter_parallel,
        Joined: work_steps.join,
        ChildFailed: work_steps.fail,
    },
    "Map": {
        Entered: work_steps.enter_map,
        Joined: work_steps.join,
        ChildFailed: work_steps.fail,
    },
}


def step(state: State, visit: Visit, event: Event, rng: Random | None = None) -> Effect:
    """What ``state`` wants now that ``event`` happened in this ``visit``.

    Mutates nothing; outputs may share parts with the input, so treat both as immutable.
    Evaluation errors become ``States.*`` errors with Retry and Catch applied. ``rng`` serves
    jitter, ``States.MathRandom`` and ``States.UUID``; without it they depend on the visit's
    context alone. Raises UnexpectedEvent for an event this state cannot get.
    """
    handler = _HANDLERS[state.type].get(type(event))
    if handler is None:
        raise UnexpectedEvent(state, event)
    scope = Scope(visit.input, visit.context, visit.variables, rng, type(event).__name__)
    try:
        return handler(state, scope, visit, event)
    except EvaluationError as error:
        cause = f"state `{state.name}`: {error.cause}"
        return recover(state, visit, scope, error.error, cause)
    except RecursionError:
        return recover(state, visit, scope, RUNTIME, f"state `{state.name}`: data nests too deep")
