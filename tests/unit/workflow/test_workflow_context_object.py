"""Choreography: what the context object and the clock of expressions say."""

from __future__ import annotations

from unit.workflow.choreography_samples import ended
from unit.workflow.stage import (
    RUN,
    Calls,
    Stage,
    flow,
    mapping,
    parallel,
    passing,
    retry,
    staged,
    task,
)

from dcf.worker import TaskFailure


@staged
async def test_the_context_object_says_which_run_and_state_it_is(stage: Stage) -> None:
    seen = {
        "run.$": "$$.Execution.Id",
        "input.$": "$$.Execution.Input",
        "started.$": "$$.Execution.StartTime",
        "entered.$": "$$.State.EnteredTime",
        "state.$": "$$.State.Name",
        "machine.$": "$$.StateMachine.Name",
    }
    definition = flow(W={"Type": "Wait", "Seconds": 5}, A=passing(Parameters=seen))
    result = await stage.play({"workflow_name": "Shop", "asl": definition}, {"n": 1})
    output = result.output
    started, entered = output.pop("started"), output.pop("entered")
    assert output == {"run": RUN, "input": {"n": 1}, "state": "A", "machine": "Shop"}
    assert started == "2026-09-21T14:13:20.000Z"
    assert entered.startswith("2026-09-21T14:13:25.")


@staged
async def test_retry_count_counts_up(stage: Stage) -> None:
    work = Calls(lambda given: TaskFailure("Flaky", "") if given["count"] < 2 else given["count"])
    definition = flow(
        A=task(Parameters={"count.$": "$$.State.RetryCount"}, **retry("Flaky", MaxAttempts=5))
    )
    result = await stage.play(definition, None, {"work": work})
    assert ended(result) == ("succeeded", 2)
    assert work.given == [{"count": 0}, {"count": 1}, {"count": 2}]


ITEM = {"index.$": "$$.Map.Item.Index", "value.$": "$$.Map.Item.Value"}


@staged
async def test_the_map_item_is_that_of_the_innermost_map(stage: Stage) -> None:
    inner = flow(In=mapping(flow(T=passing(Parameters=ITEM))))
    result = await stage.play(flow(Out=mapping(inner)), [["a"], ["b", "c"]])
    assert result.output == [
        [{"index": 0, "value": "a"}],
        [{"index": 0, "value": "b"}, {"index": 1, "value": "c"}],
    ]


@staged
async def test_a_branch_inside_a_map_sees_the_item_of_the_map(stage: Stage) -> None:
    branch = flow(B=passing(Parameters=ITEM))
    result = await stage.play(flow(M=mapping(flow(P=parallel(branch)))), ["a", "b"])
    assert result.output == [[{"index": 0, "value": "a"}], [{"index": 1, "value": "b"}]]


@staged
async def test_an_inner_map_finds_its_items_in_the_outer_item(stage: Stage) -> None:
    inner = mapping(
        flow(T=passing()),
        ItemsPath="$$.Map.Item.Value.rows",
        ItemSelector={"row.$": "$$.Map.Item.Value", "of.$": "$.name"},
    )
    value = [{"name": "a", "rows": [1, 2]}]
    result = await stage.play(flow(Out=mapping(flow(In=inner))), value)
    assert ended(result) == ("succeeded", [[{"row": 1, "of": "a"}, {"row": 2, "of": "a"}]])


@staged
async def test_random_ids_of_items_differ_between_runs(stage: Stage) -> None:
    definition = flow(M=mapping(flow(T=passing()), ItemSelector={"id.$": "States.UUID()"}))
    stage.worker()
    ids = []
    for run in ("a", "b"):
        await stage.submit(definition, [1, 2], run=run)
        ids += [item["id"] for item in (await stage.end(run)).output]
    assert len(set(ids)) == 4


@staged
async def test_now_in_jsonata_is_when_the_state_was_entered(stage: Stage) -> None:
    definition = flow(
        W={"Type": "Wait", "Seconds": 60}, P={"Type": "Pass", "Output": "{% $millis() %}"}
    )
    result = await stage.play(definition | {"QueryLanguage": "JSONata"})
    assert result.started_at is not None
    assert 60_000 <= result.output - result.started_at < 61_000
