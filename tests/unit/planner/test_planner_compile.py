"""What a procedure becomes: who does it, with what, and where it goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_market import small_market

from dcf.planner import Plan, compile_sop
from dcf.planner.compiling.state_names import state_name
from dcf.problem import Problem
from dcf.sop import parse

HEAD = """# Sell

## Objective

The order is paid.

## Inputs

- `order_id` (string)
- `note` (string, optional)
- `order` (object)
  - `total` (number)

## Guardrails

- Never charge twice.

## Roles

- cashier: takes money

## Steps

"""


def plan(steps: str, tmp_path: Path, head: str = HEAD, **changed: Any) -> Plan:
    reading = parse(head + steps, "sell.md")
    assert reading.sop is not None, [str(one) for one in reading.problems]
    return compile_sop(reading.sop, small_market(tmp_path, **changed))


def states(found: Plan) -> dict[str, Any]:
    assert found.document is not None, [str(one) for one in found.problems]
    return dict(found.document["asl"]["States"])


def errors(found: Plan) -> list[tuple[str, int | None]]:
    return [(one.code, one.line) for one in found.problems if one.is_error]


def test_a_task_is_told_its_step_and_the_rules_and_given_what_its_tools_take(
    tmp_path: Path,
) -> None:
    found = states(plan("1. Charge the card\n   - Reads: `order.total` as `amount_cents`\n"
                        "   - Role: cashier\n", tmp_path))["ChargeTheCard"]  # fmt: skip

    assert found["AgentBinding"] == {
        "agent_template_ref": {"name": "cashier"},
        "skills": ["shop.charge@2.0.0"],
        "tool_name": "charge",
        "task_type": "shop.charge",
    }
    assert found["Arguments"] == {
        "amount_cents": "{% $exists($order.total) ? $order.total : null %}",
        "order_id": "{% $order_id %}",
    }
    assert found["Comment"].splitlines()[0] == "Charge the card."
    assert "- Never charge twice." in found["Comment"].splitlines()


def test_what_a_later_step_needs_is_kept_of_the_last_tool_that_gives_it(tmp_path: Path) -> None:
    found = states(plan("1. Work out the price\n2. Charge the card\n", tmp_path))

    assert found["WorkOutThePrice"]["Assign"] == {
        "amount_cents": "{% $states.result.discount.amount_cents %}"
    }
    assert "amount_cents" not in found["WorkOutThePrice"]["Arguments"]
    assert found["ChargeTheCard"]["Arguments"]["amount_cents"] == "{% $amount_cents %}"


def test_only_what_may_be_repeated_is_retried_unasked(tmp_path: Path) -> None:
    steps = "1. Check the order\n2. Work out the price\n3. Charge the card\n"

    found = states(plan(steps, tmp_path))

    assert found["CheckTheOrder"]["Retry"][0]["ErrorEquals"] == [
        "DCF.ToolUnavailable",
        "DCF.ToolTimeout",
    ]
    assert "Retry" not in found["ChargeTheCard"]
    assert "Catch" not in found["ChargeTheCard"]


def test_a_step_retries_and_fails_as_it_says(tmp_path: Path) -> None:
    steps = """1. Work out the price
2. Charge the card
   - Retry on Busy up to 3 times, waiting 2 seconds, doubling
   - Within 2 minutes
   - If this fails with CardDeclined, go to step 4
   - If this fails, stop with Unclear
3. Tell the customer
   - Then finish
4. Tell the customer about it
"""
    charge = states(plan(steps, tmp_path))["ChargeTheCard"]

    assert charge["TimeoutSeconds"] == 120
    assert charge["Retry"] == [
        {"ErrorEquals": ["Busy"], "IntervalSeconds": 2, "MaxAttempts": 3, "BackoffRate": 2.0}
    ]
    assert [(one["ErrorEquals"], one["Next"]) for one in charge["Catch"]] == [
        (["CardDeclined"], "TellTheCustomerAboutIt"),
        (["States.ALL"], "Unclear"),
    ]
    assert states(plan(steps, tmp_path))["Unclear"] == {
        "Type": "Fail",
        "Error": "Unclear",
        "Cause": "{% $failure.Cause %}",
    }


def test_an_approval_waits_for_any_of_those_it_names(tmp_path: Path) -> None:
    steps = """1. Agree on `order`
   - Kind: approval
   - Approval: ana, head
   - Within 1 hour
   - If this fails with States.Timeout, stop with Nobody
