"""The engine, the interpreter and the simulated world agree on generated executions: valid machines
of any states in both query languages, their inputs, and Tasks whose mocks answer, fail or keep
silent.

Where time or chance decides, they may differ: ``dcf.simulation`` knows where that is, from how the
interpreter answers with other ids, at other times and with delays.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from campaigns import SIMULATED, SOAK, campaign, settled
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from machine_expressions import ERRORS, FITTING, PAYLOADS, mostly
from machine_strategy import definitions

from dcf import asl
from dcf.asl.trial import MockTrouble, read_mocks
from dcf.conformance.engine_run import open_engine
from dcf.conformance.executor import Executor, Job
from dcf.simulation import (
    Expectation,
    Reference,
    ReferenceRun,
    Undecided,
    Unsimulable,
    WorkflowWorld,
)
from dcf.simulation.mocked_work import Recording

pytestmark = settled(*SIMULATED, "dcf/conformance")

MAKERS = ("tests/unit/asl/machine_strategy.py", "tests/unit/asl/machine_expressions.py")
MOST_STEPS = 300
STARTED_AT = 1_700_000_000.0
OBJECTS = {
    "b/k.json": b'[{"a": 1, "n": 2}, {"a": "x", "n": 0}, 3]',
    "b/k.jsonl": b'{"n": 1}\n{"n": 2, "a": [1]}\n',
    "b/k.csv": b"n,a\n1,x\n2,y\n",
    "out/there": b"",
}
_STATUS = {"SUCCEEDED": "succeeded", "FAILED": "failed", "TIMED_OUT": "timed_out"}

Case = tuple[dict[str, Any], Any, dict[str, Any]]


def clean(value: Any) -> Any:
    """``value`` without what no run can be given: half a surrogate pair, and numbers beyond double
    precision."""
    if isinstance(value, dict):
        return {name: clean(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [clean(inner) for inner in value]
    return {"\ud800": "half", 10**400: 10**15}.get(value, value) if value else value


VALUES = PAYLOADS.map(clean)
INPUTS = mostly(FITTING, PAYLOADS).map(clean)


AFTER = st.sampled_from([{}, {}, {"after": 2}, {"after": 1000.5}])


@st.composite
def failures(draw: st.DrawFn) -> dict[str, Any]:
    """One mocked error."""
    cause = draw(st.sampled_from([{}, {"cause": "as planned"}, {"cause": '{"x": [1]}'}]))
    return {"error": draw(ERRORS), **cause, **draw(AFTER)}


@st.composite
def answers(draw: st.DrawFn) -> dict[str, Any]:
    """One mocked answer."""
    after = draw(AFTER)
    kind = draw(st.integers(0, 9))
    if kind < 5:
        return {"return": draw(VALUES), **after}
    if kind < 7:
        return {"echo": True, **after}
    if kind == 9:
        return draw(st.sampled_from([{"never": True}, {"never": True, "heartbeats": [2, 4]}]))
    return draw(failures())


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A definition, its input, and what a mocks file would hold."""
    first = st.lists(failures() | answers(), min_size=1, max_size=3)
    last = answers().map(lambda one: {**one, "times": "always"})
    sequence = st.builds(lambda some, one: [*some, one], first, last)
    mocks = {"resources": {"*": draw(answers() | sequence | sequence)}}
    return clean(draw(definitions())), draw(INPUTS), mocks


@pytest.fixture(scope="module")
def twin() -> Iterator[Executor]:
    """The engine on the in-process twin of Redis."""
    executor = open_engine("twin")
    yield executor
    executor.close()


@pytest.fixture(scope="module")
def redis() -> Iterator[Executor]:
    """The engine on a real server."""
    executor = open_engine("redis")
    yield executor
    executor.close()


def reference_of(case: Case) -> Reference | None:
    """What the interpreter says, and what Tasks answer; None for what is too long, or endless."""
    definition, value, mocks = case
    machine = asl.parse(definition)
    try:
        if is_heavy(execution_of(case)):
            return None
    except MockTrouble:
        return None
    about = ReferenceRun("machine", machine, value, lambda: read_mocks(mocks, machine), OBJECTS)
    try:
        return about.execute()
    except (Unsimulable, MockTrouble):
        return None


def execution_of(case: Case) -> asl.Execution:
    """``case`` as the interpreter runs it once. Raises MockTrouble."""
    definition, value, mocks = case
    machine = asl.parse(definition)
    return asl.interpret(
        machine,
        value,
        call_task=Recording(read_mocks(mocks, machine)),
        clock=asl.VirtualClock(STARTED_AT),
        rng=Random(0),
        objects=asl.MemoryObjects(OBJECTS),
        aws_limits=True,
        max_steps=MOST_STEPS,
    )


