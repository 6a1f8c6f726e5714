"""Bring your own agent: a plain MCP client works on a run, knowing only the tools."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mcp import Client
from mcp_site import Site

ORDER = {
    "order_id": "ORD-1001",
    "customer_id": "CUST-1001",
    "items": [{"sku": "DESK-OAK", "quantity": 2}],
    "currency": "EUR",
}


def agent_task(skill: str, **more: Any) -> dict[str, Any]:
    return {"Type": "Task", "AgentBinding": {"skills": [skill]}, **more}


SHOP = {
    "workflow_name": "shop",
    "workflow_id": "shop-1",
    "asl": {
        "StartAt": "Prepare",
        "States": {
            "Prepare": {
                "Type": "Parallel",
                "Branches": [
                    {
                        "StartAt": "Price",
                        "States": {
                            "Price": agent_task(
                                "orders.price_order@1.0.0",
                                Comment="Price the order with the customer's discount.",
                                End=True,
                            )
                        },
                    },
                    {
                        "StartAt": "Check",
                        "States": {"Check": agent_task("orders.validate_order@1.0.0", End=True)},
                    },
                ],
                "ResultPath": "$.prepared",
                "Next": "Tell",
            },
            "Tell": {"Type": "Pass", "Next": "Recheck"},
            "Recheck": agent_task("orders.validate_order@1.0.0", End=True),
        },
    },
}


class Agent:
    """A client that knows nothing but a URL."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def use(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = await self._client.call_tool(name, arguments)
        answer = result.structured_content
        assert isinstance(answer, dict)
        assert answer["error"] is None, answer
        return answer


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_plain_client_works_beside_our_workers(site: Site, mode: str) -> None:
    url = site.serve()
    me = "my-agent"
    async with Client(url, mode=mode) as client:
        agent = Agent(client)
        checked = await agent.use("validate_workflow", workflow_json=json.dumps(SHOP))
        assert checked["exit_code"] == 0
        created = await agent.use(
            "create_workflow_control_plane",
            workflow_json=json.dumps(SHOP),
            input_json=json.dumps(ORDER),
        )
        run = created["workflow_id"]
        # It looks for work: nobody else is there yet.
        found = await agent.use("notify_next_worker_agent", workflow_id=run)
        ready = [target["state"] for target in found["targets"]]
        assert ready == ["Prepare[0]/Price", "Prepare[1]/Check"]
        state = {"workflow_id": run, "state": ready[0]}
        taken = await agent.use("acquire_state_lease", **state, owner_agent_id=me)
        work, token = taken["work"], taken["lease"]["token"]
        # Our own workers come, and do the rest.
        site.worker()
        [skill] = work["skills"]
        assert work["instructions"].startswith("Price the order")
        await agent.use("load_skill", skill_json=skill, agent_id=me)
        under = {**state, "lease_token": token, "agent_id": me}
        price = await agent.use(
            "call_skill_tool",
            **under,
            tool="calculate_price",
            arguments_json=json.dumps(
                {"items": work["input"]["items"], "currency": work["input"]["currency"]}
            ),
        )
        await agent.use("renew_state_lease", **state, lease_token=token)
        total = await agent.use(
            "call_skill_tool",
            **under,
            tool="pricing:apply_discount",
            arguments_json=json.dumps(
                {"customer_id": "CUST-1001", "amount_cents": price["data"]["amount_cents"]}
            ),
        )
        denied = await client.call_tool(
            "call_skill_tool", {**under, "tool": "payments:charge", "arguments_json": "{}"}
        )
        assert denied.is_error
        assert "DCF.PermissionDenied" in str(denied.structured_content)
        # The server goes, and another one comes: nothing was kept in it.
    site.server.terminate()
    assert site.server.wait(15) == 0
    async with Client(site.serve(), mode=mode) as client:
        agent = Agent(client)
        output = {"ok": True, "data": total["data"], "summary": "priced"}
        done = await agent.use(
            "update_workflow_control_plane",
            **state,
            lease_token=token,
            new_status="done",
            output_json=json.dumps(output),
        )
        assert done["output_written"]
        await agent.use("unload_skill", manifest_id=f"skill.{skill}", agent_id=me)
        await _over(agent, run)
        history = (await agent.use("read_history", workflow_id=run))["events"]
        read = await agent.use("read_workflow_control_plane", workflow_id=run)
    owners = {
        event["path"]: event["owner"] for event in history if event["type"] == "LeaseAcquired"
    }
    assert owners["Prepare[0]/Price"] == me
    assert owners["Prepare[1]/Check"] != me
    decisions = [event for event in history if event["type"] == "ToolDecision"]
    mine = [(one["tool"], one["verdict"]) for one in decisions if one["path"] == ready[0]]
    assert mine == [
        ("pricing:calculate_price", "allow"),
        ("pricing:apply_discount", "allow"),
        ("payments:charge", "deny"),
    ]
    assert read["meta"]["status"] == "succeeded"
    assert read["outputs"]["Prepare"]["data"]["prepared"][0] == total["data"]


async def _over(agent: Agent, run: str) -> None:
    async with asyncio.timeout(40):
        while True:
            found = await agent.use("explain_workflow", workflow_id=run)
            if found["run_status"] not in ("running", "pending"):
                assert found["run_status"] == "succeeded", found
                return
            await asyncio.sleep(0.1)
