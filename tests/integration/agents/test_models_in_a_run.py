"""Runs whose agents ask a model over HTTP: real Redis, real worker, real stub tools, the gate."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from integration.agents.model_place import found_or_report, look, wired_place
from integration.agents.wire_model import Answer, Body, Refuse, Say, call
from unit.workflow.stage import catch, flow, mapping, passing, retry

from dcf.agents import UsageLimits


async def test_a_model_drives_a_run_through_the_gate_and_its_use_is_on_record(
    redis_url: str, tmp_path: Path
) -> None:
    async with wired_place(redis_url, tmp_path, found_or_report) as here:
        here.worker()
        result = await here.run(flow(A=look()), budget={"cost_usd": 1, "tokens": 100_000})
        state = await here.state()
        calls, decisions = await here.events("ModelCall"), await here.events("ToolDecision")
        spent = [await here.used(name) for name in ("model_calls", "model_tokens", "model_nano")]
    assert (result.status, result.output) == ("succeeded", {"items": [1]})
    assert [decision["verdict"] for decision in decisions] == ["allow"]
    assert [(one["model"], one["input_tokens"], one["output_tokens"]) for one in calls] == [
        ("openai:gpt-5-mini", 700, 30),
        ("openai:gpt-5-mini", 900, 40),
    ]
    # 0.25 and 2 dollars for a million tokens of input and output.
    assert [one["cost_usd"] for one in calls] == [0.000235, 0.000305]
    assert spent == [2, 1670, 540_000]
    metrics = state.metrics
    assert (metrics["llm_calls"], metrics["tool_calls"]) == (2, 1)
    assert (metrics["prompt_tokens"], metrics["completion_tokens"]) == (1600, 70)
    assert metrics["estimated_cost_usd"] == pytest.approx(0.00054)
    assert metrics["model"] == "gpt-5-mini"
    assert "sk-test" not in json.dumps(here.server.requests)


async def test_a_task_can_catch_what_a_model_refuses_and_retry_what_may_pass(
    redis_url: str, tmp_path: Path
) -> None:
    def script(body: Body) -> Answer:
        state = next(name for name in ("First", "Second") if f"Task: {name}" in json.dumps(body))
        if state == "First":
            return Refuse(401, "wrong key")
        if len(here.server.requests) < 4:
            return Refuse(503, "overloaded")
        return call("report_result", {"data": "done"})

    definition = flow(
        First=look(**catch("Second", "DCF.ModelRefused")),
        Second=look(**retry("DCF.ModelUnavailable", IntervalSeconds=1, MaxAttempts=2)),
    )
    async with wired_place(redis_url, tmp_path, script) as here:
        here.worker()
        result = await here.run(definition)
    assert (result.status, result.output) == ("succeeded", "done")
    # One was refused; of the others the first two were one try of the Task, each repeated once.
    assert len(here.server.requests) == 4


@pytest.mark.parametrize("budget", [{"tokens": 3000}, {"cost_usd": 0.0001}, {"model_calls": 0}])
@pytest.mark.parametrize("whose", ["run", "state"])
async def test_a_budget_stops_the_run_before_the_request(
    redis_url: str, tmp_path: Path, budget: dict[str, Any], whose: str
) -> None:
    of_run = {"budget": budget} if whose == "run" else {}
    of_state = {"budget": budget} if whose == "state" else {}
    async with wired_place(redis_url, tmp_path, found_or_report) as here:
        here.worker()
        result = await here.run(flow(A=look(binding=of_state)), **of_run)
        refused = await here.events("ModelCallRefused")
    assert here.server.requests == []
    assert result.failure is not None and result.failure.error == "DCF.BudgetExhausted"
    assert f"the budget of this {whose} is spent" in (result.failure.cause or "")
    assert [one["rule"] for one in refused] == [f"budget.{next(iter(budget))}"]


async def test_workers_that_spend_one_budget_never_send_more_than_it_allows(
    redis_url: str, tmp_path: Path
) -> None:
    """Ten items need two requests each; seven requests are all that the run has."""
    item = flow(A=look(**catch("B"), ResultPath=None), B=passing())
    definition = flow(All=mapping(item, MaxConcurrency=10))
    async with wired_place(redis_url, tmp_path, found_or_report) as here:
        for name in ("w1", "w2"):
            here.worker(name)
        items = [{"query": "x", "n": number} for number in range(10)]
        result = await here.run(definition, items, budget={"model_calls": 7})
        calls, refused = await here.events("ModelCall"), await here.events("ModelCallRefused")
    assert result.status == "succeeded"
    assert len(here.server.requests) == len(calls) == 7
    assert len(refused) >= 6


async def test_money_is_not_spent_on_what_nobody_knows_the_price_of(
    redis_url: str, tmp_path: Path
) -> None:
    binding = {"model": "openai:brand-new"}
    async with wired_place(redis_url, tmp_path, found_or_report) as here:
        here.worker()
        result = await here.run(flow(A=look(binding=binding)), budget={"cost_usd": 100})
    assert here.server.requests == []
    assert result.failure is not None and result.failure.error == "DCF.PriceUnknown"
    assert "DCF_MODEL_PRICES" in (result.failure.cause or "")


async def test_without_a_limit_of_money_an_unknown_price_is_null(
    redis_url: str, tmp_path: Path
) -> None:
    async with wired_place(redis_url, tmp_path, found_or_report) as here:
        here.worker()
        result = await here.run(flow(A=look(binding={"model": "openai:brand-new"})))
        state = await here.state()
    assert result.status == "succeeded"
    assert state.metrics["estimated_cost_usd"] is None


async def test_a_worker_that_dies_over_a_request_leaves_what_it_reserved(
    redis_url: str, tmp_path: Path
) -> None:
    def script(body: Body) -> Answer:
        slow = len(here.server.requests) == 1
        return Say("late", after_s=30) if slow else call("report_result", {"data": 1})

    async with wired_place(redis_url, tmp_path, script) as here:
        first = here.worker(ttl_ms=300)
        await here.submit(flow(A=look()))
        async with asyncio.timeout(10):
            while not here.server.requests:
                await asyncio.sleep(0.01)
        reserved = await here.used("model_tokens")
        await here.crew.kill(first)
        here.worker("w2", ttl_ms=300)
        result = await here.crew.end("r")
        spent = await here.used("model_tokens"), await here.used("model_calls")
    assert result.output == 1
    assert reserved > 4096
    assert spent == (reserved + 120, 2)


MALFORMED = [
    pytest.param([call("search", "{not json")] * 9, "DCF.ModelError", id="arguments are no JSON"),
    pytest.param([call("no_such_tool")] * 9, "DCF.ModelError", id="no such tool"),
    pytest.param([Say("")] * 9, "DCF.ModelError", id="empty answers"),
    pytest.param(
        [call("search", {"query": 7})] * 9, "DCF.PermissionDenied", id="arguments of another type"
    ),
    pytest.param(
        [call("report_result", {"summary": []})] * 9, "DCF.ModelError", id="no report at all"
    ),
]


@pytest.mark.parametrize(("answers", "error"), MALFORMED)
async def test_a_model_that_makes_no_sense_fails_the_task_soon(
    redis_url: str, tmp_path: Path, answers: list[Answer], error: str
) -> None:
    async with wired_place(redis_url, tmp_path, answers) as here:
        here.worker()
        result = await here.run(flow(A=look()))
        calls = await here.events("ModelCall")
    assert result.failure is not None
    assert result.failure.error == error
    assert 1 < len(calls) < 5
    assert "Traceback" not in (result.failure.cause or "")
    assert len(result.failure.cause or "") > 20


async def test_a_loop_that_never_ends_is_ended(redis_url: str, tmp_path: Path) -> None:
    async with wired_place(redis_url, tmp_path, lambda _: call("search", {"query": "x"})) as here:
        here.worker(limits=UsageLimits(max_requests=6, max_tool_calls=50))
        result = await here.run(flow(A=look()))
        metrics = (await here.state()).metrics
    assert result.failure is not None and result.failure.error == "DCF.LimitExceeded"
    assert len(here.server.requests) == 6
    assert (metrics["llm_calls"], metrics["prompt_tokens"]) == (6, 600)


async def test_a_budget_ends_a_loop_too(redis_url: str, tmp_path: Path) -> None:
    async with wired_place(redis_url, tmp_path, lambda _: call("search", {"query": "x"})) as here:
        here.worker()
        result = await here.run(flow(A=look()), budget={"model_calls": 4})
    assert result.failure is not None and result.failure.error == "DCF.BudgetExhausted"
    assert len(here.server.requests) == 4
