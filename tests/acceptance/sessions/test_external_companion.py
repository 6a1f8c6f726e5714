"""A companion that is an MCP client: it knows the tools of its role, its session and its name."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mcp import Client
from support_desk import BOSS, Desk, good, open_session, until, use

EVA, CARL = "companion-eva", "companion-carl"
SESSION: dict[str, Any] = {"session_id": "outside-1"}


async def delegated(conductor: Client, text: str, **fields: Any) -> str:
    """The id of a new task."""
    answer = await good(
        conductor, "delegate_task", conductor_id=BOSS, task_description=text, **SESSION, **fields
    )
    return str(answer["task_id"])


async def received(companion: Client, token: str) -> dict[str, Any]:
    found = await good(
        companion,
        "receive_task",
        companion_id=EVA,
        companion_token=token,
        wait_s=20,
        **SESSION,
    )
    task: dict[str, Any] = found["task"]
    assert task is not None
    return task


@pytest.mark.timeout(120)
async def test_an_mcp_client_is_a_companion_beside_one_of_ours(desk: Desk) -> None:
    async with desk.client("conductor") as conductor, desk.client("companion") as companion:
        await open_session(conductor, "outside-1", {"carl": "parcels"})
        made = await good(
            conductor,
            "create_companion",
            conductor_id=BOSS,
            companion_name="eva",
            specialization="tickets",
            external=True,
            **SESSION,
        )
        token = made["companion_token"]
        # It is listening before there is anything to do.
        async with asyncio.TaskGroup() as group:
            listening = group.create_task(received(companion, token))
            triage = await delegated(
                conductor,
                "sort the ticket",
                specialization="tickets",
                required_skills_json=json.dumps(["support.triage_ticket"]),
                input_data_json=json.dumps({"ticket_id": "TCK-104"}),
            )
        task = listening.result()
        assert (task["task_id"], task["task"]["input"]) == (triage, {"ticket_id": "TCK-104"})
        assert await received(companion, token) == task
        # While it has its task, one of ours begins and ends another: two at once.
        delivery = await delegated(
            conductor,
            "where is the parcel",
            required_skills_json=json.dumps(["support.check_delivery"]),
            input_data_json=json.dumps({"order_id": "ORD-1004"}),
        )
        await until(
            conductor,
            "read_task_result",
            lambda answer: answer["status"] == "succeeded",
            task_id=delivery,
        )
        # It works as declared: with the skill of the task, and no tool besides.
        [skill] = task["skills"]
        agent_id = task["agent_id"]
        await good(companion, "load_skill", skill_json=skill, agent_id=agent_id)
        under = {name: task[name] for name in ("agent_id", "workflow_id", "state", "lease_token")}
        ticket = await good(
            companion,
            "call_skill_tool",
            tool="tickets:get_ticket",
            arguments_json=json.dumps({"ticket_id": "TCK-104"}),
            **under,
        )
        kept = await good(
            companion,
            "report_task_progress",
            companion_id=EVA,
            task_id=triage,
            lease_token=task["lease_token"],
            progress_pct=50,
            message="it is read",
        )
        assert kept["lease_seconds"] == task["lease_seconds"]
        sorted_ = await good(
            companion,
            "call_skill_tool",
            tool="classify_ticket",
            arguments_json=json.dumps(
                {name: ticket["data"][name] for name in ("ticket_id", "subject", "body")}
            ),
            **under,
        )
        assert sorted_["data"]["category"] == "legal"
        denied = await use(
            companion,
            "call_skill_tool",
            tool="payments:refund_payment",
            arguments_json="{}",
            **under,
        )
        assert "DCF.PermissionDenied" in denied["error"]
        report: dict[str, Any] = {
            "companion_id": EVA,
            "task_id": triage,
            "lease_token": task["lease_token"],
            "status": "succeeded",
            "summary": "it is a matter for lawyers",
        }
        output = json.dumps(sorted_["data"])
        ended = await good(companion, "report_task_result", output_data_json=output, **report)
        # The answer was lost: it reports once more, and nothing happens twice.
        again = await good(companion, "report_task_result", output_data_json=output, **report)
        assert again["task"] == ended["task"]
        otherwise = await use(companion, "report_task_result", output_data_json="{}", **report)
        assert otherwise["error"].startswith("reported_otherwise")
        await good(companion, "unload_skill", manifest_id=skill, agent_id=agent_id)
        result = await good(conductor, "read_task_result", task_id=triage)
        assert result["output"] == sorted_["data"]
        story = await good(conductor, "explain_task", task_id=triage, **SESSION)
        assert EVA in story["summary"]
        assert "it is read" in {one.get("message") for one in story["events"]}

        # What it has and does not do in time goes to nobody, and its report is refused.
        late = await delegated(
            conductor, "sort another", companion_id=EVA, timeout_seconds=1,
            required_skills_json=json.dumps(["support.triage_ticket"]),
        )  # fmt: skip
        task = await received(companion, token)
        assert task["task_id"] == late
        await until(
            conductor, "read_task_result", lambda answer: answer["status"] == "failed", task_id=late
        )
        refused = await use(
            companion,
            "report_task_result",
            companion_id=EVA,
            task_id=late,
            lease_token=task["lease_token"],
            status="succeeded",
            summary="here it is",
        )
        assert refused["error"].startswith("task_not_yours") and "deadline" in refused["error"]
        story = await good(conductor, "explain_task", task_id=late, **SESSION)
        assert "deadline_passed" in story["summary"] and EVA in story["summary"]

        # Taken over by one of ours while it works: the other one's result holds.
        moved = await delegated(
            conductor, "sort a third", companion_id=EVA,
            required_skills_json=json.dumps(["support.triage_ticket"]),
            input_data_json=json.dumps({"ticket_id": "TCK-102"}),
        )  # fmt: skip
        task = await received(companion, token)
        await good(
            conductor, "redelegate_task", task_id=moved, companion_id=CARL, reason="too slow"
        )
        refused = await use(
            companion,
            "call_skill_tool",
            tool="tickets:get_ticket",
            arguments_json=json.dumps({"ticket_id": "TCK-102"}),
            agent_id=agent_id,
            workflow_id=moved,
            state=task["state"],
            lease_token=task["lease_token"],
        )
        assert refused["error"] is not None
        done = await until(
            conductor,
            "read_task_result",
            lambda answer: answer["status"] == "succeeded",
            task_id=moved,
        )
        assert done["task"]["companion_id"] == CARL
        refused = await use(
            companion,
            "report_task_result",
            companion_id=EVA,
            task_id=moved,
            lease_token=task["lease_token"],
            status="succeeded",
            summary="mine",
        )
        assert refused["error"].startswith("task_not_yours")
        story = await good(conductor, "explain_task", task_id=moved, **SESSION)
        assert [one["companion_id"] for one in story["attempts"]] == [EVA, CARL]
        assert story["attempts"][0]["why"] == "too slow"
        assert (await good(conductor, "finalize_session", **SESSION))["state"] == "completed"
