"""Procedures at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from dcf_user import Dcf

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
