"""Finalization: counts, cost and the seal; once, from anywhere."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from unit.workflow.stage import (
    RUN,
    Calls,
    Stage,
    catch,
    flow,
    mapping,
    passing,
    retry,
    staged,
    task,
)

from control_plane import CorruptHistory, UnknownRun, history
from control_plane.documents import schema
from dcf.worker import TaskFailure
from dcf.workflow import Failed, StillRunning, Succeeded, count, finalize

BINDING = {"AgentBinding": {"agent_template_ref": {"name": "any"}, "skills": []}}


class Priced:
    """Agents that fail their first ``failures`` tries; each try costs the same."""

    def __init__(self, failures: int = 0) -> None:
        self._failures = failures

    async def perform(self, _task: Any, _beat: Any) -> Any:
        cost = {"prompt_tokens": 10, "llm_calls": 1, "estimated_cost_usd": 0.25, "model": "m"}
        self._failures -= 1
        return Failed("Flaky", "", cost) if self._failures >= 0 else Succeeded(1, metrics=cost)


async def audit(stage: Stage) -> dict[str, Any]:
    return await finalize(stage.store, RUN, by="test")


async def drive(stage: Stage, definition: dict[str, Any], value: Any = None, **options: Any) -> Any:
    """The audit record of a run."""
    await stage.play(definition, value, **options)
    return await audit(stage)


@staged
async def test_states_are_counted_by_status_and_frames_apart(stage: Stage) -> None:
    definition = flow(
        C={
            "Type": "Choice",
            "Choices": [{"Variable": "$", "IsNull": True, "Next": "Never"}],
            "Default": "M",
        },
        Never=passing(Next="M"),
        M=mapping(flow(T=passing())),
    )
    record = await drive(stage, definition, [1, 2, 3])
    states = record["states"]
    assert states["by_status"] == {"done": 5, "skipped": 1}
    assert (states["total_states"], states["frames"], states["open"]) == (6, 3, 0)
    assert (states["succeeded"], states["skipped"], states["failed"]) == (5, 1, 0)


@staged
async def test_an_earlier_visit_is_counted_apart(stage: Stage) -> None:
    more = {"Variable": "$", "NumericLessThan": 3, "Next": "Add"}
    definition = flow(
        Add=task(), More={"Type": "Choice", "Choices": [more], "Default": "E"}, E=passing()
    )
    work = Calls(lambda n: n + 1)
    states = (await drive(stage, definition, 0, handlers={"work": work}))["states"]
    assert (states["total_states"], states["earlier_visits"]) == (3, 4)


@staged
async def test_cost_is_the_sum_over_all_states(stage: Stage) -> None:
    definition = flow(
        A=task(**BINDING), M=mapping(flow(T=task(**BINDING)), ItemsPath="$$.Execution.Input")
    )
    cost = (await drive(stage, definition, [1, 2, 3], agents=Priced()))["cost"]
    assert cost["total_prompt_tokens"] == 40
    assert cost["total_llm_calls"] == 4
    assert cost["total_cost_usd"] == pytest.approx(1.0)
    assert cost["total_tool_calls"] == 0


@staged
async def test_a_try_that_failed_costs_too(stage: Stage) -> None:
    definition = flow(A=task(**BINDING, **retry("Flaky")))
    record = await drive(stage, definition, agents=Priced(failures=2))
    assert record["cost"]["total_prompt_tokens"] == 30
    assert record["cost"]["total_cost_usd"] == pytest.approx(0.75)
    assert (record["states"]["retries"], record["states"]["leases"]) == (2, 3)


@staged
async def test_an_earlier_visit_costs_too(stage: Stage) -> None:
    class Counting(Priced):
        async def perform(self, given: Any, beat: Any) -> Any:
            done = await super().perform(given, beat)
            return Succeeded(given.arguments + 1, metrics=done.metrics)

    more = {"Variable": "$", "NumericLessThan": 3, "Next": "Add"}
    definition = flow(
        Add=task(**BINDING),
        More={"Type": "Choice", "Choices": [more], "Default": "E"},
        E=passing(),
    )
    record = await drive(stage, definition, 0, agents=Counting())
    assert record["cost"]["total_prompt_tokens"] == 30


@staged
async def test_what_was_caught_costs_too(stage: Stage) -> None:
    definition = flow(A=task(**BINDING, **catch("B")), B=passing())
    record = await drive(stage, definition, agents=Priced(failures=1))
    assert record["cost"]["total_prompt_tokens"] == 10


@staged
async def test_a_cancelled_run_is_cancelled_and_no_success(stage: Stage) -> None:
    async def hang(_given: Any) -> None:
        await asyncio.sleep(1e6)

    stage.worker({"work": hang})
    await stage.submit(flow(A=passing(), B=task(), C=passing()))
    await stage.until_status("B", "running")
    await stage.store.cancel(RUN, by="test")
    record = await audit(stage)
    assert record["final_status"] == "cancelled"
    assert record["states"]["by_status"] == {"cancelled": 1, "done": 1, "skipped": 1}
    assert (record["states"]["succeeded"], record["states"]["cancelled"]) == (1, 1)


@staged
async def test_the_record_fits_its_schema_and_says_who_and_what(stage: Stage) -> None:
    boom = Calls(lambda _: TaskFailure("Boom", "bad"))
    await stage.play(flow(A=task()), None, {"work": boom})
    record = await audit(stage)
    Draft202012Validator(schema("finalize")).validate(record)
    assert record["final_status"] == "failed"
    assert record["error"] == {"error": "Boom", "cause": "bad"}
    assert record["by"] in ("w1", "test")


@staged
async def test_twice_is_once(stage: Stage) -> None:
    await stage.play(flow(A=passing()))
    first = await audit(stage)
    before = stage.twin.dump()
    assert await finalize(stage.store, RUN, by="somebody else") == first
    after = stage.twin.dump()
    del before["cp:wf:done"], after["cp:wf:done"]
    assert after == before


@staged
async def test_many_at_once_write_one_record(stage: Stage) -> None:
    await stage.submit(flow(A=passing()))
    await stage.store.cancel(RUN, by="test")
    records = await asyncio.gather(
        *(finalize(stage.new_store(), RUN, by=f"p{number}") for number in range(5))
    )
    assert all(record == records[0] for record in records)
    assert [event["type"] for event in await stage.events()].count("RunFinalized") == 1


@staged
async def test_a_run_that_is_not_over_cannot_be_finalized(stage: Stage) -> None:
    await stage.submit(flow(A=passing()))
    with pytest.raises(StillRunning):
        await audit(stage)
    with pytest.raises(UnknownRun):
        await finalize(stage.store, "nobody", by="test")


@staged
async def test_the_record_seals_the_history_up_to_it(stage: Stage) -> None:
    await stage.submit(flow(A=passing()))
    await stage.store.cancel(RUN, by="test")
    seal = await history.seal(stage.store, RUN)
    record = await audit(stage)
    assert record["history"] == {"events": seal.events, "sha256": seal.sha256}


@staged
async def test_a_history_that_was_changed_is_not_sealed(stage: Stage) -> None:
    await stage.submit(flow(A=passing()))
    await stage.store.cancel(RUN, by="test")
    stream = stage.store.keys(RUN).history
    (entry, _), *_ = await stage.twin.command("XRANGE", stream, "-", "+", "COUNT", 1)
    await stage.twin.command("XDEL", stream, entry)
    with pytest.raises(CorruptHistory):
        await audit(stage)


@staged
async def test_a_running_workflow_can_be_counted_too(stage: Stage) -> None:
    await stage.submit(flow(A=passing(), B=passing()))
    assert (await count(stage.store, RUN)).to_json()["by_status"] == {"pending": 1, "ready": 1}
