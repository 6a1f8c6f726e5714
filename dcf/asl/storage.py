"""What cannot be stored, and what a state does then: in the interpreter as in the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from control_plane import BadDocument, PayloadTooLarge, payload
from dcf.asl.effect import Effect, Failure, FanOut, Finish, RunTask, Transition
from dcf.asl.errors import DATA_LIMIT_EXCEEDED, RUNTIME
from dcf.asl.payload import JSON
from dcf.asl.state import State
from dcf.asl.visit import ResultRefused, Visit


def unstorable(state: State, visit: Visit, error: BadDocument) -> tuple[Visit, ResultRefused]:
    """What happens to ``state`` when its result cannot be stored, and the visit in which it does.
    That is permanent, so nothing is tried again; a Catch may match."""
    spent = {index: retrier.max_attempts for index, retrier in enumerate(state.retriers)}
    failure = refused(error)
    return replace(visit, retries=spent), ResultRefused(failure.error, failure.cause)


def refused(error: BadDocument) -> Failure:
    """The failure of what cannot be stored."""
    is_large = isinstance(error, PayloadTooLarge)
    return Failure(DATA_LIMIT_EXCEEDED if is_large else RUNTIME, str(error))


def refusal(effect: Effect, variables: Mapping[str, JSON]) -> BadDocument | None:
    """Why what ``effect`` hands on cannot be stored; ``variables`` are those of its frame. None
    where it can: it is JSON, nests 100 levels at most and has no more than 16 MiB."""
    try:
        for value in _handed_on(effect, variables):
            payload.encode(value)
    except BadDocument as error:
        return error
    return None


def _handed_on(effect: Effect, variables: Mapping[str, JSON]) -> Iterator[JSON]:
    if isinstance(effect, Transition | Finish):
        yield effect.output
        if effect.assign:
            yield {**variables, **effect.assign}
    elif isinstance(effect, RunTask):
        yield effect.arguments
    elif isinstance(effect, FanOut):
        # Stored as one document: the items, or the input of every branch, and the variables.
        shared: JSON = effect.input if effect.items is None else effect.items
        yield {"shared": shared, "variables": dict(variables)}