2. Tell the customer
"""
    found = states(plan(steps, tmp_path))["AgreeOnOrder"]

    assert found["AgentBinding"]["approval"] == {
        "required": True,
        "approvers": ["ana", "head"],
        "any_of": True,
        "timeout_s": 3600,
        "only": True,
    }
    assert found["Arguments"] == {"order": "{% $order %}"}
    assert found["Catch"][0]["ErrorEquals"] == ["States.Timeout"]


def test_lanes_put_out_what_they_wrote(tmp_path: Path) -> None:
    steps = """1. Look twice
   - At the same time
   1. Check the order
      - Writes: `valid`
   2. Work out the price
      - Writes: `amount_cents`
2. Charge the card
"""
    found = states(plan(steps, tmp_path))

    assert found["LookTwice"]["Assign"] == {
        "valid": "{% $states.result[0].valid %}",
        "amount_cents": "{% $states.result[1].amount_cents %}",
    }
    lane = found["LookTwice"]["Branches"][0]["States"]["CheckTheOrder"]
    assert lane["Output"] == {"valid": "{% $states.result.valid %}"}
    assert lane["End"] is True


def test_a_loop_takes_its_item_and_collects(tmp_path: Path) -> None:
    steps = """1. List the lines
   - Writes: `lines`
2. For each `line` in `lines`, 3 at a time
   - Writes: `channel` as `channels`
   1. Tell the customer
      - Reads: `order_id`, `line.sku` as `sku`
      - Writes: `channel`
"""
    found = states(plan(steps, tmp_path))
    loop = next(state for state in found.values() if state["Type"] == "Map")

    assert loop["Items"] == "{% $lines %}"
    assert loop["MaxConcurrency"] == 3
    assert loop["ItemSelector"] == {"line": "{% $states.context.Map.Item.Value %}"}
    assert loop["Assign"] == {"channels": "{% $states.result %}"}


def test_a_read_that_one_way_has_not_written_is_told_with_its_line(tmp_path: Path) -> None:
    steps = """1. Check the order
   - Writes: `valid`, `reason`
   - If `valid` is true, go to step 3
2. Work out the price
   - Writes: `amount_cents`
3. Charge the card
   - Reads: `amount_cents`
"""
    line = (HEAD + steps).splitlines().index("3. Charge the card") + 1

    assert errors(plan(steps, tmp_path)) == [("PLAN_UNWRITTEN", line)]


def test_a_condition_that_asks_first_may_look_at_what_is_not_there(tmp_path: Path) -> None:
    steps = """1. Check the order
   - Writes: `valid`
   - If `valid` is true, go to step 3
2. Work out the price
   - Writes: `amount_cents`
3. Is there a price?
   - If `amount_cents` is present, continue
   - Otherwise finish
4. Charge the card
   - Reads: `amount_cents`
"""
    found = states(plan(steps, tmp_path))

    assert found["IsThereAPrice"]["Choices"][0]["Condition"] == "{% $amount_cents != null %}"


def test_an_output_that_one_way_leaves_out_is_null_there(tmp_path: Path) -> None:
    head = HEAD.replace(
        "## Guardrails", "## Outputs\n\n- `amount_cents` (integer)\n\n## Guardrails"
    )
    steps = """1. Check the order
   - Writes: `valid`
   - If `valid` is false, finish
2. Work out the price
   - Writes: `amount_cents`