def is_heavy(execution: asl.Execution) -> bool:
    """Whether it loops, or its data grows: to run that a dozen times takes minutes."""
    if execution.cause == "the execution takes too many steps":
        return True
    found = (entry.value for entry in execution.trace if entry.moment in ("caught", "failed"))
    return any("size exceeding" in str(problem["Cause"]) for problem in found)


def disagreement(case: Case, executor: Executor) -> str | None:
    """What ``executor`` makes of ``case`` that the interpreter does not."""
    reference = reference_of(case)
    if reference is None:
        return None
    definition, value, _ = case
    tasks, found = reference.work.replay(), OBJECTS
    job = Job(definition, value, tasks, objects=found, started_at=STARTED_AT, aws_limits=False)
    end = executor.execute(job)
    return reference.expected.differs(
        Expectation(_STATUS[end.status], end.output, end.error, end.cause)
    )


def quick(soak: int, few: int) -> settings:
    checks = list(HealthCheck)
    return settings(max_examples=soak if SOAK else few, deadline=None, suppress_health_check=checks)


@pytest.mark.timeout(3600)
@campaign(95, *MAKERS)
@quick(1_000, 20)
@given(cases())
def test_the_engine_agrees_with_the_interpreter(share: int, twin: Executor, case: Case) -> None:
    assert disagreement(case, twin) is None


@pytest.mark.timeout(3600)
@campaign(10, *MAKERS)
@quick(250, 4)
@given(cases())
def test_the_engine_on_a_real_server_does_too(share: int, redis: Executor, case: Case) -> None:
    assert disagreement(case, redis) is None


@pytest.mark.timeout(3600)
@campaign(10, *MAKERS)
@quick(250, 4)
@given(cases(), st.integers(0, 10**6))
def test_the_simulated_world_does_too_whatever_goes_wrong(
    share: int, case: Case, world: int
) -> None:
    if reference_of(case) is None:
        return
    definition, value, mocks = case
    raw = json.dumps({"workflow_name": "machine", "asl": definition})
    texts = (json.dumps(value), json.dumps(mocks))
    about = WorkflowWorld("machine", raw, *texts, objects=tuple(OBJECTS.items()))
    verdict = about.simulate(world, steps=2_000)
    assert [*map(str, verdict.violations)] == []
    assert verdict.unmocked == ()


def test_most_ends_are_compared() -> None:
    """What is left open is open for a reason: a machine that draws, or reads the time."""
    compared = Counter[str]()

    @seed(0)
    @quick(40, 40)
    @given(cases())
    def count(case: Case) -> None:
        reference = reference_of(case)
        if reference is None:
            compared["not run"] += 1
        else:
            is_open = isinstance(reference.expected.status, Undecided)
            compared["open" if is_open else str(reference.expected.status)] += 1

    count()
    assert compared["open"] < 5
    assert compared["not run"] < 10
    assert min(compared["succeeded"], compared["failed"]) > 8


AT_LEAST = {
    "calls a Task": 0.6,
    "calls a Task inside of a Map or Parallel": 0.12,
    "has a Map of several items": 0.15,
    "tries again": 0.1,
    "catches an error": 0.1,
    "succeeds": 0.2,
}
"""The share of executions of which that is true, well below what was measured when this was
written (of 600: 73 %, 25 %, 22 %, 25 %, 24 % and 40 %)."""


def test_most_executions_do_what_is_compared() -> None:
    """Else the engine would agree on machines that fail in their first state."""
    examples = 150
    seen, ran = Counter[str](), Counter[str]()

    @seed(0)
    @quick(examples, examples)
    @given(cases())
    def count(case: Case) -> None:
        try:
            execution = execution_of(case)
        except MockTrouble:
            return
        machine = asl.parse(case[0])
        ran["all"] += 1
        seen.update(features(machine, execution))

    count()
    shares = {name: seen[name] / ran["all"] for name in AT_LEAST}
    assert ran["all"] > 0.9 * examples
    assert {name: share for name, share in shares.items() if share < AT_LEAST[name]} == {}


def features(machine: asl.StateMachine, execution: asl.Execution) -> Iterator[str]:
    """The names in AT_LEAST that fit ``execution`` of ``machine``."""
    moments = {entry.moment for entry in execution.trace}
    if "task" in moments:
        yield "calls a Task"
    if any(entry.moment == "task" and len(entry.path) > 1 for entry in execution.trace):
        yield "calls a Task inside of a Map or Parallel"
    inner = {entry.path for entry in execution.trace if len(entry.path) > 2}
    if any(path[-2] != 0 and machine.locate(path[:-2]).processor for path in inner):
        yield "has a Map of several items"
    if "retry" in moments:
        yield "tries again"
    if "caught" in moments:
        yield "catches an error"
    if execution.status == "SUCCEEDED":
        yield "succeeds"
