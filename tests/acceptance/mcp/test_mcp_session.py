"""A customer-support session over MCP alone: the conductor, its Strategist and two companions are
clients that know nothing but a URL."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from mcp import Client
from mcp_site import Site

ME = "support-lead"
SKILL = "orders.validate_order@1.0.0"
TOOL = "validate_order"
ORDER = {
    "order_id": "ORD-1001",
    "customer_id": "CUST-1001",
    "items": [{"sku": "DESK-OAK", "quantity": 2}],
}


class One:
    """A client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def ask(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = await self._client.call_tool(name, arguments)
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    async def use(self, name: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.ask(name, **arguments)
        assert answer["error"] is None, answer
        return answer


async def serve(companion: One, companion_id: str, token: str, *, fails: bool = False) -> str:
    """Do one task as a companion: its skill is loaded, used under the lease and unloaded."""
    taken = await companion.use(
        "receive_task",
        session_id="help-1",
        companion_id=companion_id,
        companion_token=token,
        wait_s=30,
    )
    task = taken["task"]
    assert task is not None
    under = {key: task[key] for key in ("workflow_id", "state", "lease_token")}
    report = {
        "companion_id": companion_id,
        "task_id": task["task_id"],
        "lease_token": task["lease_token"],
    }
    for skill in task["skills"]:
        await companion.use("load_skill", skill_json=skill, agent_id=task["agent_id"])
    data: Any = None
    if task["skills"]:
        called = await companion.use(
            "call_skill_tool",
            **under,
            agent_id=task["agent_id"],
            tool=TOOL,
            arguments_json=json.dumps(task["task"]["input"]),
        )
        data = called["data"]
    await companion.use("report_task_progress", **report, progress_pct=50, message="half of it")
    for skill in task["skills"]:
        await companion.use("unload_skill", manifest_id=skill, agent_id=task["agent_id"])
    said = {"status": "succeeded", "summary": "checked", "output_data_json": json.dumps(data)}
    if fails:
        said = {"status": "failed", "summary": "no", "error_code": "carrier_down"}
    ended = await companion.use("report_task_result", **report, **said)
    assert not ended.get("warnings"), ended
    return str(task["task_id"])


async def test_a_support_session_over_mcp_alone(site: Site) -> None:
    url = site.serve()
    async with AsyncExitStack() as stack:

        async def client(role: str) -> One:
            return One(await stack.enter_async_context(Client(f"{url}/{role}")))

        lead, first, second = (
            await client("conductor"),
            await client("companion"),
            await client("companion"),
        )
        strategist = await client("strategist")
        whose = {"session_id": "help-1", "conductor_id": ME}
        await lead.use("create_session_context", **whose, objective="Where is my desk?")
        await lead.use(
            "register_strategist", conductor_agent_id=ME, strategist_agent_id="strategist-1"
        )
        names = ["companion-ada", "companion-bob"]
        tokens = {}
        for name, one in zip(names, (first, second), strict=True):
            made = await lead.use("create_companion", **whose, companion_name=name, external=True)
            tokens[name] = token = made["companion_token"]
            here = {"session_id": "help-1", "companion_id": name, "companion_token": token}
            await one.use("receive_task", **here)
        order = {
            "task_description": "Check the order.",
            "required_skills_json": json.dumps([SKILL]),
            "input_data_json": json.dumps(ORDER),
        }
        one = await lead.use("delegate_task", **whose, **order, task_id="t1")
        two = await lead.use("delegate_task", **whose, **order, task_id="t2")
        # Both are under way at once, with different companions.
        assert {one["companion_id"], two["companion_id"]} == set(names)
        three = await lead.use(
            "delegate_task", **whose, task_description="Answer.", after_json='["t1", "t2"]'
        )
        assert three["message_sent"] is False
        by_name = {
            name: asyncio.create_task(serve(client_, name, tokens[name]))
            for name, client_ in zip(names, (first, second), strict=True)
        }
        assert {await by_name[name] for name in names} == {"t1", "t2"}
        answering = (await lead.use("list_session_tasks", session_id="help-1", status="open"))[
            "tasks"
        ][0]["companion_id"]
        client_of = dict(zip(names, (first, second), strict=True))
        assert await serve(client_of[answering], answering, tokens[answering]) == three["task_id"]
        whole = await lead.use("read_task_result", task_id="t1")
        assert whole["output"] is not None
        # A follow-up turn reuses a companion.
        again = await lead.use("delegate_task", **whose, **order, task_id="t4")
        assert again["companion_id"] in names
        who = again["companion_id"]
        await serve(client_of[who], who, tokens[who], fails=True)
        story = await lead.use("explain_task", task_id="t4")
        assert "carrier_down" in story["summary"]
        # The session is analysed, and advice changes the next delegation.
        analysed = await strategist.use(
            "trigger_strategist_analysis",
            session_id="help-1",
            conductor_agent_id=ME,
            trigger_reason="on_demand",
        )
        assert analysed["error"] is None
        seen = await strategist.use("read_session_activity", session_id="help-1")
        assert seen["metrics"]["failed_tasks"] == 1
        await strategist.use(
            "update_conductor_guidelines",
            conductor_id=ME,
            recommendation="Tell the person when a carrier is down.",
        )
        ended = await lead.use("finalize_session", session_id="help-1")
        assert (ended["state"], sorted(ended["companions_dismissed"])) == ("completed", names)
        done = {one["companion_id"]: one["tasks_completed"] for one in ended["wisdom_preserved"]}
        assert sum(done.values()) == 3
        archived = await lead.use("archive_session", session_id="help-1")
    place = Path(archived["path"])
    assert place == site.folder / "sessions" / "help-1"
    results = json.loads((place / "results.json").read_text())
    assert [one["status"] for one in results] == ["succeeded", "succeeded", "succeeded", "failed"]


async def test_the_conductor_is_talked_to_over_mcp(site: Site) -> None:
    url = site.serve()
    async with Client(f"{url}/conductor") as of_lead, Client(f"{url}/companion") as of_ada:
        lead, ada = One(of_lead), One(of_ada)
        whose = {"session_id": "help-1", "conductor_id": ME}
        await lead.use("create_session_context", **whose, objective="Where is my desk?")
        made = await lead.use("create_companion", **whose, companion_name="ada", external=True)
        token = made["companion_token"]
        here = {"session_id": "help-1", "companion_id": "companion-ada", "companion_token": token}
        await ada.use("receive_task", **here)
        said = {"session_id": "help-1", "request_id": "r1"}
        text = f"validate the order skill:{SKILL} order_id=ORD-1001"
        asked = await lead.use("send_session_message", **said, message=text)
        again = await lead.use("send_session_message", **said, message=text)
        assert again["task_ids"] == asked["task_ids"] != []
        assert asked["fired"]
        waiting = asyncio.create_task(
            lead.use("send_session_message", **said, message=text, wait_s=30)
        )
        done = await serve_plainly(ada, "companion-ada", token)
        answered = await waiting
        assert answered["open_tasks"] == []
        assert [row["status"] for row in answered["rows"] if row["task_id"] == done] == [
            "succeeded"
        ]
        assert "found it" in answered["text"]
        # Advice changes the next delegation, and that it did is said.
        await lead.use("register_strategist", conductor_agent_id=ME, strategist_agent_id="sage")
        await advise(url, default_tier=2)
        follow_up = await lead.use(
            "send_session_message",
            session_id="help-1",
            message=f"validate the next one skill:{SKILL} order_id=ORD-1002",
        )
        [advised] = [one for one in follow_up["fired"] if one["rule"].startswith("guidelines.")]
        assert (advised["rule"], advised["did"]) == ("guidelines.model_selection", "tier 2")
        assert advised["revision"] >= 1
        task_id = await serve_plainly(ada, "companion-ada", token)
        assert follow_up["task_ids"] == [task_id]
        status = await lead.use("send_session_message", session_id="help-1", message="status")
        assert {row["status"] for row in status["rows"]} == {"succeeded"}


async def advise(url: str, **models: Any) -> None:
    """A Strategist changes the guidelines."""
    async with Client(f"{url}/strategist") as client:
        said = {"conductor_id": ME, "model_selection_json": json.dumps(models)}
        await One(client).use("update_conductor_guidelines", **said)


async def serve_plainly(companion: One, companion_id: str, token: str) -> str:
    """Report a task as done that nothing was done for."""
    taken = await companion.use(
        "receive_task",
        session_id="help-1",
        companion_id=companion_id,
        companion_token=token,
        wait_s=30,
    )
    task = taken["task"]
    await companion.use(
        "report_task_result",
        companion_id=companion_id,
        task_id=task["task_id"],
        lease_token=task["lease_token"],
        status="succeeded",
        summary="found it",
    )
    return str(task["task_id"])
