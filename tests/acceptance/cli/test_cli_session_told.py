"""What people see of a session: numbers, who was told what, and what is left over."""

from __future__ import annotations

import json
from typing import Any

from commands import python
from dcf_user import Dcf, until
from terminal import Terminal

PARCEL = "skill:support.check_delivery where is the parcel? order_id=ORD-1004"
BROKEN = "skill:support.check_delivery where is the parcel?"
LARGE = {"order_id": "ORD-1", "ticket_id": "TCK-1", "amount_cents": 90_000, "currency": "EUR"}
CHAT = ("-m", "dcf.cli", "session", "chat", "desk-1")


def start(dcf: Dcf, *more: object) -> None:
    assert dcf("session", "start", "desk-1", "--objective", "Help", *more).code == 0


def test_the_numbers_of_the_conductor_are_those_of_every_command(dcf: Dcf) -> None:
    start(dcf, "--companions", 1)
    said = dcf("session", "say", "desk-1", f"1. {PARCEL}\n2. {PARCEL} after 1", "--json")
    first, second = said.json["reply"]["task_ids"]
    listed = dcf("session", "tasks", "desk-1", "--json").json["tasks"]
    assert [(one["number"], one["task_id"]) for one in listed] == [(1, first), (2, second)]
    # Nobody is there to work.
    assert "`dcf up --companions 1`" in dcf("session", "tasks", "desk-1").out
    assert "`dcf up --companions 1`" in dcf("session", "say", "desk-1", "status").out

    shown = dcf("session", "task", "desk-1", 2, "--json").json
    assert (shown["task_id"], shown["number"]) == (second, 2)
    later = dcf("session", "delegate", "desk-1", "later", "--after", 2, "--id", "later", "--json")
    assert later.json["waits"] == f"it waits for {second}"
    cancelled = dcf("session", "cancel", "desk-1", 2, "--json").json
    assert (cancelled["task_id"], cancelled["task_status"]) == (second, "cancelled")
    unknown = dcf("session", "task", "desk-1", 99)
    assert (unknown.code, "There is no task 99" in unknown.err) == (2, True)


def test_an_answer_reaches_who_asked_though_a_chat_was_told_first(dcf: Dcf) -> None:
    start(dcf, "--companions", 1)
    with Terminal((python(), *CHAT), cwd=dcf.folder, env=dcf.env) as user:
        user.until("desk-1 active: 1 companion")
        # The chat serves the companion, and looks for what came of tasks several times a second.
        asked = ("session", "say", "desk-1", PARCEL, "--request", "mine", "--json")
        assert dcf(*asked).code == 0
        user.until("somebody else:")
        user.until("is done")
        again = dcf(*asked, "--wait")
        assert again.code == 0, again.err
        [last] = again.json["answers"]
        assert (last["is_last"], last["rows"][0]["status"]) == (True, "succeeded")
        for _ in range(3):
            waited = dcf("session", "say", "desk-1", PARCEL, "--wait", "--json")
            assert waited.code == 0, waited.err
            assert [one["is_last"] for one in waited.json["answers"]] == [True]
        user.type("\x04")
        user.until("goes on")
        assert user.end() == 0


def test_waiting_fails_when_what_was_asked_for_did(dcf: Dcf) -> None:
    start(dcf, "--companions", 1)
    done = dcf("session", "say", "desk-1", BROKEN, "--wait", "--json")
    assert done.code == 1
    said = done.json
    assert said["failed"] or said["questions"]
    assert said["error"]["code"] in ("task_failed", "asked_back")


def test_what_was_paused_is_done_when_the_session_is_finalized(dcf: Dcf) -> None:
    start(dcf, "--companions", 1)
    paused = dcf("session", "pause", "desk-1")
    assert "finalize" in paused.out
    given = ("--skill", "support.check_delivery", "--input", '{"order_id": "ORD-1004"}')
    assert dcf("session", "delegate", "desk-1", "parcel?", "--id", "parcel", *given).code == 0
    ended = dcf("session", "finalize", "desk-1")
    assert (ended.code, "was paused" in ended.out) == (0, True), ended.err
    task = dcf("session", "task", "desk-1", "parcel", "--json").json
    assert task["status"] == "succeeded"


def test_only_what_is_open_is_watched_and_the_archive_leaves_no_lock(dcf: Dcf) -> None:
    start(dcf, "--companions", 1)
    given = ("--skill", "support.check_delivery", "--input", '{"order_id": "ORD-1004"}', "--wait")
    assert dcf("session", "delegate", "desk-1", "the first", "--id", "first", *given).code == 0
    second = dcf("session", "delegate", "desk-1", "the second", "--id", "second", *given)
    assert second.code == 0
    assert "the first" not in second.out and "the second" in second.out
    watched = dcf("session", "watch", "desk-1", "--idle")
    assert "the first" not in watched.out
    assert dcf("session", "archive", "desk-1").code == 0
    assert [path.name for path in (dcf.folder / "sessions").iterdir()] == ["desk-1"]


def test_the_token_of_a_companion_from_outside_is_told_once(dcf: Dcf) -> None:
    start(dcf)
    hired = dcf("session", "hire", "desk-1", "--external", "--name", "mine", "--json")
    token = hired.json["companion_token"]
    assert len(token) >= 16
    for words in (("companions",), ("archive",)):
        assert token not in dcf("session", *words, "desk-1", "--json").out
    history = (dcf.folder / "sessions" / "desk-1" / "history.jsonl").read_text()
    assert token not in history and "companion-mine" in history
    inside = dcf("session", "hire", "desk-1", "--json").json
    assert "companion_token" not in inside


def test_what_waits_for_a_person_says_so_with_the_command(dcf: Dcf) -> None:
    """A companion's task, and a workflow's."""
    start(dcf, "--companions", 1)
    skill = "support.refund_order@1.0.0"
    workflow = dcf.write("refund.json", refunding(skill))
    given = ("--input", json.dumps(LARGE))
    for words in (("--skill", skill, "--id", "one"), ("--workflow", workflow, "--id", "two")):
        assert dcf("session", "delegate", "desk-1", "refund it", *given, *words).code == 0
    assert dcf("up", "--workers", 1, "--companions", 1).code == 0

    def waiting() -> bool:
        rows = dcf("session", "tasks", "desk-1", "--json").json["tasks"]
        return [row["waits"] for row in rows] == ["waits for approval: `dcf approvals`"] * 2

    until(waiting, "both wait for a person")
    explained = dcf("explain", "desk-1")
    assert explained.out.count("dcf approvals") == 2
    assert {one["workflow_id"] for one in dcf("approvals", "--json").json["approvals"]} == {
        "one", "two",
    }  # fmt: skip
    assert dcf("session", "finalize", "desk-1", "--cancel").code == 0


def refunding(skill: str) -> dict[str, Any]:
    binding = {"agent_template_ref": {"name": "cashier"}, "skills": [skill]}
    state = {"Type": "Task", "AgentBinding": binding, "End": True}
    return {"StartAt": "Refund", "States": {"Refund": state}}
