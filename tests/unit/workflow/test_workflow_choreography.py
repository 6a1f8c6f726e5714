"""Choreography: every state type, Retry and Catch, joins, loops, the context object, limits.

Expected values follow from the States Language; time is virtual.
"""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from unit.workflow.stage import (
    EPOCH_S,
    RUN,
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

from control_plane import Failure
from dcf.asl import format_timestamp
from dcf.worker import TaskFailure, current_work
from dcf.workflow import Result


def ended(result: Result) -> tuple[str, Any]:
    """The status, and the output or the error name."""
    return result.status, result.failure.error if result.failure else result.output


def failing(error: str, times: int) -> Calls:
    """Fails ``times`` times, then gives "ok"."""
    left = [times]

    def answer(_given: Any) -> Any:
        left[0] -= 1
        return TaskFailure(error, "as planned") if left[0] >= 0 else "ok"

    return Calls(answer)


async def echo(given: Any) -> Any:
    return given


# -- the eight types -----------------------------------------------------------------------------


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
    assert ended(await stage.play(definition, 2)) == ("failed", "States.NoChoiceMatched")


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


# -- Retry and Catch -----------------------------------------------------------------------------


@staged
async def test_retries_are_counted_and_delayed_as_the_retrier_says(stage: Stage) -> None:
    started: list[float] = []

    async def work(_given: Any) -> None:
        started.append(stage.loop.now)
        raise TaskFailure("Flaky", "")

    policy = retry("Flaky", IntervalSeconds=2, BackoffRate=3, MaxAttempts=3, MaxDelaySeconds=10)
    result = await stage.play(flow(A=task(**policy)), None, {"work": work})
    assert ended(result) == ("failed", "Flaky")
    gaps = [later - sooner for sooner, later in pairwise(started)]
    assert [round(gap) for gap in gaps] == [2, 6, 10]
    assert all(gap > wanted - 0.001 for gap, wanted in zip(gaps, [2, 6, 10], strict=True))


@staged
async def test_a_task_that_works_again_goes_on(stage: Stage) -> None:
    work = failing("Flaky", times=2)
    result = await stage.play(flow(A=task(**retry("Flaky"))), None, {"work": work})
    assert ended(result) == ("succeeded", "ok")
    assert work.count == 3


@staged
async def test_another_error_is_not_retried(stage: Stage) -> None:
    work = failing("Other", times=9)
    result = await stage.play(flow(A=task(**retry("Flaky"))), None, {"work": work})
    assert ended(result) == ("failed", "Other")
    assert work.count == 1


@staged
async def test_the_first_catcher_that_matches_is_taken(stage: Stage) -> None:
    catchers = [
        {"ErrorEquals": ["Other"], "Next": "Wrong"},
        {"ErrorEquals": ["Boom"], "Next": "Right", "ResultPath": "$.error"},
        {"ErrorEquals": ["States.ALL"], "Next": "Wrong"},
    ]
    definition = flow(
        A=task(Catch=catchers, End=True), Right=passing(End=True), Wrong={"Type": "Fail"}
    )
    result = await stage.play(definition, {"n": 1}, {"work": failing("Boom", times=1)})
    problem = {"Error": "Boom", "Cause": "as planned"}
    assert ended(result) == ("succeeded", {"n": 1, "error": problem})


@staged
async def test_what_was_caught_stays_with_the_state_and_in_the_history(stage: Stage) -> None:
    definition = flow(A=task(**catch("B")), B=passing())
    await stage.play(definition, 1, {"work": failing("Boom", times=1)})
    state = await stage.state("A")
    assert state.status == "done"
    assert state.error == Failure("Boom", "as planned")
    assert [event["caught"] for event in await stage.events() if "caught" in event] == ["Boom"]


@staged
async def test_what_a_task_was_given_is_kept_beside_its_raw_input(stage: Stage) -> None:
    definition = flow(A=task(InputPath="$.order", Parameters={"id.$": "$.n"}), B=task())
    await stage.play(definition, {"order": {"n": 7}}, {"work": echo})
    state = await stage.state("A")
    assert (state.input, state.raw["effective_input"]) == ({"order": {"n": 7}}, {"id": 7})
    assert "effective_input" not in (await stage.state("B")).raw


@staged
async def test_a_handler_knows_the_key_of_its_try(stage: Stage) -> None:
    keys: list[str] = []

    async def work(_given: Any) -> Any:
        keys.append(current_work().idempotency_key)
        if len(keys) == 1:
            raise TaskFailure("Flaky", "")
        return None

    await stage.play(flow(A=task(**retry("Flaky"))), None, {"work": work})
    assert keys == [f"{RUN}/A/1/1", f"{RUN}/A/1/2"]


@staged
async def test_a_beat_of_a_handler_keeps_its_heartbeat(stage: Stage) -> None:
    async def work(_given: Any) -> Any:
        for _ in range(10):
            await asyncio.sleep(2)
            current_work().beat()
        return "done"

    result = await stage.play(
        flow(A=task(HeartbeatSeconds=3, TimeoutSeconds=60)), None, {"work": work}
    )
    assert ended(result) == ("succeeded", "done")


@staged
async def test_retries_are_spent_before_a_catcher_is_asked(stage: Stage) -> None:
    work = failing("Boom", times=9)
    policy = retry("Boom", MaxAttempts=2) | catch("B")
    result = await stage.play(flow(A=task(**policy), B=passing(Result=1)), None, {"work": work})
    assert ended(result) == ("succeeded", 1)
    assert work.count == 3


@staged
async def test_an_exception_of_a_handler_is_states_task_failed(stage: Stage) -> None:
    work = Calls(lambda _: ValueError("no such order"))
    result = await stage.play(flow(A=task()), None, {"work": work})
    assert result.failure
    assert (result.failure.error, result.failure.cause) == (
        "States.TaskFailed",
        "ValueError: no such order",
    )


@staged
async def test_work_that_cancels_itself_fails_its_task(stage: Stage) -> None:
    work = Calls(lambda _: asyncio.CancelledError())
    result = await stage.play(flow(A=task()), None, {"work": work})
    assert ended(result) == ("failed", "States.TaskFailed")
    assert work.count == 1


@staged
async def test_a_resource_that_nobody_serves_is_no_handler(stage: Stage) -> None:
    result = await stage.play(flow(A=task("mill")), None, {"work": echo})
    assert result.failure
    assert result.failure.error == "DCF.NoHandler"
    assert "'mill'" in result.failure.cause and "work" in result.failure.cause


# -- failure in joins ----------------------------------------------------------------------------


@staged
async def test_a_failed_branch_fails_parallel_and_cancels_the_work_beside_it(stage: Stage) -> None:
    cancelled = []

    async def long(_given: Any) -> None:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            cancelled.append(stage.loop.now)
            raise

    definition = flow(
        P=parallel(flow(L=task("long")), flow(R=task("boom")), **catch("After")),
        After={"Type": "Wait", "Seconds": 60},
    )
    handlers = {"long": long, "boom": failing("Boom", times=1)}
    result = await stage.play(definition, None, handlers, ttl_ms=3000)
    assert ended(result) == ("succeeded", {"Error": "Boom", "Cause": "as planned"})
    assert len(cancelled) == 1
    assert cancelled[0] <= 1.5, "the work is told at its next renewal, a third of 3 s"
    assert await stage.status("P[0]/L") == "cancelled"


@staged
async def test_a_failed_item_fails_its_map_and_opens_no_more_items(stage: Stage) -> None:
    work = Calls(lambda n: TaskFailure("Boom", "") if n == 1 else n)
    definition = flow(M=mapping(flow(T=task()), MaxConcurrency=1))
    result = await stage.play(definition, list(range(9)), {"work": work})
    assert ended(result) == ("failed", "Boom")
    assert work.given == [0, 1]


@staged
async def test_retry_of_a_map_does_all_its_items_again(stage: Stage) -> None:
    broken = [True]

    def answer(n: int) -> Any:
        if n == 2 and broken.pop(0) if broken else False:
            return TaskFailure("Boom", "")
        return n

    work = Calls(answer)
    definition = flow(M=mapping(flow(T=task()), MaxConcurrency=1, **retry("Boom")))
    result = await stage.play(definition, [1, 2], {"work": work})
    assert ended(result) == ("succeeded", [1, 2])
    assert work.given == [1, 2, 1, 2]


@staged
async def test_an_item_whose_selector_cannot_be_evaluated_fails_its_map(stage: Stage) -> None:
    selector = {"v.$": "$$.Map.Item.Value.missing"}
    definition = flow(M=mapping(flow(T=passing()), ItemSelector=selector))
    assert ended(await stage.play(definition, [{}])) == ("failed", "States.Runtime")


# -- the context object --------------------------------------------------------------------------


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


# -- results that cannot be stored ---------------------------------------------------------------

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


# -- limits --------------------------------------------------------------------------------------


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


# -- the moment that expressions know ------------------------------------------------------------


@staged
async def test_now_in_jsonata_is_when_the_state_was_entered(stage: Stage) -> None:
    definition = flow(
        W={"Type": "Wait", "Seconds": 60}, P={"Type": "Pass", "Output": "{% $millis() %}"}
    )
    result = await stage.play(definition | {"QueryLanguage": "JSONata"})
    assert result.started_at is not None
    assert 60_000 <= result.output - result.started_at < 61_000
