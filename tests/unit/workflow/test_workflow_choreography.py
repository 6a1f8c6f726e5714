"""Choreography: every state type, loops, limits.

Expected values follow from the States Language; time is virtual.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from unit.workflow.choreography_samples import ended
from unit.workflow.stage import (
    EPOCH_S,
    Calls,
    Stage,
    flow,
    mapping,
    parallel,
    passing,
    staged,
    task,
)

from dcf.asl import format_timestamp


@staged
async def test_pass_gives_its_result(stage: Stage) -> None:
    assert ended(await stage.play(flow(A=passing(Result={"x": [1]})))) == ("succeeded", {"x": [1]})


@staged
async def test_task_gives_what_its_handler_gives(stage: Stage) -> None:
    work = Calls(lambda given: given["n"] + 1)
    assert ended(await stage.play(flow(A=task()), {"n": 1}, {"work": work})) == ("succeeded", 2)
    assert work.given == [{"n": 1}]


@pytest.mark.parametrize(("n", "output"), [(11, "big"), (10, "small")])
@staged
async def test_choice_goes_where_its_rule_says(n: int, output: str, stage: Stage) -> None:
    rule = {"Variable": "$", "NumericGreaterThan": 10, "Next": "Big"}
    definition = flow(
        C={"Type": "Choice", "Choices": [rule], "Default": "Small"},
        Big=passing(Result="big", End=True),
        Small=passing(Result="small"),
    )
    assert ended(await stage.play(definition, n)) == ("succeeded", output)


@staged
async def test_choice_without_a_match_fails_the_run(stage: Stage) -> None:
    rule = {"Variable": "$", "NumericEquals": 1, "Next": "A"}
    definition = flow(C={"Type": "Choice", "Choices": [rule]}, A=passing())
    assert ended(await stage.play(definition, 2)) == ("failed", "States.Runtime")


@staged
async def test_wait_waits_its_seconds(stage: Stage) -> None:
    result = await stage.play(flow(W={"Type": "Wait", "Seconds": 90}), "through")
    assert ended(result) == ("succeeded", "through")
    assert result.finished_at and result.started_at
    assert 90_000 <= result.finished_at - result.started_at < 90_500


@staged
async def test_wait_waits_until_its_moment(stage: Stage) -> None:
    until = format_timestamp(EPOCH_S + 30)
    result = await stage.play(flow(W={"Type": "Wait", "Timestamp": until}))
    assert result.finished_at
    assert 0 <= result.finished_at - (EPOCH_S + 30) * 1000 < 500


@staged
async def test_a_moment_that_is_past_is_not_waited_for(stage: Stage) -> None:
    until = format_timestamp(EPOCH_S - 3600)
    result = await stage.play(flow(W={"Type": "Wait", "Timestamp": until}))
    assert result.finished_at and result.started_at
    assert result.finished_at - result.started_at < 500


@staged
async def test_succeed_ends_the_run_with_its_input(stage: Stage) -> None:
    definition = flow(S={"Type": "Succeed"})
    assert ended(await stage.play(definition, [1])) == ("succeeded", [1])


@staged
async def test_fail_ends_the_run_with_its_error_and_cause(stage: Stage) -> None:
    result = await stage.play(flow(F={"Type": "Fail", "Error": "Shop.Closed", "Cause": "night"}))
    assert result.failure
    assert (result.status, result.failure.error, result.failure.cause) == (
        "failed",
        "Shop.Closed",
        "night",
    )


@staged
async def test_parallel_gives_the_results_in_the_order_of_its_branches(stage: Stage) -> None:
    async def slow(given: Any) -> Any:
        await asyncio.sleep(5)
        return "slow"

    branches = flow(A=task("slow")), flow(B=passing(Result="fast")), flow(C=passing())
    result = await stage.play(flow(P=parallel(*branches)), "in", {"slow": slow})
    assert ended(result) == ("succeeded", ["slow", "fast", "in"])


@staged
async def test_map_gives_the_results_in_the_order_of_its_items(stage: Stage) -> None:
    async def later_first(n: int) -> int:
        await asyncio.sleep(10 - n)
        return n * n

    definition = flow(M=mapping(flow(T=task())))
    result = await stage.play(definition, [1, 2, 3, 4], {"work": later_first})
    assert ended(result) == ("succeeded", [1, 4, 9, 16])


@staged
async def test_map_over_nothing_gives_an_empty_list(stage: Stage) -> None:
    work = Calls()
    result = await stage.play(flow(M=mapping(flow(T=task())), B=passing()), [], {"work": work})
    assert ended(result) == ("succeeded", [])
    assert work.count == 0


@pytest.mark.parametrize(("limit", "most"), [(3, 3), (1, 1), (0, 8)])
@staged
async def test_no_more_items_than_max_concurrency_are_in_work(
    limit: int, most: int, stage: Stage
) -> None:
    inside = peak = 0

    async def counted(given: Any) -> Any:
        nonlocal inside, peak
        inside += 1
        peak = max(peak, inside)
        await asyncio.sleep(1)
        inside -= 1
        return given

    definition = flow(M=mapping(flow(T=task()), MaxConcurrency=limit))
    result = await stage.play(definition, list(range(8)), {"work": counted}, concurrency=20)
    assert ended(result) == ("succeeded", list(range(8)))
    assert peak == most


@staged
async def test_a_map_of_more_items_than_the_widest_window_ends(stage: Stage) -> None:
    items = list(range(300))
    result = await stage.play(flow(M=mapping(flow(T=passing()))), items)
    assert ended(result) == ("succeeded", items)


@staged
async def test_map_in_parallel_in_map(stage: Stage) -> None:
    inner = flow(In=mapping(flow(T=task()), ItemsPath="$.rows"))
    outer = flow(P=parallel(inner, flow(Name=passing(InputPath="$.name"))))
    value = [{"name": "a", "rows": [1, 2]}, {"name": "b", "rows": []}, {"name": "c", "rows": [3]}]
    result = await stage.play(flow(Out=mapping(outer)), value, {"work": Calls(lambda n: n * 10)})
    assert ended(result) == ("succeeded", [[[10, 20], "a"], [[], "b"], [[30], "c"]])


@staged
async def test_a_loop_enters_its_states_again_as_new_visits(stage: Stage) -> None:
    more = {"Variable": "$", "NumericLessThan": 3, "Next": "Add"}
    definition = flow(
        Add=task(), Enough={"Type": "Choice", "Choices": [more], "Default": "Done"}, Done=passing()
    )
    work = Calls(lambda n: n + 1)
    assert ended(await stage.play(definition, 0, {"work": work})) == ("succeeded", 3)
    assert work.given == [0, 1, 2]
    assert (await stage.state("Add")).visit == 3
    assert (await stage.state("Add@1")).input == 0


@staged
async def test_a_join_in_a_loop_starts_afresh_each_time(stage: Stage) -> None:
    more = {"Variable": "$[1]", "NumericLessThan": 4, "Next": "Fan"}
    definition = flow(
        Fan=mapping(flow(T=task())),
        Enough={"Type": "Choice", "Choices": [more], "Default": "Done"},
        Done=passing(),
    )
    result = await stage.play(definition, [1, 1], {"work": Calls(lambda n: n + 1)})
    assert ended(result) == ("succeeded", [4, 4])


@staged
async def test_a_run_that_never_ends_fails_at_the_limit_of_steps(stage: Stage) -> None:
    more = {"Variable": "$", "IsPresent": True, "Next": "A"}
    endless = flow(
        A=passing(), B={"Type": "Choice", "Choices": [more], "Default": "C"}, C=passing()
    )
    result = await stage.play(endless, store=stage.new_store(steps_limit=50))
    assert ended(result) == ("failed", "DCF.LimitExceeded")
    assert result.failure and "steps" in result.failure.cause


@staged
async def test_a_run_over_its_time_is_timed_out(stage: Stage) -> None:
    definition = flow(W={"Type": "Wait", "Seconds": 500}) | {"TimeoutSeconds": 20}
    result = await stage.play(definition)
    assert ended(result) == ("timed_out", "States.Timeout")
    assert result.finished_at and result.started_at
    assert 20_000 <= result.finished_at - result.started_at < 20_500
    assert await stage.status("W") == "cancelled"
