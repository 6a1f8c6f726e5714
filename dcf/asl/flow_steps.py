"""Steps of the states that need nobody's help: Pass, Choice, Wait, Succeed, Fail."""

from __future__ import annotations

from dcf.asl.dataflow import NO_VARIABLES
from dcf.asl.effect import Effect, Failure, Finish, Transition, WaitFor, WaitUntil
from dcf.asl.errors import RUNTIME, EvaluationError
from dcf.asl.outcome import proceed
from dcf.asl.scope import Scope
from dcf.asl.state import ChoiceState, FailState, PassState, SucceedState, WaitState
from dcf.asl.timestamp import parse_timestamp
from dcf.asl.visit import Entered, TimerFired, Visit

LONGEST_WAIT_S = 2**31 - 1
"""Step Functions refuses to wait longer (68 years)."""


def enter_pass(state: PassState, scope: Scope, visit: Visit, _: Entered) -> Effect:
    flow = state.flow
    if state.jsonata:
        output = flow.leave(scope, visit.input)
        return proceed(state, output, flow.assign(scope, visit.input))
    result = flow.arguments(scope)
    if state.has_result:
        result = state.result
        scope.note("result", result)
    output = flow.output(scope, visit.input, result)
    return proceed(state, output, flow.assign(scope, result))


def enter_choice(state: ChoiceState, scope: Scope, _: Visit, __: Entered) -> Effect:
    effective = state.flow.effective_input(scope)
    for rule in state.rules:
        if not rule.matches(scope):
            continue
        assign = NO_VARIABLES if rule.variables is None else rule.variables(scope)
        if state.jsonata:
            output = effective if rule.output is None else rule.output(scope)
        else:
            output = state.flow.leave(scope, effective)
        return Transition(rule.next, output, assign)
    if state.default is None:
        cause = "Failed to transition out of the state. The state does not point to a next state."
        # The language knows States.NoChoiceMatched, and AWS never gives it.
        raise EvaluationError(RUNTIME, cause)
    assign = state.flow.assign(scope, effective)
    return Transition(state.default, state.flow.leave(scope, effective), assign)


def enter_wait(state: WaitState, scope: Scope, visit: Visit, _: Entered) -> Effect:
    state.flow.effective_input(scope)
    if state.seconds is not None:
        seconds = state.seconds(scope)
        if seconds > LONGEST_WAIT_S:
            raise _too_long()
        return WaitFor(float(seconds))
    assert state.until is not None
    moment = state.until(scope)
    entered = parse_timestamp((visit.context.get("State") or {}).get("EnteredTime"))
    if entered is not None and moment - entered > LONGEST_WAIT_S:
        raise _too_long()
    return WaitUntil(moment)


def end_wait(state: WaitState, scope: Scope, _: Visit, __: TimerFired) -> Effect:
    effective = state.flow.effective_input(scope)
    assign = state.flow.assign(scope, effective)
    return proceed(state, state.flow.leave(scope, effective), assign)


def enter_succeed(state: SucceedState, scope: Scope, _: Visit, __: Entered) -> Effect:
    effective = state.flow.effective_input(scope)
    return Finish(state.flow.leave(scope, effective), NO_VARIABLES)


def enter_fail(state: FailState, scope: Scope, _: Visit, __: Entered) -> Effect:
    if not state.jsonata:
        scope.note("afterInputPath", scope.data)
    error = None if state.error is None else state.error(scope)
    return Failure(error, None if state.cause is None else state.cause(scope))


def _too_long() -> EvaluationError:
    return EvaluationError(RUNTIME, "Wait state delay is too long.")
