"""Customer support from the first word to the archive, by clients that have nothing but the tools
of their roles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support_desk import BOSS, Desk, good, open_session, rules, until, use

ANNA, BEN = "companion-anna", "companion-ben"
TRIAGE = "skill.support.triage_ticket@1.0.0"
DELIVERY = "skill.support.check_delivery@1.0.0"
CUSTOMER = "skill.support.know_customer@1.0.0"
ASKED = """\
Somebody wrote to us again:
1. Sort the ticket ticket_id=TCK-102
2. Find out where the parcel is order_id=ORD-1004
3. Find out who the customer is and what they bought customer_id=CUST-1003 after 1 and 2
"""


@pytest.mark.timeout(120)
async def test_a_support_session_from_its_beginning_to_the_graph(desk: Desk) -> None:
    session: dict[str, Any] = {"session_id": "support-1"}
    async with desk.client("conductor") as conductor, desk.client("strategist") as strategist:
        await open_session(
            conductor,
            "support-1",
            {"anna": "tickets", "ben": "parcels"},
            initial_context_json=json.dumps({"desk": "north", "preferences": {"language": "en"}}),
        )
        registered = await good(
            conductor,
            "register_strategist",
            conductor_agent_id=BOSS,
            strategist_agent_id="support-advisor",
        )
        assert registered["revision"] == 0

        # Three tasks: two at once, the third when both are done.
        said = {**session, "message": ASKED, "request_id": "first"}
        first = await good(conductor, "send_session_message", **said)
        assert [row["status"] for row in first["rows"]] == ["assigned", "assigned", "queued"]
        triage, delivery, customer = first["task_ids"]
        waiting = await good(conductor, "explain_task", task_id=customer, **session)
        assert triage in waiting["summary"] and delivery in waiting["summary"]
        told = await good(conductor, "send_session_message", **said, wait_s=60)
        assert [row["status"] for row in told["rows"]] == ["succeeded"] * 3
        assert told["text"].count("All 3 tasks are done.") == 1
        assert told["task_ids"][:3] == first["task_ids"] and told["open_tasks"] == []
        found = await good(conductor, "read_task_result", task_id=delivery, **session)
        parcel = found["output"]["track_shipment"]
        assert (parcel["shipment_status"], parcel["days_late"]) == ("lost", 12)
        tasks = (await good(conductor, "list_session_tasks", **session))["tasks"]
        assert [task["skills"] for task in tasks] == [[TRIAGE], [DELIVERY], [CUSTOMER]]
        assert {task["companion_id"] for task in tasks[:2]} == {ANNA, BEN}

        # Another turn, for somebody who is there.
        again = await good(
            conductor,
            "send_session_message",
            message="for parcels: Find out where the parcel is order_id=ORD-1010",
            request_id="second",
            wait_s=60,
            **session,
        )
        assert [(row["companion_id"], row["status"]) for row in again["rows"]] == [
            (BEN, "succeeded")
        ]
        assert "guidelines.companion_preferences" not in rules(again)
        there = await good(conductor, "list_session_companions", **session)
        assert {one["companion_id"] for one in there["companions"]} == {ANNA, BEN}

        # Anna has been idle longest: without advice it would be hers. It is advised otherwise.
        activity = await good(strategist, "read_session_activity", **session)
        assert activity["metrics"]["completed_tasks"] == 4
        assert activity["skill_metrics"][DELIVERY]["success_rate"] == 100.0
        analysed = await good(
            conductor,
            "trigger_strategist_analysis",
            conductor_agent_id=BOSS,
            trigger_reason="milestone",
            **session,
        )
        assert (analysed["status"], analysed["outcomes"]) == ("analysed", 4)
        # Four tasks say nothing that is sure.
        assert analysed["findings"] == []
        advised = await good(
            strategist,
            "update_conductor_guidelines",
            conductor_id=BOSS,
            companion_preferences_json=json.dumps({"support.check_delivery": "parcels"}),
            model_selection_json=json.dumps({"task_type_tiers": {"support.check_delivery": 2}}),
        )
        assert advised["revision"] == registered["revision"] + 1
        guided = await good(
            conductor,
            "send_session_message",
            message="Find out where the parcel is order_id=ORD-1003",
            request_id="third",
            wait_s=60,
            **session,
        )
        [row] = guided["rows"]
        assert (row["companion_id"], row["status"]) == (BEN, "succeeded")
        fired = rules(guided)["guidelines.companion_preferences"]
        assert fired["revision"] == advised["revision"]
        assert "parcels" in fired["did"] and "support.check_delivery" in fired["why"]
        assert rules(guided)["guidelines.model_selection"]["did"] == "tier 2"
        delegations = (await good(strategist, "read_session_activity", **session))["delegations"]
        tiers = [
            one["model_selection"]["tier"]
            for one in delegations
            if one["task_type"] == "support.check_delivery"
        ]
        assert tiers[-1] == 2 and 2 not in tiers[:-1]

        # The end.
        ended = await good(conductor, "finalize_session", **session)
        assert (ended["status"], ended["state"]) == ("finalized", "completed")
        assert sorted(ended["companions_dismissed"]) == [ANNA, BEN]
        late = await use(conductor, "send_session_message", message="one more", **session)
        assert late["error"].startswith("session_not_open")
        archived = await good(conductor, "archive_session", **session)
    check_archive(Path(archived["path"]), (triage, delivery, customer))
    check_graph(desk, [triage, delivery, customer, *again["task_ids"], *guided["task_ids"]])
    explained = desk("explain", "support-1", "--json").json
    assert explained["session_state"] == "completed"
    assert ANNA in desk("explain", triage).out


def check_archive(folder: Path, first: tuple[str, str, str]) -> None:
    """All files, each with all tasks; two of the first three were in work at the same moment."""
    assert {one.name for one in folder.iterdir() if one.is_file()} >= {
        "session.json", "tasks.json", "delegations.json", "results.json", "transcript.md"
    }  # fmt: skip
    tasks = {one["task_id"]: one for one in json.loads((folder / "tasks.json").read_text())}
    assert len(tasks) == 5 and {one["status"] for one in tasks.values()} == {"succeeded"}
    one, other, after = (tasks[task_id] for task_id in first)
    assert one["started_at"] < other["finished_at"] and other["started_at"] < one["finished_at"]
    assert after["started_at"] >= max(one["finished_at"], other["finished_at"])
    session = json.loads((folder / "session.json").read_text())
    assert session["state"] == "completed"
    results = json.loads((folder / "results.json").read_text())
    assert tasks.keys() <= {task_id for task_id in tasks if task_id in json.dumps(results)}
    transcript = (folder / "transcript.md").read_text()
    assert "Somebody wrote to us again" in transcript and "All 3 tasks are done." in transcript


def check_graph(desk: Desk, task_ids: list[str]) -> None:
    """The graph knows the session, and who did what in it."""
    done = desk("graph", "sync", "--json")
    assert done.code == 0, done.err
    asked = desk("graph", "ask", "what happened in session support-1?", "--json").json
    assert asked["understood"] == "session"
    result = asked["result"]
    assert (result["session"]["state"], result["session"]["conductor_id"]) == ("completed", BOSS)
    assert result["session"]["tasks"]["succeeded"] == len(task_ids) == result["ok"]
    assert {one["task_id"] for one in result["delegations"]} == set(task_ids)
    counted = desk("graph", "delegations", "--by", "companion", "--session", "support-1", "--json")
    by = {one["companion"]: one["n"] for one in counted.json["delegations"]}
    # Other sessions may have companions of their names.
    assert by.keys() == {f"support-1.{ANNA}", f"support-1.{BEN}"} and sum(by.values()) == len(
        task_ids
    )


@pytest.mark.timeout(120)
async def test_a_workflow_of_a_session_fails_and_is_talked_about(desk: Desk) -> None:
    flow = {
        "StartAt": "Read",
        "States": {
            "Read": {
                "Type": "Task",
                "AgentBinding": {"skills": ["support.triage_ticket@1.0.0"]},
                "End": True,
            }
        },
    }
    folder = desk.folder / "workflows"
    folder.mkdir()
    (folder / "sort.json").write_text(json.dumps({"workflow_name": "sort", "asl": flow}))
    desk.worker()
    session: dict[str, Any] = {"session_id": "support-2"}
    async with desk.client("conductor") as conductor:
        await open_session(conductor, "support-2", {"carl": "tickets"})
        asked = await good(
            conductor,
            "send_session_message",
            message="Sort it workflow:sort ticket_id=TCK-404",
            request_id="q",
            # Who is asked has an answer at once: it is longer than this test may last.
            wait_s=600,
            **session,
        )
        [question] = asked["questions"]
        assert "TicketNotFound" in question
        [failed] = asked["task_ids"]
        story = await good(conductor, "explain_task", task_id=failed, **session)
        assert story["run"]["status"] == "failed" and "TicketNotFound" in story["summary"]
        assert desk("explain", failed, "--json").json["session_id"] == "support-2"
        # What was wrong is said, and it goes out again.
        mended = await good(
            conductor,
            "send_session_message",
            message="retry: ticket_id=TCK-103",
            request_id="q2",
            **session,
        )
        assert mended["error"] is None
        told = await until(
            conductor,
            "list_session_tasks",
            lambda answer: not [one for one in answer["tasks"] if one.get("why")],
            **session,
        )
        assert [(one["kind"], one["status"]) for one in told["tasks"]] == [
            ("workflow", "failed"), ("workflow", "succeeded")
        ]  # fmt: skip
        last = await good(
            conductor, "send_session_message", message="", request_id="q", wait_s=30, **session
        )
        assert "is done" in last["text"]
        result = await good(conductor, "read_task_result", task_id=told["tasks"][1]["task_id"])
        assert result["output"]["classify_ticket"]["category"] == "account"
        await good(conductor, "finalize_session", **session)
