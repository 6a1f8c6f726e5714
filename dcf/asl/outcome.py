"""How a visit ends: on to the next state, tried again, caught, or failed."""

from __future__ import annotations

from control_plane import cause_of, error_of
from dcf.asl.catcher import Catcher, find_catcher
from dcf.asl.dataflow import NO_VARIABLES
from dcf.asl.effect import Effect, Failure, Finish, RetryAfter, Transition
from dcf.asl.errors import HEARTBEAT_TIMEOUT, RUNTIME, TIMEOUT, EvaluationError, PlainError
from dcf.asl.payload import JSON
from dcf.asl.retrier import find_retrier
from dcf.asl.scope import Scope
from dcf.asl.state import State
from dcf.asl.visit import Visit

TROUBLE = "trouble"
"""The stage that records which error, with which cause, Retry and Catch had to take."""


def proceed(state: State, output: JSON, assign: dict[str, JSON]) -> Effect:
    """Where a state goes that did its part."""
    if state.next is not None:
        return Transition(state.next, output, assign)
    return Finish(output, assign)


def recover(
    state: State, visit: Visit, scope: Scope, error: str | None, cause: str | None
) -> Effect:
    """Retry first, then Catch; an error that neither takes fails the machine.

    A missed heartbeat is ``States.HeartbeatTimeout`` in Retry and Catch, and ``States.Timeout``
    for everybody else.
    """
    # What an expression raises has any length.
    error, cause = error_of(error), cause_of(cause)
    if scope.stages is not None:
        scope.note(TROUBLE, (error, cause))
    retrier = find_retrier(state.retriers, visit.retries, error)
    if retrier is not None:
        chosen = state.retriers[retrier]
        # Only jitter needs randomness, and seeding a generator costs more than the whole step.
        rng = scope.random() if chosen.jitter else None
        return RetryAfter(chosen.delay(visit.retries.get(retrier, 0), rng), retrier, error, cause)
    catcher = find_catcher(state.catchers, error)
    if catcher is None:
        return Failure(TIMEOUT if error == HEARTBEAT_TIMEOUT else error, cause)
    try:
        return _caught(state.catchers[catcher], visit, scope, error, cause)
    except EvaluationError as problem:
        return Failure(problem.error, located(state, visit, problem))
    except RecursionError:
        return Failure(RUNTIME, located(state, visit, _too_deep()))


def _caught(
    catcher: Catcher, visit: Visit, scope: Scope, error: str | None, cause: str | None
) -> Effect:
    problem = {"Error": error or "", "Cause": cause or ""}
    # The visit's own input: around an item being selected, the scope may show another one.
    scope.states = {"input": visit.input, "context": visit.context, "errorOutput": problem}
    output = catcher.output(scope)
    if catcher.variables is None:
        return Transition(catcher.next, output, NO_VARIABLES)
    scope.data = problem
    return Transition(catcher.next, output, catcher.variables(scope))


def located(state: State, visit: Visit, problem: EvaluationError) -> str:
    """The cause of ``problem`` with the state, and where it is known the event, it befell."""
    if isinstance(problem, PlainError):
        return problem.cause
    number = visit.entered_event
    at = "" if number is None else f" (entered at the event id #{number})"
    return f"An error occurred while executing the state '{state.name}'{at}. {problem.cause}"


def _too_deep() -> EvaluationError:
    return EvaluationError(RUNTIME, "The data nests too deep.")
