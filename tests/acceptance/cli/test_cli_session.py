"""A session of a support desk, at the command line, from its start to what the graph knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dcf_user import ROOT, Dcf, until

REQUEST = """1. where is the parcel? skill:support.check_delivery order_id=ORD-1004
2. what does the ticket say? skill:support.triage_ticket ticket_id=TCK-102
3. who wrote it? after 2 skill:support.know_customer customer_id=C-2002
"""
ANSWER = (
    "answer it skill:support.answer_ticket ticket_id=TCK-102 category=delivery customer_name=Ada"
)
AGAIN = "and the other parcel? skill:support.check_delivery order_id=ORD-1001"


def served(dcf: Dcf, session_id: str) -> list[str]:
    """The companions that somebody serves."""
    listed = dcf("session", "companions", session_id, "--json").json["companions"]
    return [one["companion_id"] for one in listed if one["served"]]


def tasks(dcf: Dcf, session_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = dcf("session", "tasks", session_id, "--all", "--json").json[
        "tasks"
    ]
    return found


def say(dcf: Dcf, session_id: str, text: str) -> dict[str, Any]:
    done = dcf("session", "say", session_id, text, "--wait", "--json")
    assert done.code == 0, done.err
    return done.json


@pytest.mark.timeout(240)
def test_a_session_from_its_start_to_what_the_graph_knows(dcf: Dcf) -> None:
    assert dcf("up", "--companions", 1).code == 0
    started = dcf(
        *("session", "start", "desk-1", "--objective", "Help customer C-2002"),
        *("--companions", 2, "--share", "desk=support", "--json"),
    )
    assert started.code == 0, started.err
    staff = started.json["companions"]
    assert len(staff) == 2
    until(lambda: len(served(dcf, "desk-1")) == 2, "both companions are served")

    # Three tasks, of which two go out at once and one waits for another.
    first = say(dcf, "desk-1", REQUEST)
    assert len(first["reply"]["task_ids"]) == 3
    assert first["answers"][-1]["is_last"]
    rows = first["answers"][-1]["rows"]
    assert [row["status"] for row in rows] == ["succeeded"] * 3
    assert {rows[0]["companion_id"], rows[1]["companion_id"]} == set(staff)

    # A turn that follows has one of the same companions.
    second = say(dcf, "desk-1", ANSWER)
    assert second["answers"][-1]["rows"][0]["companion_id"] in staff

    # After four tasks the session was analysed; what is advised changes the next delegation.
    told = dcf("session", "guidelines", "desk-1", "--json").json
    assert told["analysed_tasks"] == 4
    advised = dcf(
        *("session", "advise", "desk-1", "--companion", "support.check_delivery=logistics"),
        *("--recommend", "Parcels first", "--json"),
    )
    assert advised.code == 0, advised.err
    assert advised.json["revision"] == told["revision"] + 1
    third = say(dcf, "desk-1", AGAIN)
    by = third["answers"][-1]["rows"][0]["companion_id"]
    assert by not in staff and by.startswith("companion-logistics-")

    assert [task["status"] for task in tasks(dcf, "desk-1")] == ["succeeded"] * 5
    task_id = first["reply"]["task_ids"][0]
    whole = dcf("session", "task", "desk-1", task_id, "--json").json
    assert whole["result"]["data"]["track_shipment"]["shipment_status"] == "lost"
    explained = dcf("explain", task_id, "--json").json
    assert (explained["session_id"], explained["task_status"]) == ("desk-1", "succeeded")

    ended = dcf("session", "finalize", "desk-1", "--json")
    assert (ended.code, ended.json["state"]) == (0, "completed")
    archived = dcf("session", "archive", "desk-1", "--json").json
    _archive_tells_all(dcf.folder / "sessions" / "desk-1", archived, task_id)
    _graph_knows(dcf)


def _archive_tells_all(folder: Path, archived: dict[str, Any], task_id: str) -> None:
    assert {"session.json", "tasks.json", "delegations.json", "results.json", "transcript.md"} <= (
        set(archived["files"])
    )
    assert json.loads((folder / "session.json").read_text())["counts"]["succeeded"] == 5
    lines = (folder / "history.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    kinds = [event["type"] for event in events]
    # Two were given away before the first was done: they were worked on at the same time.
    assert kinds[: kinds.index("TaskSettled")].count("TaskAssigned") == 2
    assert task_id in (folder / "results.json").read_text()


def _graph_knows(dcf: Dcf) -> None:
    known = dcf("graph", "session", "desk-1", "--json")
    assert known.code == 0, known.err
    counted = dcf("graph", "delegations", "--by", "specialization", "--json")
    assert counted.code == 0, counted.err
    assert "logistics" in counted.out and "generalist" in counted.out


def test_what_makes_work_happen_serves_companions_itself(dcf: Dcf) -> None:
    """Nothing is in the background but Redis: a host, a worker and the stub come with the wait."""
    assert dcf("session", "start", "own", "--objective", "Try it", "--companions", 1).code == 0
    given = ("--input", '{"order_id": "ORD-1004"}', "--wait", "--json")
    done = dcf("session", "delegate", "own", "parcel?", "--skill", "support.check_delivery", *given)
    assert done.code == 0, done.err
    assert done.json["result"]["data"]["track_shipment"]["days_late"] == 12

    workflow = dcf.write(
        "hello.json", {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}
    )
    ran = dcf("session", "delegate", "own", "greet", "--workflow", workflow, "--wait", "--json")
    assert (ran.code, ran.json["task_status"]) == (0, "succeeded"), ran.err

    failed = dcf(
        "session", "delegate", "own", "parcel?", "--skill", "support.check_delivery", "--wait"
    )
    assert failed.code == 1
    assert "rehearsal found no value for 'order_id'" in failed.err

    # They are gone with the command: the next task waits, and everything says why.
    assert dcf("session", "delegate", "own", "later", "--id", "later-1").code == 0
    until(lambda: not served(dcf, "own"), "nobody serves the companion")
    waits = dcf("explain", "later-1")
    assert "nobody serves companion-generalist-" in waits.out
    session = dcf("explain", "own")
    assert "`dcf up --companions 1` serves companions" in session.out
    assert dcf("open", "dcf://session/own", "--json").json["session_id"] == "own"
    health = {part["name"]: part for part in dcf("health", "--json").json["parts"]}
    assert health["companions"]["status"] == "not running"
    assert "1 session goes on" in health["sessions"]["found"]

    told = dcf("memory", "context", "--for", "session", "own", "--json").json
    [failure] = told["items"]
    assert (told["for"], told["workflows"]) == ("The conductor of own", ["task:"])
    assert "support.check_delivery: generalist failed" in failure["row"]
    for unknown in (
        ("open", "dcf://session/owm"),
        ("memory", "context", "--for", "session", "owm"),
    ):
        assert "did you mean own?" in dcf(*unknown).err

    cancelled = dcf("session", "cancel", "own", "later-1", "--reason", "enough", "--json")
    assert cancelled.json["task_status"] == "cancelled"
    assert dcf("session", "watch", "own", "--idle").code == 0


def test_a_task_that_never_ran_is_explained_when_its_session_is_over(dcf: Dcf) -> None:
    assert dcf("session", "start", "brief", "--objective", "Try it").code == 0
    assert dcf("session", "delegate", "brief", "something", "--id", "never-1").code == 0
    assert dcf("session", "finalize", "brief", "--cancel").code == 0
    found = dcf("explain", "never-1", "--json").json
    assert (found["session_id"], found["status"]) == ("brief", "cancelled")
    assert found["run"] is None


def test_a_workflow_is_delegated_and_its_end_seen_in_the_session(dcf: Dcf) -> None:
    assert dcf("session", "start", "shop", "--objective", "Sell").code == 0
    order = ROOT / "workflows" / "order-processing.json"
    given = ROOT / "workflows" / "inputs" / "order-normal.json"
    done = dcf(
        *("session", "delegate", "shop", "carry out the order", "--workflow", order),
        *("--input", given, "--id", "order-1", "--wait", "--json"),
    )
    assert (done.code, done.json["task_status"]) == (0, "succeeded"), done.err
    assert dcf("explain", "order-1", "--json").json["session_id"] == "shop"
    assert tasks(dcf, "shop")[0]["kind"] == "workflow"
