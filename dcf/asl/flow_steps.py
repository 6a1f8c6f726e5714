"""Steps of the states that need nobody's help: Pass, Choice, Wait, Succeed, Fail."""

from __future__ import annotations

from dcf.asl.effect import Effect, Failure, Finish, Transition, WaitFor, WaitUntil
from dcf.asl.errors import NO_CHOICE_MATCHED, RUNTIME, EvaluationError
from dcf.asl.outcome import proceed
from dcf.asl.payload import excerpt, is_number
from dcf.asl.scope import Expression, Scope
from dcf.asl.state import ChoiceState, FailState, PassState, SucceedState, WaitState
from dcf.asl.timestamp import parse_timestamp
from dcf.asl.visit import Entered, TimerFired, Visit

LONGEST_WAIT_S = 2**31 - 1
"""Step Functions refuses to wait longer (68 years)."""


def enter_pass(state: PassState, scope: Scope, visit: Visit, _: Entered) -> Effect:
    result = state.flow.arguments(scope)
    if state.has_result:
        result = state.result
    return proceed(state, state.flow.output(scope, visit.input, result))


def enter_choice(state: ChoiceState, scope: Scope, _: Visit, __: Entered) -> Effect:
    effective = state.flow.effective_input(scope)
    for rule in state.rules:
        if rule.matches(scope):
            return Transition(rule.next, state.flow.leave(scope, effective), {})
    if state.default is None:
        cause = "no choice rule matches the input and there is no Default"
        raise EvaluationError(NO_CHOICE_MATCHED, cause)
    return Transition(state.default, state.flow.leave(scope, effective), {})


def enter_wait(state: WaitState, scope: Scope, visit: Visit, _: Entered) -> Effect:
    state.flow.effective_input(scope)
    if state.seconds is not None:
        return WaitFor(state.seconds)
    if state.timestamp is not None:
        return _until(state.timestamp, visit)
    if state.seconds_path is not None:
        return WaitFor(_seconds(state.seconds_path, scope))
    value = state.timestamp_path(scope) if state.timestamp_path is not None else None
    moment = parse_timestamp(value)
    if moment is None:
        raise EvaluationError(RUNTIME, f"TimestampPath: {excerpt(value)} is no RFC 3339 timestamp")
    return _until(moment, visit)


def end_wait(state: WaitState, scope: Scope, _: Visit, __: TimerFired) -> Effect:
    effective = state.flow.effective_input(scope)
    return proceed(state, state.flow.leave(scope, effective))


def enter_succeed(state: SucceedState, scope: Scope, _: Visit, __: Entered) -> Effect:
    effective = state.flow.effective_input(scope)
    return Finish(state.flow.leave(scope, effective), {})


def enter_fail(state: FailState, scope: Scope, _: Visit, __: Entered) -> Effect:
    error, cause = state.error(scope), state.cause(scope)
    for field, value in (("ErrorPath", error), ("CausePath", cause)):
        if not isinstance(value, str):
            raise EvaluationError(RUNTIME, f"{field}: {excerpt(value)} is not a string")
    return Failure(error, cause)


def _seconds(path: Expression, scope: Scope) -> float:
    value = path(scope)
    if not is_number(value) or not 0 <= value <= LONGEST_WAIT_S:
        raise EvaluationError(RUNTIME, f"SecondsPath: {excerpt(value)} is no number of seconds")
    return float(value)


def _until(moment: float, visit: Visit) -> Effect:
    entered = parse_timestamp((visit.context.get("State") or {}).get("EnteredTime"))
    if entered is not None and moment - entered > LONGEST_WAIT_S:
        raise EvaluationError(RUNTIME, "the wait is too long: more than 2147483647 seconds")
    return WaitUntil(moment)
