"""Procedures at the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dcf_user import Dcf
from jsonschema import Draft202012Validator

_BROKEN = """\
# Refund a customer

## Objective

The money is back.

## Outputs

- `refund_id` (text)

## Steps

1. Look the order up
   - Reads: `order_id`
   - Retry a lot
2. Is it much?
   - If the total is high, go to step 4
   - Otherwise go to step 7
3. Wait for the customer
4. Pay
"""
_MISTAKES = {
    "SOP_OUTPUT": 9,
    "SOP_UNKNOWN_NAME": 14,
    "SOP_RETRY": 15,
    "SOP_CONDITION": 17,
    "SOP_JUMP": 18,
    "SOP_WAIT": 19,
}


@pytest.fixture
def dcf(tmp_path: Path) -> Dcf:
    return Dcf(tmp_path)


def test_every_mistake_is_shown_with_its_line(dcf: Dcf) -> None:
    (dcf.folder / "refund.md").write_text(_BROKEN)
    done = dcf("sop", "check", "refund.md")
    assert done.code == 2
    assert done.out == ""
    assert "6 problems in refund.md" in done.err
    for code, line in _MISTAKES.items():
        assert f"[{code}]" in done.err
        assert f"{line} | {_BROKEN.splitlines()[line - 1]}" in done.err
    shown = dcf("sop", "check", "refund.md", "--json")
    found = {one["code"]: one["line"] for one in shown.json["problems"]}
    assert (shown.code, found) == (2, _MISTAKES)


def test_an_editor_is_given_the_schema_and_how_to_name_it(dcf: Dcf) -> None:
    printed = json.loads(dcf("sop", "schema").out)
    Draft202012Validator.check_schema(printed)
    written = dcf("sop", "schema", "--out", "schemas/sop.schema.json")
    assert json.loads((dcf.folder / "schemas/sop.schema.json").read_text()) == printed
    assert "# yaml-language-server: $schema=schemas/sop.schema.json" in written.out
    # It judges as `dcf sop check` does, also where a file names it.
    sop: dict[str, Any] = {
        "$schema": "sop.schema.json",
        "title": "Pay",
        "objective": "Paid.",
        "steps": [],
    }
    assert not Draft202012Validator(printed).is_valid(sop)
    sop["steps"] = [{"title": "Pay"}]
    assert Draft202012Validator(printed).is_valid(sop)
    (dcf.folder / "pay.json").write_text(json.dumps(sop))
    assert dcf("sop", "show", "pay.json").code == 0


def test_a_new_procedure_goes_through_both_forms(dcf: Dcf) -> None:
    made = dcf("sop", "new", "Refund a customer", "--json")
    assert (made.code, made.json["written"]) == (0, "refund-a-customer.md")
    assert dcf("sop", "new", "Refund a customer").code == 2  # never written over
    assert dcf("sop", "check", "refund-a-customer.md").code == 0
    there = dcf("sop", "convert", "refund-a-customer.md", "--to", "yaml", "--out", "refund.yaml")
    assert there.code == 0
    back = dcf("sop", "convert", "refund.yaml", "--to", "markdown")
    assert back.out == (dcf.folder / "refund-a-customer.md").read_text()
    shown = dcf("sop", "show", "refund.yaml")
    assert "Refund a customer" in shown.out
    assert "decision" in shown.out


def test_a_procedure_is_shown_with_all_that_is_understood_of_it(dcf: Dcf) -> None:
    (dcf.folder / "pay.md").write_text(
        "# Pay\n\n## Objective\n\nIt is paid.\n\n## Inputs\n\n- `bills` (list of records)\n"
        "  - `id` (text)\n\n"
        "## Guardrails\n\n- Within 2 days\n- Budget: 4 tool calls, 2.0 USD\n- Never pay twice.\n\n"
        "## Steps\n\n1. Pay the bill\n   - Role: buyer\n   - Approval: finance\n"
        "   - Retry on BankBusy up to 3 times, waiting 10 seconds\n   - Within 30 minutes\n"
        "   - Tier: 2\n   - Budget: 1.5 USD\n2. Wait 2 hours.\n"
    )
    shown = dcf("sop", "show", "pay.md")
    assert shown.code == 0
    for said in (
        "bills (list of records)", "within 2 days", "budget 4 tool calls, 2 USD",
        "rule: Never pay twice.", "role buyer", "approval by finance", "retry on BankBusy",
        "within 30 minutes", "tier 2", "budget 1.50 USD", "wait 2 hours",
    ):  # fmt: skip
        assert said in shown.out, said


def test_a_procedure_is_shown_beside_a_workflow(dcf: Dcf) -> None:
    (dcf.folder / "mend.md").write_text("# Mend it\n\n1. Look at the fuse\n2. Change the fuse\n")
    assert dcf("plan", "--from-sop", "mend.md", "--out", "mend.json").code == 0
    (dcf.folder / "mend.md").write_text("# Mend it\n\n1. Look at the fuse\n2. Call a friend\n")

    shown = dcf("sop", "show", "mend.md", "--against", "mend.json", "--html", "o/mend.html",
                "--picture", "o/mend.svg")  # fmt: skip
    assert shown.code == 0, shown.err
    for said in ("66 % of the sentences", "50 % of the states", "LookAtTheFuse", "no state"):
        assert said in shown.out, said
    assert "LookAtTheFuse" in (dcf.folder / "o/mend.html").read_text()
    assert (dcf.folder / "o/mend.svg").read_text().startswith("<svg")

    told = dcf("sop", "show", "mend.md", "--against", "mend.json", "--json").json
    assert told["counts"]["sentences_open"] == 1
    assert [one["state"] for one in told["states"] if one["role"] == "loose"] == ["ChangeTheFuse"]


def test_a_page_without_a_workflow_is_refused(dcf: Dcf) -> None:
    (dcf.folder / "mend.md").write_text("# Mend it\n\n1. Look at the fuse\n")
    done = dcf("sop", "show", "mend.md", "--html", "mend.html")
    assert done.code == 2 and "--against workflow.json" in done.err
    done = dcf("sop", "show", "mend.md", "--against", "mend.json")
    assert done.code == 2 and "there is no such file" in done.err


def test_the_name_of_a_file_is_no_title(dcf: Dcf) -> None:
    done = dcf("sop", "new", "recall-bread.yaml")
    assert done.code == 2 and 'dcf sop new "Recall bread" --out recall-bread.yaml' in done.err
    assert not list(dcf.folder.glob("recall*"))
