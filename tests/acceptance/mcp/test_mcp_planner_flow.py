"""A client that has nothing but the tools plans, has it approved, runs, finalizes and reflects."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_site import Site

ROOT = Path(__file__).parents[3]
SECRET = "of-those-who-may-approve-0123456789abcdef"
OBJECTIVE = "check a bill from a vendor and pay it"


async def use(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    answer = result.structured_content
    assert isinstance(answer, dict)
    return answer


async def good(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    answer = await use(client, tool, **arguments)
    assert answer["error"] is None, answer
    return answer


@pytest.mark.timeout(120)
async def test_from_discovery_to_reflection_over_mcp_only(site: Site) -> None:
    shutil.copytree(ROOT / "workflows" / "sops", site.folder / "workflows" / "sops")
    site.env |= {"DCF_APPROVAL_TOKEN": SECRET}
    async with Client(site.serve("--role", "planner")) as client:
        # Discovery.
        found = await good(client, "get_skillset", query="pay an invoice", limit=3)
        assert found["available_skills"]
        refused = await use(client, "plan_start", objective="organise a chess tournament")
        assert refused["error"].startswith("no_match") and refused["nearest"]
        # A draft of the client's own, with mistakes; and a stored procedure.
        wrong = await use(client, "check_sop", sop="# Pay\n\n## Steps\n\n1. Pay. Go to step 7.\n")
        assert wrong["error"].startswith("invalid_sop") and wrong["problems"][0]["line"]
        planning = await good(client, "plan_start", objective=OBJECTIVE)
        assert planning["status"] == "asking" and planning["source"]["kind"] == "procedure"
        id_ = planning["planning_id"]
        shown = await good(
            client,
            "plan_answer",
            planning_id=id_,
            answers_json=json.dumps({"invoice_id": "INV-2001"}),
        )
        assert shown["status"] == "shown" and shown["picture"].startswith("flowchart")
        assert shown["permissions"]["secrets"] == ["BANK_API_KEY"]
        checked = await good(
            client, "validate_workflow", workflow_json=json.dumps(shown["workflow"])
        )
        assert checked["exit_code"] == 0
        told = await good(client, "decompile_workflow", workflow_json=json.dumps(shown["workflow"]))
        assert (await good(client, "compile_sop", sop=told["sop"]))["status"] == "valid"
        # Nobody decides without the secret, and nothing runs before that.
        for token in ({}, {"approval_token": "a guess"}):
            denied = await use(
                client, "plan_approve", planning_id=id_, digest=shown["digest"], **token
            )
            assert denied["error"].startswith("approval_forbidden")
        early = await use(client, "plan_run", planning_id=id_)
        assert early["error"].startswith("planning_status")
        secret = {"approval_token": SECRET}
        other = await use(client, "plan_approve", planning_id=id_, digest="sha256:0", **secret)
        assert other["error"].startswith("plan_shown_otherwise")
        approved = await good(
            client, "plan_approve", planning_id=id_, digest=shown["digest"], **secret
        )
        assert approved["status"] == "approved"
        kept = site.folder / "workflows" / "generated" / f"wf-{id_}.json"
        assert json.loads(kept.read_text()) == shown["workflow"]
        # The run, by a worker of ours.
        running = await good(client, "plan_run", planning_id=id_)
        run = running["run"]["workflow_id"]
        assert (await good(client, "plan_run", planning_id=id_))["run"]["workflow_id"] == run
        site.worker()
        async with asyncio.timeout(60):
            while True:
                read = await good(client, "read_workflow_control_plane", workflow_id=run)
                if read["meta"]["status"] not in ("pending", "running"):
                    break
                await asyncio.sleep(0.1)
        assert read["meta"]["status"] == "succeeded"
        sealed = await good(client, "finalize_workflow", workflow_id=run)
        trail = Path(sealed["audit_trail_path"])
        assert (trail / "summary.json").is_file()
        ended = await good(client, "plan_show", planning_id=id_)
        assert ended["status"] == "ended"
        assert ended["run"]["output"]["transfer_id"] == "TRF-PAYEE-310"
        assert Path(ended["run"]["audit_trail_path"]).resolve() == trail.resolve()
        done = [step["step"] for step in ended["steps"] if step["done"]]
        assert done == list(range(1, 14))
        # What ran with skills, as the control plane has it.
        ran = [
            name
            for name, state in shown["workflow"]["asl"]["States"].items()
            if state.get("AgentBinding", {}).get("skills")
            and read["states"][name]["status"] == "done"
        ]
        rows = (await good(client, "list_plans"))["plannings"]
        assert {row["planning_id"]: row["status"] for row in rows}[id_] == "ended"
    # Reflection: the client makes both agents, and asks for it. Agents go by their names.
    both = {"planner_agent_id": "planner", "reflector_agent_id": "reflector"}
    async with Client(site.serve()) as client:
        for name in ("planner", "reflector"):
            await good(client, "create_agent", agent_name=name, template=name)
        registered = await good(client, "register_reflector", **both)
        sent = await good(client, "trigger_reflection", workflow_id=run, planner_agent_id="planner")
        assert (sent["status"], sent["message_sent"]) == ("reflected", True)
        assert sent["reflector_agent_id"] == registered["reflector_agent_id"]
        assert sent["event"]["final_status"] == "succeeded"
        # Every Task of the run was read from the graph; one run is an anecdote and no guideline.
        assert sent["outcomes"] == len(ran)
        assert not [one for one in sent["insights"] if one["published"]]
        ended = await good(client, "plan_show", planning_id=id_)
        assert [step["step"] for step in ended["steps"] if step["done"]] == list(range(1, 15))
        assert ended["next"] == "tell the person"
        warning = {"warning": "invoices of PAYEE-310 come twice", "severity": "medium",
                   "workaround": "compare the numbers"}  # fmt: skip
        written = await good(
            client,
            "update_reflector_guidelines",
            planner_agent_id="planner",
            add_warning=json.dumps(warning),
        )
        assert written["status"] == "updated"
        assert written["guidelines"]["guidelines"]["warnings"][0]["warning"] == warning["warning"]
        blocks = (await good(client, "read_shared_memory_blocks", **both))["blocks"]
        assert "reflector_guidelines" in {block["label"] for block in blocks}
        # The next planning reads them, and what became of this run.
        answers = json.dumps({"invoice_id": "INV-2002"})
        later = await good(client, "plan_start", objective=OBJECTIVE, answers_json=answers)
        assert later["status"] == "shown"
        guidance = later["guidance"]
        assert guidance["revision"] == written["revision"]
        assert guidance["items"]["warnings"][0]["warning"] == warning["warning"]
        assert (guidance["past"]["runs"], guidance["past"]["succeeded"]) == (1, 1)
