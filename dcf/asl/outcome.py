"""How a visit ends: on to the next state, tried again, caught, or failed."""

from __future__ import annotations

from dcf.asl.catcher import find_catcher
from dcf.asl.effect import Effect, Failure, Finish, RetryAfter, Transition
from dcf.asl.errors import EvaluationError
from dcf.asl.payload import JSON
from dcf.asl.retrier import find_retrier
from dcf.asl.scope import Scope
from dcf.asl.state import State
from dcf.asl.visit import Visit


def proceed(state: State, output: JSON) -> Effect:
    """Where a state goes that did its part."""
    return Transition(state.next, output, {}) if state.next is not None else Finish(output, {})


def recover(state: State, visit: Visit, scope: Scope, error: str, cause: str) -> Effect:
    """Retry first, then Catch; an error that neither takes fails the machine."""
    retrier = find_retrier(state.retriers, visit.retries, error)
    if retrier is not None:
        chosen = state.retriers[retrier]
        # Only jitter needs randomness, and seeding a generator costs more than the whole step.
        rng = scope.random() if chosen.jitter else None
        return RetryAfter(chosen.delay(visit.retries.get(retrier, 0), rng), retrier, error, cause)
    catcher = find_catcher(state.catchers, error)
    if catcher is None:
        return Failure(error, cause)
    try:
        output = catcher.put(visit.input, {"Error": error, "Cause": cause})
    except EvaluationError as mismatch:
        return Failure(mismatch.error, mismatch.cause)
    return Transition(catcher.next, output, {})
