"""Choreography: results that are too large or no JSON, and large ones that fit."""

from __future__ import annotations

from typing import Any

import pytest
from unit.workflow.choreography_samples import ended
from unit.workflow.stage import (
    Calls,
    Stage,
    catch,
    flow,
    mapping,
    parallel,
    passing,
    retry,
    staged,
    task,
)

from dcf.worker import TaskFailure

TOO_LARGE = "x" * (16 * 1024 * 1024)


def deep(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


@staged
async def test_output_over_the_limit_is_data_limit_exceeded(stage: Stage) -> None:
    work = Calls(lambda _: TOO_LARGE)
    result = await stage.play(flow(A=task()), None, {"work": work})
    assert ended(result) == ("failed", "States.DataLimitExceeded")


@staged
async def test_output_over_the_limit_can_be_caught_by_name(stage: Stage) -> None:
    work = Calls(lambda _: TOO_LARGE)
    definition = flow(A=task(**catch("B", "States.DataLimitExceeded")), B=passing())
    status, output = ended(await stage.play(definition, None, {"work": work}))
    assert (status, output["Error"]) == ("succeeded", "States.DataLimitExceeded")


@staged
async def test_output_over_the_limit_is_tried_again_only_where_a_retrier_names_it(
    stage: Stage,
) -> None:
    work = Calls(lambda _: TOO_LARGE)
    name = "States.DataLimitExceeded"
    named = retry(name, MaxAttempts=1)
    definition = flow(A=task(**named, **catch("B", name)), B=passing(Result=1))
    assert ended(await stage.play(definition, None, {"work": work})) == ("succeeded", 1)
    assert work.count == 2


@staged
async def test_output_over_the_limit_is_not_tried_again_for_all_errors(stage: Stage) -> None:
    work = Calls(lambda _: TOO_LARGE)
    caught = catch("B", "States.DataLimitExceeded")
    definition = flow(A=task(**retry("States.ALL"), **caught), B=passing(Result=1))
    assert ended(await stage.play(definition, None, {"work": work})) == ("succeeded", 1)
    assert work.count == 1


@staged
async def test_what_a_join_gives_over_the_limit_can_be_caught_too(stage: Stage) -> None:
    work = Calls(lambda _: "x" * (9 * 1024 * 1024))
    branches = flow(L=task()), flow(R=task())
    definition = flow(P=parallel(*branches, **catch("B", "States.DataLimitExceeded")), B=passing())
    status, output = ended(await stage.play(definition, None, {"work": work}))
    assert (status, output["Error"]) == ("succeeded", "States.DataLimitExceeded")


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {1: 2}, object(), "\ud800", deep(101)]
)
@staged
async def test_a_result_that_is_no_json_fails_the_task_at_once(value: Any, stage: Stage) -> None:
    work = Calls(lambda _: value)
    result = await stage.play(flow(A=task()), None, {"work": work})
    assert ended(result) == ("failed", "States.Runtime")
    assert work.count == 1


@staged
async def test_an_item_that_cannot_be_stored_fails_its_map_at_once(stage: Stage) -> None:
    selector = {"a": {"b": {"c.$": "$$.Map.Item.Value"}}}
    definition = flow(M=mapping(flow(T=passing()), ItemSelector=selector))
    result = await stage.play(definition, [deep(98)])
    assert ended(result) == ("failed", "States.Runtime")
    assert result.finished_at and result.started_at
    assert result.finished_at - result.started_at < 1000


@staged
async def test_an_error_whose_text_cannot_be_stored_still_fails_the_task(stage: Stage) -> None:
    work = Calls(lambda _: TaskFailure("Odd", "\ud800"))
    assert (await stage.play(flow(A=task()), None, {"work": work})).status == "failed"


@staged
async def test_a_caught_error_that_does_not_fit_into_the_input_fails_the_run(stage: Stage) -> None:
    work = Calls(lambda _: TaskFailure("Odd", "x"))
    nested = {"v": deep(98)}
    definition = flow(A=task(**catch("B", ResultPath="$.v" + "[0]" * 98 + ".e")), B=passing())
    result = await stage.play(definition, nested, {"work": work})
    assert result.status == "failed"
    assert result.finished_at and result.started_at
    assert result.finished_at - result.started_at < 1000


@staged
async def test_large_values_travel_through_states_by_reference(stage: Stage) -> None:
    text = "x" * 400_000
    definition = flow(A=task(), B=passing(), M=mapping(flow(T=passing()), ItemsPath="$.items"))
    work = Calls(lambda _: {"items": [text, text]})
    result = await stage.play(definition, None, {"work": work})
    assert result.output == [text, text]
    assert list((await stage.state("B")).input) == ["$blob", "size"]
