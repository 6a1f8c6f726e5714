"""One step: a state, what it sees, what happened to it -> what it wants. Pure, no clock."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from dcf.asl import flow_steps, work_steps
from dcf.asl.data_limit import INPUT, RESULT, VARIABLES, answering, check_size
from dcf.asl.effect import Effect, Failure, FanOut, Finish, RunTask, Transition
from dcf.asl.errors import RUNTIME, AslError, EvaluationError
from dcf.asl.maps import map_steps
from dcf.asl.outcome import located, recover
from dcf.asl.payload import JSON
from dcf.asl.scope import Scope
from dcf.asl.state import MapState, State
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


_NEW = object()  # no payload is this one

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
    context alone. A result, output or argument, an input of a child, or the variables assigned at
    once, of more than ``limit`` bytes of JSON are ``States.DataLimitExceeded``; without a limit
    those that have grown beyond 16 MiB. ``stages`` is filled with what each stage of the data
    flow gave.
    Raises UnexpectedEvent for an event this state cannot get.
    """
    handler = _HANDLERS[state.type].get(type(event))
    if handler is None:
        raise UnexpectedEvent(state, event)
    scope = Scope(
        visit.input, visit.context, visit.variables, rng, type(event).__name__, visit.identity
    )
    scope.stages = stages
    try:
        effect = handler(state, scope, visit, event)
        _check_size(state, visit, event, effect, limit)
        return effect
    except EvaluationError as error:
        effect = recover(state, visit, scope, error.error, located(state, visit, error))
    except RecursionError:
        deep = EvaluationError(RUNTIME, "The data nests too deep.")
        effect = recover(state, visit, scope, RUNTIME, located(state, visit, deep))
    try:
        # What a catcher makes may be too large as well; what failed is not looked at again.
        _check_size(state, visit, Entered(), effect, limit)
        return effect
    except EvaluationError as error:
        return Failure(error.error, located(state, visit, error))


def _check_size(
    state: State, visit: Visit, event: Event, effect: Effect, limit: int | None
) -> None:
    # What came in and goes on has not grown.
    old = visit.input if limit is None else _NEW
    if isinstance(effect, (Transition, Finish)):
        if isinstance(event, TaskSucceeded):
            check_size(answering(state.name, state.resource), RESULT, event.result, limit)
        result = event.result if isinstance(event, TaskSucceeded) else old
        if effect.output is not old and effect.output is not result:
            check_size(state.name, RESULT, effect.output, limit)
        if effect.assign:
            check_size(state.name, VARIABLES, effect.assign, limit)
    elif isinstance(effect, RunTask):
        if effect.arguments is not old:
            check_size(state.name, INPUT, effect.arguments, limit)
    elif isinstance(effect, FanOut):
        for given in _inputs(state, effect):
            if given is not old:
                check_size(state.name, INPUT, given, limit)


def _inputs(state: State, fan: FanOut) -> list[JSON]:
    """The inputs of the children as far as they are known; ``item_input`` checks those that an
    ItemSelector has still to make."""
    if not isinstance(state, MapState):
        return [fan.input]
    return [] if state.selects_each else fan.items or []
