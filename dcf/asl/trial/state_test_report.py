"""What came of a test of one state, as TestState of Step Functions tells it."""

from __future__ import annotations

from typing import TypeAlias

from dcf.asl.catcher import find_catcher
from dcf.asl.effect import Effect, Failure, Finish, RetryAfter, Transition
from dcf.asl.payload import JSON
from dcf.asl.state import State
from dcf.asl.trial.state_test_case import StateTest, StateTestStatus
from dcf.asl.visit import Visit

Trouble: TypeAlias = tuple[str | None, str | None]
"""An error and its cause."""


def report(effect: Effect, problem: Trouble | None) -> StateTest:
    """How the visit ended; ``problem`` is the error that Retry and Catch had to take, if any."""
    error, cause = problem or (None, None)
    if isinstance(effect, RetryAfter):
        return StateTest(
            "RETRIABLE", error=effect.error, cause=effect.cause, retry_after_s=effect.seconds
        )
    if isinstance(effect, Failure):
        return StateTest("FAILED", error=effect.error, cause=effect.cause)
    assert isinstance(effect, (Transition, Finish))
    status: StateTestStatus = "SUCCEEDED" if problem is None else "CAUGHT_ERROR"
    following = effect.next if isinstance(effect, Transition) else None
    return StateTest(status, effect.output, error, cause, following, assigned=dict(effect.assign))


_UNSEEN = {
    "Parallel": frozenset({"afterInputPath", "afterParameters", "afterArguments", "result"}),
    "Map": frozenset({"result"}),
    "Wait": frozenset({"afterResultPath"}),
}
"""Stages that TestState does not show."""


def inspect(
    state: State,
    visit: Visit,
    stages: dict[str, JSON],
    found: StateTest,
    effect: Effect,
    problem: Trouble | None,
) -> dict[str, JSON]:
    """The ``stages`` that TestState shows, the variables, and what took the error."""
    unseen = _UNSEEN.get(state.type, frozenset())
    if state.type == "Pass" and "result" in stages:
        unseen = frozenset({"afterInputPath", "afterParameters"})
    if state.type == "Map" and state.jsonata:
        unseen |= {"afterItemsPath"}
    shown: dict[str, JSON] = {"input": visit.input}
    shown |= {name: value for name, value in stages.items() if name not in unseen}
    variables = {**visit.variables, **found.assigned}
    if variables:
        shown["variables"] = variables
    details = _error_details(state, effect, problem)
    return shown | {"errorDetails": details} if details else shown


def _error_details(state: State, effect: Effect, problem: Trouble | None) -> dict[str, JSON]:
    if isinstance(effect, RetryAfter):
        return {"retryBackoffIntervalSeconds": effect.seconds, "retryIndex": effect.retrier}
    details: dict[str, JSON] = {}
    if problem is not None:
        for index, retrier in enumerate(state.retriers):
            if retrier.errors.match(problem[0]):
                details["retryIndex"] = index  # its attempts are used up
                break
        catcher = find_catcher(state.catchers, problem[0])
        if catcher is not None:
            details["catchIndex"] = catcher
    return details
