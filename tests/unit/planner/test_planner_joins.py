"""What is known behind a parallel step of names that several lanes write."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from small_market import small_market

from dcf import asl, workflow
from dcf.planner import compile_sop, decompile
from dcf.sop import parse, print_markdown

PROCEDURE = """\
# Look twice

Two people look at an order.

## Inputs

- `order_id` (text)

## Outputs

- `ok` (record)

## Steps

1. At the same time:
   - {rule}
   - Branch: Ana
     1. Look at it
        - Kind: manual
        - Writes: `ok`
   - Branch: Ben
     1. Look as well
        - Kind: manual
        - Writes: `other`
   - Branch: Eve
     1. Look once more
        - Kind: manual
        - Writes: `ok`
"""


def _end(document: dict[str, Any], answers: dict[str, Any]) -> Any:
    def call(task: asl.TaskCall) -> Any:
        return asl.TaskSucceeded(answers[str(task.path[-1])])

    end = asl.interpret(
        asl.parse(document["asl"]),
        {"order_id": "O-1"},
        call_task=call,
        clock=asl.VirtualClock(),
        rng=Random(0),
    )
    assert end.status == "SUCCEEDED", end
    return end.output


@pytest.mark.parametrize(
    ("rule", "ana", "eve", "kept"),
    [
        ("Keep the first `ok`", "a", "e", "a"),
        ("Keep the last `ok`", "a", "e", "e"),
        ("Keep every `ok`", "a", "e", ["a", "e"]),
        ("Keep the first `ok`", None, "e", "e"),
        ("Keep the last `ok`", "a", None, "a"),
        ("Keep every `ok`", None, "e", [None, "e"]),
        ("Keep every `ok`", ["a", "b"], [["e"]], [["a", "b"], [["e"]]]),
        ("Keep the first `ok`", [], ["e"], []),
    ],
)
def test_the_rule_says_what_is_kept(
    rule: str, ana: Any, eve: Any, kept: Any, tmp_path: Path
) -> None:
    sop = parse(PROCEDURE.format(rule=rule), "look.md").sop
    assert sop is not None
    document = compile_sop(sop, small_market(tmp_path)).document
    assert document is not None
    places = {one["step"]: one["states"][0] for one in document["plan"]["steps"]}
    answers = {
        places["1.1.1"]: {"ok": ana},
        places["1.2.1"]: {"other": "b"},
        places["1.3.1"]: {"ok": eve},
    }
    assert _end(document, answers) == {"ok": kept}

    del document["plan"]
    assert f"- {rule}\n" in print_markdown(decompile(document).sop)


def test_a_workflow_that_was_compiled_without_a_rule_says_what_it_does(tmp_path: Path) -> None:
    text = PROCEDURE.format(rule="Keep the last `ok`")
    sop = parse(text, "look.md").sop
    assert sop is not None
    document = compile_sop(sop, small_market(tmp_path)).document
    assert document is not None
    del document["plan"]
    [fan] = [one for one in document["asl"]["States"].values() if one["Type"] == "Parallel"]
    fan["Assign"]["ok"] = "{% $states.result[2].ok %}"  # as all were before there were rules
    assert "- Keep the last `ok`\n" in print_markdown(decompile(document).sop)

    assert workflow.validate(document) == []  # by hand, an index says which branch is meant
    [warning] = workflow.validate({**document, "plan": {}})
    assert (warning.code, warning.severity) == ("WF_UNRULED_JOIN", "warning")
    assert warning.path.endswith("/Assign/ok")
    assert "branch 3" in warning.message
    assert "branch 1" in warning.message


def test_what_lanes_give_unasked_is_not_chosen_from(tmp_path: Path) -> None:
    text = """\
# Price twice

The order is priced.

## Inputs

- `order_id` (text)

## Steps

1. At the same time:
   1. Work out the price
      - Skill: shop.price
   2. Work out the price again
      - Skill: shop.price
"""
    charged = "2. Charge the card\n   - Skill: shop.charge\n"
    market = small_market(tmp_path)
    alone, after = parse(text, "a.md").sop, parse(text + charged, "a.md").sop
    assert alone is not None
    assert after is not None
    assert compile_sop(alone, market).document is not None

    problems = compile_sop(after, market).problems
    [found] = [one for one in problems if one.is_error]
    assert (found.code, found.line) == ("PLAN_JOIN", 16)
    assert "step 1.1 (line 12) and step 1.2 (line 14) give `amount_cents`" in found.message
