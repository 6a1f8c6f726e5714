"""A real model drives a run end to end: its answers are held to a schema, its calls pass the gate.

It is a very small one. What is checked is that the path holds, whatever it says, and that it is
asked until it has called the tool and reported.
"""

from __future__ import annotations

import json
from pathlib import Path

from integration.agents.model_place import look, place
from pydantic import BaseModel
from pydantic_ai import Agent
from unit.workflow.stage import flow, mapping, retry

from dcf.agents import UsageLimits
from dcf.agents.models import Models, Tally


class Parcel(BaseModel):
    """A parcel."""

    city: str
    kilograms: int


async def test_an_answer_is_held_to_its_schema(model_settings: dict[str, str]) -> None:
    tally = Tally()
    model = Models(model_settings).of("compatible:smollm2", tally)
    agent = Agent(model, output_type=Parcel, model_settings={"temperature": 0.0})
    result = await agent.run("The parcel weighs 7 kilograms and goes to Paris.")
    print(result.output, result.usage)
    assert isinstance(result.output, Parcel)
    assert result.usage.input_tokens > 20
    assert tally.requests >= 1


async def test_a_run_is_driven_by_a_local_model_through_the_gate(
    redis_url: str, tmp_path: Path, model_settings: dict[str, str]
) -> None:
    again = retry("States.ALL", IntervalSeconds=1, MaxAttempts=8, BackoffRate=1.0)
    task = look(Comment="Search for x, then report the result.", **again)
    # Several times, since it is free to report before it has searched.
    definition = flow(All=mapping(flow(A=task), MaxConcurrency=1))
    async with place(redis_url, tmp_path, model_settings) as here:
        here.worker(limits=UsageLimits(max_requests=6), ttl_ms=120_000)
        result = await here.run(definition, [{"query": "x"}] * 6, longest_s=800)
        decisions = await here.events("ToolDecision")
        calls = await here.events("ModelCall")
    print(json.dumps([calls, decisions, result.output], indent=1))
    assert result.status == "succeeded"
    assert len(calls) >= 6
    assert all(call["input_tokens"] > 0 for call in calls if "error" not in call)
    assert {decision["tool"] for decision in decisions} == {"web:search"}
    assert any(decision["verdict"] == "allow" for decision in decisions)
