"""One step: a state, what it sees, what happened to it -> what it wants. Pure, no clock."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from dcf.asl import flow_steps, work_steps
from dcf.asl.effect import Effect, Finish, RunTask, Transition
from dcf.asl.errors import DATA_LIMIT_EXCEEDED, RUNTIME, AslError, EvaluationError, PlainError
from dcf.asl.maps import map_steps
from dcf.asl.outcome import located, recover
from dcf.asl.payload import JSON, is_heavier, size
from dcf.asl.scope import Scope
from dcf.asl.state import State
from dcf.asl.visit import (
    ChildFailed,
    Entered,
    Event,
    ItemsRead,
    ItemsUnreadable,
    Joined,
    ResultRefused,
    ResultsUnwritable,
    ResultsWritten,
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
        Entered: map_steps.enter_map,
        ItemsRead: map_steps.take_items,
        ItemsUnreadable: map_steps.items_unreadable,
        Joined: map_steps.join_map,
        ChildFailed: map_steps.fail_map,
        ResultsWritten: map_steps.end_writing,
        ResultsUnwritable: map_steps.results_unwritable,
    },
}

for _of_type in _HANDLERS.values():
    _of_type[ResultRefused] = work_steps.fail


def step(
    state: State,
    visit: Visit,
    event: Event,
    rng: Random | None = None,
    *,
    limit: int | None = None,
    stages: dict[str, JSON] | None = None,
) -> Effect:
    """What ``state`` wants now that ``event`` happened in this ``visit``.

    Mutates nothing; outputs may share parts with the input, so treat both as immutable.
    Evaluation errors become ``States.*`` errors with Retry and Catch applied. ``rng`` serves
    jitter, ``States.MathRandom`` and ``States.UUID``; without it they depend on the visit's
    context alone. A result, output or argument, or the variables assigned at once, of more than
    ``limit`` bytes of JSON are ``States.DataLimitExceeded``. ``stages`` is filled with what each
    stage of the data flow gave.
    Raises UnexpectedEvent for an event this state cannot get.
    """
    handler = _HANDLERS[state.type].get(type(event))
    if handler is None:
        raise UnexpectedEvent(state, event)
    scope = Scope(visit.input, visit.context, visit.variables, rng, type(event).__name__)
    scope.stages = stages
    try:
        effect = handler(state, scope, visit, event)
        if limit is not None:
            _check_size(state, event, effect, limit)
        return effect
    except EvaluationError as error:
        return recover(state, visit, scope, error.error, located(state, visit, error))
    except RecursionError:
        deep = EvaluationError(RUNTIME, "The data nests too deep.")
        return recover(state, visit, scope, RUNTIME, located(state, visit, deep))


def _check_size(state: State, event: Event, effect: Effect, limit: int) -> None:
    if isinstance(effect, (Transition, Finish)):
        _check(state, "returned a result", effect.output, limit)
        if isinstance(event, TaskSucceeded) and event.result is not effect.output:
            _check(state, "returned a result", event.result, limit)
        if effect.assign:
            _check(state, "assigned variables", effect.assign, limit)
    elif isinstance(effect, RunTask):
        _check(state, "created an input", effect.arguments, limit)


def _check(state: State, done: str, value: JSON, limit: int) -> None:
    if is_heavier(value, limit) or size(value) > limit:
        cause = (
            f"The state/task '{state.name}' {done} with a size exceeding the maximum number of "
            "bytes service limit."
        )
        raise PlainError(DATA_LIMIT_EXCEEDED, cause)
