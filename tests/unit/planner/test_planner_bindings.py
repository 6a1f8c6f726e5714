"""An argument that no value has the name of is asked for, with the value that may be meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_market import small_market

from dcf.planner import compile_sop, with_bindings
from dcf.sop import Sop, parse

PROCEDURE = """\
# Charge an order

The order is paid.

## Inputs

- `order_id` (text)
{inputs}

## Steps

1. Charge the card
   - Skill: shop.charge
"""


def procedure(*inputs: str) -> Sop:
    sop = parse(PROCEDURE.format(inputs="\n".join(f"- {one}" for one in inputs)), "a.md").sop
    assert sop is not None
    return sop


def arguments(document: Any) -> dict[str, str]:
    [task] = [one for one in document["asl"]["States"].values() if one["Type"] == "Task"]
    found: dict[str, str] = task["Arguments"]
    return found


def test_one_value_of_its_shape_is_proposed_and_not_taken(tmp_path: Path) -> None:
    market = small_market(tmp_path)
    sop = procedure("`order_amount_cents` (whole number)", "`amount` (whole number)")

    plan = compile_sop(sop, market)

    [asked] = plan.bindings
    assert (asked.name, [one.path for one in asked.offers]) == (
        "1.amount_cents",
        ["order_amount_cents"],
    )
    [told] = plan.problems
    assert (told.code, told.severity, told.line) == ("PLAN_BINDING", "warning", 13)
    assert "--bind 1.amount_cents=order_amount_cents" in told.hint
    assert "`- Reads: `order_amount_cents` as `amount_cents``" in told.hint
    assert "amount_cents" not in arguments(plan.document)

    bound, wrong = with_bindings(sop, plan, {asked.name: asked.offers[0].path})
    assert wrong == ()
    again = compile_sop(bound, market)
    assert (again.bindings, again.problems) == ((), ())
    assert arguments(again.document) == {
        "order_id": "{% $order_id %}",
        "amount_cents": "{% $order_amount_cents %}",
    }


def test_a_member_of_a_record_is_proposed(tmp_path: Path) -> None:
    sop = procedure("`order` (record)\n  - `total_cents` (whole number)")
    [asked] = compile_sop(sop, small_market(tmp_path)).bindings
    assert [one.path for one in asked.offers] == ["order.total_cents"]


def test_the_same_words_written_otherwise_leave_no_doubt(tmp_path: Path) -> None:
    plan = compile_sop(procedure("`amountCents` (whole number)"), small_market(tmp_path))
    assert (plan.bindings, plan.problems) == ((), ())
    assert arguments(plan.document)["amount_cents"] == "{% $amountCents %}"


def test_two_that_are_as_near_are_both_offered(tmp_path: Path) -> None:
    sop = procedure("`paid_amount_cents` (whole number)", "`due_amount_cents` (whole number)")
    [asked] = compile_sop(sop, small_market(tmp_path)).bindings
    assert asked.to_json()["proposed"] is None
    assert {one.path for one in asked.offers} == {"paid_amount_cents", "due_amount_cents"}


@pytest.mark.parametrize("name", ["9.order_id", "order_id", "1.", "1.other"])
def test_a_binding_of_no_step_is_refused(name: str, tmp_path: Path) -> None:
    sop = procedure()
    plan = compile_sop(sop, small_market(tmp_path))
    _, [wrong] = with_bindings(sop, plan, {name: "order_id"})
    assert wrong.code == "PLAN_BINDING"
    assert f"`{name}`" in wrong.message
