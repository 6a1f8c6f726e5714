"""The engine as an executor: virtual time, leases, and the same ends as the interpreter."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from campaigns import campaign
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dcf import asl
from dcf.conformance.engine_loop import EngineLoop
from dcf.conformance.engine_run import EngineExecutor, open_engine
from dcf.conformance.executor import Executor, Job, Outcome
from dcf.simulation.behaviour import Behaviour
from dcf.simulation.machine_maker import MachineMaker

MONTH_S = 30 * 24 * 3600


@pytest.fixture(scope="module")
def engine() -> Iterator[Executor]:
    executor = open_engine("twin")
    yield executor
    executor.close()


def answering(answer: asl.Answer) -> Any:
    return lambda _: answer


def machine(**state: Any) -> dict[str, Any]:
    return {"StartAt": "A", "States": {"A": {**state, "End": True}}}


def test_a_month_of_waiting_takes_no_time(engine: Executor) -> None:
    definition = machine(Type="Wait", Seconds=MONTH_S)
    assert engine.execute(Job(definition, {"a": 1}, answering(asl.Answer(None)))).output == {"a": 1}


def test_a_timer_comes_due_however_late_it_is() -> None:
    loop = EngineLoop()
    # Forty executions until the end of the year 9999, in one loop.
    loop.now = 1e13
    loop.run_until_complete(asyncio.sleep(0.1))
    loop.close()
    assert loop.now >= 1e13


def test_work_takes_virtual_time(engine: Executor) -> None:
    definition = {
        "StartAt": "A",
        "States": {
            "A": {"Type": "Task", "Resource": "work", "ResultPath": "$.a", "Next": "B"},
            "B": {"Type": "Pass", "Parameters": {"at.$": "$$.State.EnteredTime"}, "End": True},
        },
    }
    job = Job(definition, {}, answering(asl.Answer(asl.TaskSucceeded(1), 90.0)), started_at=1e9)
    assert engine.execute(job).output["at"].startswith(asl.format_timestamp(1e9 + 90)[:19])


@pytest.mark.parametrize(
    "limits, error",
    [({"TimeoutSeconds": 9}, "States.Timeout"), ({"HeartbeatSeconds": 3}, "States.Timeout")],
)
@pytest.mark.parametrize("resource", ["work", "work.waitForTaskToken"])
def test_who_never_answers_is_timed_out(
    engine: Executor, resource: str, limits: dict[str, int], error: str
) -> None:
    definition = machine(Type="Task", Resource=resource, **limits)
    outcome = engine.execute(Job(definition, {}, answering(asl.Answer(None))))
    assert (outcome.status, outcome.error) == ("FAILED", error)


def test_who_is_slow_but_alive_is_not(engine: Executor) -> None:
    answer = asl.Answer(asl.TaskSucceeded("done"), 60.0)
    for resource in ("work", "work.waitForTaskToken"):
        definition = machine(Type="Task", Resource=resource, HeartbeatSeconds=3)
        assert engine.execute(Job(definition, {}, answering(answer))).output == "done"


def test_a_run_that_can_never_end_is_said_to_time_out(engine: Executor) -> None:
    outcome = engine.execute(
        Job(machine(Type="Task", Resource="work"), {}, answering(asl.Answer(None)))
    )
    assert (outcome.status, outcome.error) == ("TIMED_OUT", "States.Timeout")


def test_the_context_is_named_as_the_job_wants(engine: Executor) -> None:
    definition = machine(Type="Pass", Parameters={"id.$": "$$.Execution.Id"})
    context = {"Execution": {"Id": "arn:x"}}
    job = Job(definition, {}, answering(asl.Answer(None)), context=context)
    assert engine.execute(job).output == {"id": "arn:x"}


def test_what_breaks_in_a_handler_is_raised(engine: Executor) -> None:
    def broken(_: asl.TaskCall) -> asl.Answer:
        raise ZeroDivisionError("a defect of the runner")

    with pytest.raises(ZeroDivisionError):
        engine.execute(Job(machine(Type="Task", Resource="work"), {}, broken))
    fine = Job(machine(Type="Pass"), 1, answering(asl.Answer(None)))
    assert engine.execute(fine) == Outcome("SUCCEEDED", 1)


@campaign(shares=3)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_generated_machines_end_as_in_the_interpreter(
    share: int, engine: EngineExecutor, seed: int
) -> None:
    maker = MachineMaker(random.Random(seed))
    definition, value = maker.make(), maker.make_input()
    definition.pop("TimeoutSeconds", None)

    def call(given: asl.TaskCall) -> asl.Answer:
        site = given.resource or ""
        behaviour: Behaviour = maker.sites[site]
        if not behaviour.answers(given.attempt):
            return asl.Answer(None)
        event = behaviour.event(site, given.attempt, given.arguments)
        return asl.Answer(event, behaviour.seconds)

    expected = asl.interpret(
        asl.parse(definition),
        value,
        call_task=call,
        clock=asl.VirtualClock(1e9),
        rng=random.Random(0),
        aws_limits=True,
        count_events=False,
    )
    found = engine.execute(Job(definition, value, call, started_at=1e9))
    assert (found.status, found.error, found.cause) == (
        expected.status,
        expected.error,
        expected.cause,
    )
    assert json.dumps(found.output, sort_keys=True) == json.dumps(expected.output, sort_keys=True)