"""
    found = states(plan(steps, tmp_path, head))

    assert found["Done"]["Output"] == {
        "amount_cents": "{% $exists($amount_cents) ? $amount_cents : null %}"
    }


def test_the_document_says_where_it_comes_from_and_why(tmp_path: Path) -> None:
    found = plan("1. Charge the card\n   - Skill: shop.charge@^1\n"
                 "   - Reads: `order.total` as `amount_cents`\n", tmp_path)  # fmt: skip
    assert found.document is not None

    (step,) = found.document["plan"]["steps"]

    assert step["states"] == ["ChargeTheCard"]
    assert step["skills"] == ["shop.charge@1.1.0"]
    assert "the step names" in step["why"]
    assert found.document["workflow_input_schema"]["required"] == ["order_id", "order"]


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ("1. Water the plants\n", "PLAN_GAP"),
        ("1. Charge the card\n   - Skill: shop.chrage\n", "PLAN_UNKNOWN_SKILL"),
    ],
)
def test_what_stands_in_the_way_has_a_line_and_a_hint(
    steps: str, code: str, tmp_path: Path
) -> None:
    found = plan(steps, tmp_path)

    assert found.document is None
    problem: Problem = next(one for one in found.problems if one.is_error)
    assert (problem.code, problem.line) == (code, len(HEAD.splitlines()) + 1)
    assert problem.hint


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    steps = """1. Charge the card
   - Skill: shop.chrage
2. Water the plants
3. Sweep the yard
4. Check the order
   - Writes: `valid`
   - If `valid` is true, go to step 6
5. Work out the price
   - Writes: `amount_cents`
6. Tell the customer
   - Reads: `order_id`, `amount_cents`
7. Charge it
   - Skill: shop.charge@^9
"""
    found = errors(plan(steps, tmp_path))

    assert [code for code, _ in found] == [
        "PLAN_UNKNOWN_SKILL",
        "PLAN_GAP",
        "PLAN_GAP",
        "PLAN_UNWRITTEN",
        "PLAN_UNKNOWN_SKILL",
    ]
    lines = [line for _, line in found if line]
    assert len(set(lines)) == 5


def test_what_a_tool_must_be_given_and_nobody_writes_is_a_warning(tmp_path: Path) -> None:
    found = plan("1. Charge the card\n", tmp_path)

    assert [(one.code, one.severity) for one in found.problems] == [("PLAN_ARGUMENT", "warning")]
    assert "`amount_cents`" in found.problems[0].message


def test_the_tier_and_the_budget_of_a_step_are_those_of_its_agent(tmp_path: Path) -> None:
    steps = "1. Charge the card\n   - Tier: 2\n   - Budget: 3 tool calls, 0.50 USD\n"
    binding = states(plan(steps, tmp_path))["ChargeTheCard"]["AgentBinding"]

    assert binding["tier"] == 2
    assert binding["budget"] == {"tool_calls": 3, "cost_usd": 0.5}


def test_a_word_that_comes_twice_is_once_in_the_name_of_a_state() -> None:
    assert state_name("Wait `delivery_seconds` seconds") == "WaitDeliverySeconds"
    assert len(state_name("Compare the long bill of " + "many " * 3 + "shops with ours")) <= 40


def test_a_long_name_ends_with_a_clause_or_with_a_word_that_nothing_has_to_follow() -> None:
    assert state_name("The plant manager decides: repair, or a new machine") == (
        "ThePlantManagerDecides"
    )
    assert state_name("Hand the ticket to people who are asked for by the customer") == (
        "HandTheTicketToPeopleWhoAreAsked"
    )


def test_silence_is_a_refusal_where_only_a_refusal_is_spoken_of(tmp_path: Path) -> None:
    steps = """1. Approval by ana
   - If rejected, stop with Refused
2. Tell the customer
"""
    found = states(plan(steps, tmp_path))["ApprovalByAna"]

    assert found["Catch"][0]["ErrorEquals"] == ["DCF.ApprovalRejected", "States.Timeout"]
