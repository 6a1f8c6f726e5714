"""Steps of the states that wait for others' work: Task and Parallel."""

from __future__ import annotations

from dcf.asl.effect import Effect, FanOut, RunTask
from dcf.asl.errors import EvaluationError
from dcf.asl.outcome import proceed, recover
from dcf.asl.payload import JSON
from dcf.asl.scope import Expression, Scope
from dcf.asl.state import ParallelState, State, TaskState
from dcf.asl.visit import (
    ChildFailed,
    Entered,
    Joined,
    ResultRefused,
    TaskFailed,
    TaskSucceeded,
    Visit,
)


def enter_task(state: TaskState, scope: Scope, _: Visit, __: Entered) -> Effect:
    arguments = state.flow.arguments(scope)
    if state.credentials is not None:
        state.credentials(scope)
    timeout_s, heartbeat_s = _limits(state, scope)
    return RunTask(arguments, timeout_s, heartbeat_s, state.waits_for_token)


def end_task(state: TaskState, scope: Scope, visit: Visit, event: TaskSucceeded) -> Effect:
    return take_result(state, scope, visit, event.result)


def enter_parallel(state: ParallelState, scope: Scope, _: Visit, __: Entered) -> Effect:
    return FanOut(len(state.branches), None, state.flow.arguments(scope), 0)


def join(state: State, scope: Scope, visit: Visit, event: Joined) -> Effect:
    return take_result(state, scope, visit, event.results)


def fail(
    state: State, scope: Scope, visit: Visit, event: TaskFailed | ChildFailed | ResultRefused
) -> Effect:
    return recover(state, visit, scope, event.error, event.cause)


def take_result(state: State, scope: Scope, visit: Visit, result: JSON) -> Effect:
    """Go on with the ``result`` of the work."""
    scope.note("result", result)
    output = state.flow.output(scope, visit.input, result)
    return proceed(state, output, state.flow.assign(scope, result))


def time_limits(state: State, visit: Visit) -> tuple[float | None, float | None]:
    """(timeout, heartbeat) of a Task in seconds, None without.

    Both are None where they cannot be evaluated: stepping the state says why.
    """
    if not isinstance(state, TaskState):
        return None, None
    if state.timeout is None and state.heartbeat is None:
        return state.timeout_s, state.heartbeat_s
    scope = Scope(visit.input, visit.context, visit.variables, None, "limits", visit.identity)
    try:
        state.flow.effective_input(scope)
        return _limits(state, scope)
    except (EvaluationError, RecursionError):
        return None, None


def _limits(state: TaskState, scope: Scope) -> tuple[float | None, float | None]:
    return (
        _limit(state.timeout_s, state.timeout, scope),
        _limit(state.heartbeat_s, state.heartbeat, scope),
    )


def _limit(fixed: float | None, read: Expression | None, scope: Scope) -> float | None:
    return fixed if read is None else float(read(scope))
