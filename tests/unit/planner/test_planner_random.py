"""Any right procedure compiles, runs on its mocks, and tells its steps again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from campaigns import campaign
from random_procedures_that_compile import Maker
from small_market import answer_of

from dcf import asl, workflow
from dcf.planner import Market, compile_sop, decompile
from dcf.problem import has_errors
from dcf.sop import Sop, check, parse, print_markdown

SEEDS = 30


@campaign(shares=40)
def test_it_compiles_runs_and_decompiles(share: int, market: Market) -> None:
    for seed in range(share * SEEDS, (share + 1) * SEEDS):
        sop = parse(print_markdown(Maker(Random(seed)).sop()), "made.md").sop
        assert sop is not None, (seed, check(Maker(Random(seed)).sop()))

        plan = compile_sop(sop, market)
        assert plan.document is not None, (seed, [str(one) for one in plan.problems])
        found = workflow.validate(plan.document, catalog=market.catalog)
        assert not has_errors(found), (seed, found)

        _every_step_is_there(seed, plan.document, [step.number for step in sop.all_steps()])
        _the_data_is_there(seed, plan.document)
        _the_steps_are_told(seed, sop, plan.document)


def _every_step_is_there(seed: int, document: dict[str, Any], numbers: list[str]) -> None:
    states = dict(_states(document["asl"]))
    steps = document["plan"]["steps"]

    assert [one["step"] for one in steps] == numbers, seed
    named = [state for one in steps for state in one["states"]]
    assert len(named) == len(set(named)), seed
    assert set(named) <= set(states), seed


def _the_data_is_there(seed: int, document: dict[str, Any]) -> None:
    """Whatever way is taken, no expression asks for what is not there."""
    states = dict(_states(document["asl"]))

    def call(task: asl.TaskCall) -> Any:
        binding = states[str(task.path[-1])]["AgentBinding"]
        if "manual" in binding:
            members = binding["manual"].get("result", {}).get("required", ())
            chosen = binding["manual"].get("choices", [None])[0]
            return asl.TaskSucceeded({**dict.fromkeys(members, "M-1"), "answer": chosen})
        return asl.TaskSucceeded(answer_of(binding["skills"]) if "skills" in binding else {})

    for given in ({"note": "n"}, {"amount_cents": 9}):
        end = asl.interpret(
            asl.parse(document["asl"]),
            {"order_id": "ORD-1", "parts": [{"sku": "a"}, {"sku": "b"}], **given},
            call_task=call,
            clock=asl.VirtualClock(),
            rng=Random(0),
        )
        assert end.status == "SUCCEEDED" or end.error in ("Odd", "Refused"), (seed, end)


def _the_steps_are_told(seed: int, sop: Any, document: dict[str, Any]) -> None:
    told = decompile(document)
    assert (told.origin, told.sop.steps) == ("unchanged", sop.steps), seed

    states = {key: value for key, value in document.items() if key != "plan"}
    alone = decompile(states)
    assert [step.kind for step in alone.sop.all_steps()] == [
        step.kind for step in sop.all_steps()
    ], seed
    assert [set(step.joins) for step in alone.sop.all_steps()] == [
        set(step.joins) for step in sop.all_steps()
    ], seed
    declared = {one.name: one.type for one in sop.outputs}
    assert _reported(alone.sop, {}) == _reported(sop, declared), seed
    assert parse(print_markdown(alone.sop), "told.md") is not None


def _reported(sop: Sop, declared: Mapping[str, str]) -> list[list[str | None]]:
    """The types of what persons report in each step; ``declared`` are those of outputs."""
    return [
        [one.type or declared.get(one.source) for one in step.writes[1 if step.choices else 0 :]]
        for step in sop.all_steps()
        if step.kind == "manual"
    ]


def _states(machine: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, state in machine["States"].items():
        yield name, state
        for branch in state.get("Branches", ()):
            yield from _states(branch)
        if "ItemProcessor" in state:
            yield from _states(state["ItemProcessor"])
