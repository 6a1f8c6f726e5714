"""Runs that another version submitted."""

from __future__ import annotations

from typing import Any

import pytest
from unit.workflow.stage import (
    RUN,
    Calls,
    Stage,
    document_of,
    flow,
    mapping,
    parallel,
    passing,
    staged,
    task,
)

from dcf import workflow
from dcf.workflow import (
    EarlierRuns,
    External,
    NotRedrivable,
    RunCache,
    Succeeded,
    WorkflowDocument,
    refuse_earlier_runs,
    submission,
)

ASK = "ask.waitForTaskToken"


async def submit_as_then(stage: Stage, good: dict[str, Any], then: dict[str, Any]) -> None:
    """Start a run of ``then``, which this version refuses; it runs like ``good``."""
    machine = document_of(good).machine
    document = WorkflowDocument("flow", {"workflow_name": "flow", "asl": then}, machine)
    await workflow.submit(stage.store, document, [1, 2], workflow_id=RUN)


@staged
async def test_a_definition_that_is_refused_now_fails_the_run_at_once(stage: Stage) -> None:
    good = flow(M=mapping(flow(P=passing())))
    stage.worker()
    await submit_as_then(stage, good, flow(M=mapping(flow(P=passing()), Surprise=1)))
    result = await stage.end(within_s=2)
    assert result.failure is not None
    assert result.failure.error == "States.Runtime"
    assert "Surprise" in (result.failure.cause or "")


@staged
async def test_a_worker_that_refuses_the_definition_fails_what_is_under_way(stage: Stage) -> None:
    good = flow(B=parallel(flow(W={"Type": "Wait", "Seconds": 5}), flow(P=passing())))
    first = stage.worker(name="w1", hops=1)
    await stage.submit(good)
    await stage.until_status("B[0]/W", "waiting")
    await stage.leave(first)
    second = stage.worker(name="w2")
    broken = {"workflow_name": "flow", "asl": {"StartAt": "B", "States": {"B": {"Type": "Odd"}}}}

    async def read(*_: Any) -> Any:
        return workflow.run.read_definition(broken["asl"])  # type: ignore[arg-type]

    second._runs._definition = read  # type: ignore[method-assign]
    result = await stage.end(within_s=20)
    assert result.failure is not None
    assert result.failure.error == "States.Runtime"


@staged
async def test_a_run_without_a_secret_cannot_wait_for_a_token(stage: Stage) -> None:
    asked = Calls()
    stage.worker({ASK: asked})
    await stage.submit(flow(A=task(ASK)), {})
    await stage.twin.command("JSON.DEL", stage.store.keys(RUN).meta, "$.callback_secret")
    result = await stage.end()
    assert result.failure is not None
    assert result.failure.error == "States.Runtime"
    assert "no secret" in (result.failure.cause or "")
    assert asked.count == 0


@staged
@pytest.mark.parametrize(
    "definition, protocol",
    [
        (flow(A=task(), B=passing()), 1),
        (flow(M=mapping(flow(P=passing()))), 1),
        (flow(A=task(ASK)), 2),
        (flow(A=passing(Assign={"x": 1})), 2),
        ({**flow(A=passing()), "QueryLanguage": "JSONata"}, 4),
        (flow(A=task(ASK, QueryLanguage="JSONata")), 4),
        (flow(M=mapping(flow(P=passing(Assign={"x": 1})))), 2),
        (flow(A={"Type": "Task", "AgentBinding": {"skills": []}}), 3),
        (flow(M=mapping(flow(A={"Type": "Task", "AgentBinding": {"skills": []}}))), 3),
    ],
)
async def test_a_run_needs_the_oldest_protocol_that_can_do_it(
    definition: dict[str, Any], protocol: int, stage: Stage
) -> None:
    await stage.submit(definition)
    assert (await stage.store.run(RUN)).protocol == protocol


async def submit_before(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, query: str, **states: Any
) -> None:
    """Submit a run as the version before did."""
    with monkeypatch.context() as patch:
        patch.setattr(submission, "EXPRESSION_PROTOCOL", 2)
        await stage.submit({**flow(**(states or {"A": passing()})), "QueryLanguage": query})


@staged
async def test_jsonata_begun_by_an_earlier_version_is_refused_by_name(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await submit_before(stage, monkeypatch, "JSONata")

    with pytest.raises(EarlierRuns, match=RUN):
        await refuse_earlier_runs(stage.store)

    await stage.store.cancel(RUN, by="me")
    await refuse_earlier_runs(stage.store)
    with pytest.raises(NotRedrivable, match="begun by an earlier version"):
        await workflow.redrive(stage.store, RUN)


@staged
async def test_nobody_outside_works_on_jsonata_of_an_earlier_version(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await submit_before(stage, monkeypatch, "JSONata", A=task())
    external = External(stage.store, RunCache(stage.store))

    with pytest.raises(EarlierRuns, match=RUN):
        await external.take(RUN, "A", owner="me")
    assert (await stage.state("A")).status == "ready"

    # A lease that an earlier version gave stays with its holder, who finishes it there.
    lease = await stage.store.acquire(RUN, "A", owner="me", token="a-token-of-before")
    for use in (
        lambda: external.work_on(RUN, "A", "a-token-of-before"),
        lambda: external.finish(RUN, "A", "a-token-of-before", Succeeded(1)),
    ):
        with pytest.raises(EarlierRuns, match=RUN):
            await use()
    assert lease == await stage.store.held(RUN, "A", "a-token-of-before")


@staged
async def test_others_outside_go_on(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await submit_before(stage, monkeypatch, "JSONPath", A=task())
    external = External(stage.store, RunCache(stage.store))

    await external.take(RUN, "A", owner="me", token="a-token-of-mine")
    await external.finish(RUN, "A", "a-token-of-mine", Succeeded(1))

    assert (await stage.end()).output == 1


@staged
async def test_other_runs_of_an_earlier_version_go_on(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await submit_before(stage, monkeypatch, "JSONPath")

    await refuse_earlier_runs(stage.store)


@staged
async def test_jsonata_of_this_version_goes_on(stage: Stage) -> None:
    await stage.submit({**flow(A=passing()), "QueryLanguage": "JSONata"})

    await refuse_earlier_runs(stage.store)
