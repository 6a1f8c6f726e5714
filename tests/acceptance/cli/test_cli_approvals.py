"""A call of high risk waits for a person, who decides at the command line, whatever dies."""

from __future__ import annotations

import json
import os
import shlex
import signal
from typing import Any

import pytest
from dcf_user import Dcf, until

REFUND = {
    "StartAt": "Refund",
    "States": {
        "Refund": {
            "Type": "Task",
            "AgentBinding": {
                "agent_template_ref": {"name": "cashier"},
                "skills": ["support.refund_order@1.0.0"],
            },
            "Catch": [
                {
                    "ErrorEquals": ["DCF.ApprovalRejected"],
                    "ResultPath": "$.refused",
                    "Next": "Refused",
                }
            ],
            "End": True,
        },
        "Refused": {"Type": "Succeed"},
    },
}
LARGE = {"order_id": "ORD-1", "ticket_id": "TCK-1", "amount_cents": 90_000, "currency": "EUR"}


def pending(dcf: Dcf, *arguments: str) -> list[dict[str, Any]]:
    done = dcf("approvals", *arguments, "--json")
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = done.json["approvals"]
    return found


@pytest.fixture
def asked(dcf: Dcf) -> dict[str, Any]:
    """A run that waits for finance."""
    dcf.write("refund.asl.json", REFUND)
    dcf.write("large.json", LARGE)
    assert dcf("up", "--workers", 1).code == 0
    submitted = dcf("submit", "refund.asl.json", "--input", "large.json", "--id", "r-1")
    assert submitted.code == 0, submitted.err
    (question,) = until(lambda: pending(dcf), "the question")
    return dict(question)


def test_what_waits_is_listed_with_all_that_a_person_needs(dcf: Dcf, asked: dict[str, Any]) -> None:
    assert asked["workflow_id"] == "r-1"
    assert (asked["server_id"], asked["tool_name"]) == ("payments", "refund_payment")
    assert asked["arguments"] == {
        name: LARGE[name] for name in ("order_id", "amount_cents", "currency")
    }
    assert (asked["approver"], asked["people"]) == ("finance", ["finance"])
    assert asked["until"] is not None
    shown = dcf("approvals", "r-1")
    assert "payments:refund_payment" in shown.out
    assert asked["question"] == "1.1.1"
    seen = f"--digest {asked['digest']} --question 1.1.1"
    command = f"dcf approve r-1 Refund --as finance {seen}"
    assert command in shown.out
    why = dcf("explain", "r-1", "--json").json
    assert "approval pending: finance was asked" in why["summary"]
    assert why["reasons"][0]["command"] == command


def test_only_who_may_decides_and_only_once(dcf: Dcf, asked: dict[str, Any]) -> None:
    seen = ("--digest", asked["digest"], "--question", asked["question"])
    for more in ((), ("--yes",), ("--json",)):
        unseen = dcf("approve", "r-1", "Refund", "--as", "finance", *more)
        assert unseen.code == 1 and "--digest" in unseen.out + unseen.err
        unseen = dcf(
            "approve", "r-1", "Refund", "--as", "finance", "--digest", asked["digest"], *more
        )
        assert unseen.code == 1 and "--question" in unseen.out + unseen.err
        unseen = dcf("approve", "r-1", "--as", "finance", *seen, *more)
        assert unseen.code == 1 and "the state" in unseen.out + unseen.err
    refused = dcf("approve", "r-1", "Refund", "--as", "mallory", *seen, "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "not_an_approver")
    assert "--as finance" in refused.json["error"]["hint"]
    for earlier in (("sha256:0", "1.1.1"), (asked["digest"], "1.1.0")):
        stale = ("--digest", earlier[0], "--question", earlier[1])
        other = dcf("approve", "r-1", "Refund", "--as", "finance", *stale, "--json")
        assert (other.code, other.json["error"]["code"]) == (1, "question_changed")
        assert "question 1.1.1 now" in other.json["error"]["message"]
    missing = dcf("approve", "r-1", "Elsewhere", "--as", "finance", *seen, "--json")
    assert (missing.code, missing.json["error"]["code"]) == (1, "no_approval_pending")
    assert dcf("approve", "nothing", "Refund", *seen, "--json").code == 2
    reason = ("--reason", "the parcel is lost")
    approved = dcf("approve", "r-1", "Refund", "--as", "finance", *reason, *seen)
    assert approved.code == 0, approved.err
    assert '"amount_cents": 90000' in approved.out
    again = dcf("reject", "r-1", "Refund", "--as", "finance", *seen, "--json")
    assert again.code == 1
    assert again.json["error"]["code"] in ("no_approval_pending", "already_settled")
    ended = dcf("watch", "r-1", "--json")
    assert (ended.code, ended.json["status"]) == (0, "succeeded")
    assert ended.json["output"]["refund_payment"]["amount_cents"] == 90_000


def test_a_rejection_is_caught_by_the_workflow(dcf: Dcf, asked: dict[str, Any]) -> None:
    seen = ("--digest", asked["digest"], "--question", asked["question"])
    assert (
        dcf("reject", "r-1", "Refund", "--as", "finance", "--reason", "paid already", *seen).code
        == 0
    )
    ended = dcf("watch", "r-1", "--json").json
    assert ended["status"] == "succeeded"
    assert ended["output"]["refused"]["Error"] == "DCF.ApprovalRejected"
    assert "rejected by finance: paid already" in ended["output"]["refused"]["Cause"]


def test_the_question_survives_its_worker_and_a_restart_of_everything(
    dcf: Dcf, asked: dict[str, Any]
) -> None:
    for note in (dcf.home / "run").glob("worker-*.json"):
        pid = int(json.loads(note.read_text())["pid"])
        os.kill(pid, signal.SIGKILL)
    assert dcf("down").code == 0
    assert dcf("up").code == 0
    (still,) = pending(dcf)
    assert still == asked
    seen = ("--digest", asked["digest"], "--question", asked["question"])
    assert dcf("approve", "r-1", "Refund", "--as", "finance", *seen).code == 0
    assert dcf("down").code == 0
    assert dcf("up", "--workers", 1).code == 0
    ended = dcf("watch", "r-1", "--json")
    assert (ended.code, ended.json["status"]) == (0, "succeeded")
    told = dcf("history", "r-1", "--json").json["events"]
    decided = [event for event in told if event["type"] == "ApprovalDecided"]
    assert [(event["who"], event["decision"]) for event in decided] == [("finance", "approve")]
    assert decided[0]["via"] == "cli"


def test_a_run_in_the_foreground_says_how_to_approve(dcf: Dcf) -> None:
    file, given = dcf.write("refund.asl.json", REFUND), dcf.write("large.json", LARGE)
    child = dcf.start("run", file, "--input", given, "--id", "r-2")
    assert child.stdout is not None
    lines = []
    for line in child.stdout:
        lines.append(line)
        if "dcf approve" in line:
            break
    assert "Refund waits for finance to approve payments:refund_payment" in lines[-1]
    command = shlex.split(lines[-1][lines[-1].index("dcf approve") :])
    assert dcf(*command[1:]).code == 0
    assert child.wait(timeout=60) == 0


def test_small_refunds_ask_nobody(dcf: Dcf) -> None:
    dcf.write("refund.asl.json", REFUND)
    small = {**LARGE, "amount_cents": 50_000}
    done = dcf("run", "refund.asl.json", "--input", dcf.write("small.json", small), "--json")
    assert done.json["status"] == "succeeded", done.err
