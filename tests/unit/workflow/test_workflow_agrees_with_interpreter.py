"""The engine and the pure interpreter come to the same end on random machines, errors included."""

from __future__ import annotations

from random import Random
from typing import Any

from campaigns import SOAK, campaign
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unit.workflow.stage import RUN, Stage, document_of, staged

from control_plane.payload import JSON
from dcf import asl
from dcf.workflow import Failed, Succeeded

ERRORS = ["E.One", "E.Two"]
_NAMES = st.sampled_from(["States.ALL", "States.TaskFailed", *ERRORS])
_VALUES = st.one_of(
    st.none(), st.integers(-9, 9), st.lists(st.integers(0, 3), max_size=3), st.just({"n": 1})
)


class Names:
    """Names of states and resources are used once in a whole machine."""

    def __init__(self) -> None:
        self.states = 0
        self.resources: dict[str, list[str | None]] = {}

    def state(self) -> str:
        self.states += 1
        return f"S{self.states}"

    def resource(self, outcomes: list[str | None]) -> str:
        name = f"r{len(self.resources)}"
        self.resources[name] = outcomes
        return name


@st.composite
def policies(draw: st.DrawFn, following: str | None) -> dict[str, Any]:
    """Retry and Catch, perhaps."""
    fields: dict[str, Any] = {}
    if draw(st.booleans()):
        fields["Retry"] = [
            {
                "ErrorEquals": [draw(_NAMES)],
                "IntervalSeconds": draw(st.integers(1, 3)),
                "MaxAttempts": draw(st.integers(0, 2)),
            }
        ]
    if following is not None and draw(st.booleans()):
        path = draw(st.sampled_from([None, "$", "$.e", "$$.no"]))
        catcher: dict[str, Any] = {"ErrorEquals": [draw(_NAMES)], "Next": following}
        if path not in (None, "$$.no"):
            catcher["ResultPath"] = path
        fields["Catch"] = [catcher]
    return fields


@st.composite
def states(
    draw: st.DrawFn, names: Names, following: str | None, depth: int, safe: bool
) -> dict[str, Any]:
    """One state that goes to ``following``, or ends its machine; a ``safe`` one cannot fail."""
    kinds = ["Pass", "Task", "Task", "Wait"] + (["Parallel"] if depth else [])
    if not safe:
        kinds += (["Map"] if depth else []) + (["Choice"] if following else ["Fail", "Succeed"])
    kind = draw(st.sampled_from(kinds))
    state: dict[str, Any] = {"Type": kind}
    if kind in ("Succeed", "Fail"):
        return state | ({"Error": draw(st.sampled_from(ERRORS))} if kind == "Fail" else {})
    if kind == "Choice":
        rule = {"Variable": "$", "IsNumeric": True, "Next": following}
        return state | {"Choices": [rule]} | ({"Default": following} if draw(st.booleans()) else {})
    state |= {"End": True} if following is None else {"Next": following}
    if kind == "Wait":
        return state | {"Seconds": draw(st.integers(0, 5))}
    if kind == "Pass":
        if draw(st.booleans()):
            state["Result"] = draw(_VALUES)
        else:
            state["Parameters"] = {"state.$": "$$.State.Name", "in.$": "$"}
        return state
    if not safe:
        state |= draw(policies(following))
        if draw(st.booleans()):
            state["ResultPath"] = draw(st.sampled_from(["$", "$.out", None]))
    if kind == "Task":
        outcomes = st.lists(st.sampled_from([None, *ERRORS]), min_size=1, max_size=3)
        state["Resource"] = names.resource([None] if safe else draw(outcomes))
        if draw(st.booleans()):
            state["Parameters"] = {"tries.$": "$$.State.RetryCount"}
    elif kind == "Parallel":
        # Two branches that fail at the same moment race, and either answer is right.
        count = draw(st.integers(1, 3))
        risky = None if safe else draw(st.integers(0, count - 1))
        state["Branches"] = [
            draw(machines(names, depth - 1, safe=number != risky)) for number in range(count)
        ]
    else:
        state["ItemProcessor"] = draw(machines(names, depth - 1, safe=draw(st.booleans())))
        state["MaxConcurrency"] = 1
        state["ItemsPath"] = draw(st.sampled_from(["$", "$$.Execution.Input"]))
        if draw(st.booleans()):
            state["ItemSelector"] = {"i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value"}
    return state


@st.composite
def machines(draw: st.DrawFn, names: Names, depth: int, *, safe: bool = False) -> dict[str, Any]:
    """A chain of states, each of which leads to the next or, by Catch, there too."""
    chain = [names.state() for _ in range(draw(st.integers(1, 3)))]
    pairs = zip(chain, [*chain[1:], None], strict=True)
    return {
        "StartAt": chain[0],
        "States": {name: draw(states(names, following, depth, safe)) for name, following in pairs},
    }


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, list[str | None]], JSON]:
    names = Names()
    definition = draw(machines(names, 2))
    return definition, names.resources, draw(_VALUES)


def outcome(outcomes: list[str | None], attempt: int) -> str | None:
    """The error of an attempt (from 0), or None when it works."""
    return outcomes[min(attempt, len(outcomes) - 1)]


class TriedAgents:
    """Performs Tasks by the outcomes of their Resource: what happens depends on the try alone."""

    def __init__(self, resources: dict[str, list[str | None]]) -> None:
        self._resources = resources

    async def perform(self, task: Any, _beat: Any) -> Any:

        error = outcome(self._resources[task.state.resource], task.lease.try_ - 1)
        if error is not None:
            return Failed(error, "as planned")
        return Succeeded({"saw": task.arguments})


def interpreted(
    machine: asl.StateMachine, value: JSON, resources: dict[str, list[str | None]]
) -> tuple[str, JSON]:
    def call(given: asl.TaskCall) -> asl.Answer | asl.TaskSucceeded | asl.TaskFailed:
        error = outcome(resources[given.resource or ""], given.attempt)
        if error is not None:
            return asl.TaskFailed(error, "as planned")
        return asl.TaskSucceeded({"saw": given.arguments})

    context = {"Execution": {"Input": value}}
    execution = asl.interpret(
        machine, value, call_task=call, clock=asl.VirtualClock(), rng=Random(1), context=context
    )
    if execution.status == "SUCCEEDED":
        return "succeeded", execution.output
    return "failed", execution.error


def with_bindings(definition: Any) -> Any:
    """Every Task as one for agents, since they are told which try it is."""
    if isinstance(definition, dict):
        found = {name: with_bindings(member) for name, member in definition.items()}
        if found.get("Type") == "Task":
            found["AgentBinding"] = {"agent_template_ref": {"name": "any"}, "skills": []}
        return found
    if isinstance(definition, list):
        return [with_bindings(item) for item in definition]
    return definition


@campaign(shares=20)
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=not SOAK,
)
@given(case=cases())
@staged
async def test_the_engine_agrees_with_the_interpreter(
    share: int, case: tuple[dict[str, Any], dict[str, list[str | None]], JSON], stage: Stage
) -> None:
    definition, resources, value = case
    definition = with_bindings(definition)
    document = document_of(definition)
    for number in (1, 2):
        stage.worker(agents=TriedAgents(resources), name=f"w{number}")
    await stage.submit(definition, value)
    result = await stage.end(RUN)
    found = result.failure.error if result.failure else result.output
    assert (result.status, found) == interpreted(document.machine, value, resources)
