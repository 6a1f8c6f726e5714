"""What clients may not do by themselves: replace what was generated, decide on another question."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from integration.mcp.test_mcp_skill_calls import (
    LOOK,
    PAY,
    SECRET,
    bank_on,
    keys_at,
    lease,
    question,
    start,
)
from mcp import Client

from dcf.agents.loading import QuestionChanged
from dcf.cli.approvals import DecisionOrder, decide, list_approvals
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import NotSo
from dcf.mcp.http_app import create_app
from dcf.tools.serving import Guard
from dcf.tools.stub.in_process import served

STUB = "yaml_to_stub_config"


@pytest.mark.parametrize(
    "name", ["skills.lock", "policy.json", "registry.json", "manifests/x.json", "stub/x.json"]
)
async def test_a_tool_writes_its_own_artefact_only(
    redis_url: str, tmp_path: Path, name: str
) -> None:
    async with bank_on(redis_url, tmp_path, approval_token=None) as (desk, _):
        file = tmp_path / "generated" / name
        before = file.read_bytes() if file.exists() else None
        for path in (f"generated/{name}", f"generated/stub/../{name}", str(file)):
            assert await desk.refused(STUB, out_path=path) == "outside_root"
            assert await desk.refused("yaml_to_manifests", catalog_path=path) == "outside_root"
        if name != "registry.json":
            assert await desk.refused("yaml_to_registry", out_path=file.as_uri()) == "outside_root"
        assert (file.read_bytes() if file.exists() else None) == before
        await desk.good(STUB)
        await desk.good("yaml_to_manifests")
        await desk.good("yaml_to_registry")


async def test_tools_of_the_workspace_do_not_get_into_generated_manifests(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path, approval_token=None) as (desk, _):
        own = (tmp_path / "skills_src/tools.yaml").read_text().replace("required: [amount]", "")
        (tmp_path / "workspace/tools.yaml").write_text(own)
        code = await desk.refused("yaml_to_manifests", tools_yaml_path="workspace/tools.yaml")
        assert code == "outside_root"


async def test_a_decision_is_on_the_call_that_was_seen(redis_url: str, tmp_path: Path) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, _):
        await start(desk, "bank.pay@1.0.0")
        under = await lease(desk)
        await desk.good("load_skill", skill_json="bank.pay@1.0.0", agent_id="me")
        await desk.call("call_skill_tool", **under, **PAY)
        seen = await question(desk, workflow_id="r")
        yes = {"decision": "approve", "by": "operator"}
        for lacking in ("digest", "question", "state"):
            partly = {name: given for name, given in seen.items() if name != lacking}
            assert await desk.refused("decide_approval", **partly, **yes) == "bad_arguments"
        await desk.good("decide_approval", **seen, **yes)
        under = await lease(desk)
        await desk.good("call_skill_tool", **under, **PAY)
        more = {"tool": "bank:pay", "arguments_json": json.dumps({"amount": 9999})}
        await desk.call("call_skill_tool", **under, **more)
        late = await desk.call("decide_approval", **seen, **yes)
        assert late["error"].startswith("question_changed")
        assert "9999" in late["error"]


async def test_a_decision_is_on_the_question_that_was_seen_however_equal_the_calls(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        await start(desk, "bank.pay@1.0.0")
        under = await lease(desk)
        await desk.good("load_skill", skill_json="bank.pay@1.0.0", agent_id="me")
        await desk.call("call_skill_tool", **under, **PAY)
        seen = await question(desk, workflow_id="r")
        yes = {"decision": "approve", "by": "operator"}
        await desk.good("decide_approval", **seen, **yes)
        under = await lease(desk)
        await desk.good("call_skill_tool", **under, **PAY)
        await desk.call("call_skill_tool", **under, **PAY)
        now = await question(desk, workflow_id="r")
        assert now["digest"] == seen["digest"]
        late = await desk.call("decide_approval", **seen, **yes)
        assert late["error"].startswith("question_changed")
        assert f"question {now['question']} now" in late["error"]
        assert len(await keys_at(stub)) == 1


async def test_at_the_command_line_calls_of_agents_are_listed_and_decided(
    redis_url: str, tmp_path: Path
) -> None:
    settings = Settings.from_env({"DCF_REDIS_URL": redis_url, "DCF_HOME": str(tmp_path / "home")})
    screen = Screen(as_json=True)
    async with bank_on(redis_url, tmp_path) as (desk, _):
        agent = (await desk.good("create_agent", agent_name="clerk"))["agent_id"]
        await desk.good("load_skill", skill_json="bank.pay@1.0.0", agent_id=agent)
        call = {"agent_id": agent, "call_id": "c1", **PAY}
        assert await desk.refused("call_skill_tool", **call) == "approval_required"
        listed = await list_approvals(None, settings, screen)
        asked = next(one for one in listed.fields["approvals"] if one.get("agent_id") == agent)
        assert any(f"dcf approve --agent {agent} {asked['id']}" in line for line in listed.show)
        seen = (asked["digest"], None, True)
        order = DecisionOrder(None, agent, asked["id"], "approve", "operator", "", *seen)
        with pytest.raises(QuestionChanged):
            await decide(replace(order, digest="sha256:0"), settings, screen)
        with pytest.raises(NotSo, match="--digest"):
            await decide(replace(order, digest=None), settings, screen)
        with pytest.raises(NotSo, match="id of the approval"):
            await decide(replace(order, place=None), settings, screen)
        await decide(order, settings, screen)
        assert (await desk.good("call_skill_tool", **call))["data"] == {"paid": 7}


def as_its_author_has_it(folder: Path, **changes: Any) -> dict[str, Any]:
    """The manifest of bank.look with changes that nobody generated."""
    file = folder / "generated" / "manifests" / "skill.bank.look-1.0.0.json"
    return {**json.loads(file.read_text()), **changes}


async def test_a_skill_that_nobody_reviewed_asks_until_it_is_in_the_catalog(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, _):
        new = {"skillName": "bank.peek", "manifestId": "skill.bank.peek@1.0.0"}
        own = as_its_author_has_it(tmp_path, **new)
        agent = (await desk.good("create_agent", agent_name="clerk"))["agent_id"]
        assert await desk.refused("load_skill", skill_json="bank.peek", agent_id=agent) == (
            "unknown_skill"
        )
        loaded = await desk.good("load_skill", skill_json=json.dumps(own), agent_id=agent)
        assert loaded["trusted"] is False
        listed = (await desk.good("list_loaded_skills", agent_id=agent))["active_skills"]
        assert listed["skill.bank.peek@1.0.0"]["trusted"] is False
        call = {"agent_id": agent, "call_id": "c1", **LOOK}
        assert await desk.refused("call_skill_tool", **call) == "approval_required"
        (asked,) = (await desk.good("list_approvals", agent_id=agent))["approvals"]
        assert asked["untrusted"]
        answer = {"decision": "approve", "by": "operator", "approval_token": SECRET}
        seen = {"agent_id": agent, "approval_id": asked["id"], "digest": asked["digest"]}
        await desk.good("decide_approval", **seen, **answer)
        assert (await desk.good("call_skill_tool", **call))["data"]["balance"] == 5
        # The approval was for one call.
        again = await desk.refused("call_skill_tool", agent_id=agent, **LOOK)
        assert again == "approval_required"
        # Reviewed: an operator takes it over into the sources.
        sources = tmp_path / "skills_src" / "skills"
        text = (sources / "look.skill.yaml").read_text().replace("bank.look", "bank.peek")
        (sources / "peek.skill.yaml").write_text(text)
        await desk.good("generate_all", approval_token=SECRET)
        found = (await desk.good("get_skillset"))["available_skills"]
        assert "bank.peek" in [one["skillName"] for one in found]
        change = {"skill_json": "bank.peek@1.0.0", "replace_changed": True}
        trusted = await desk.good("load_skill", agent_id=agent, **change)
        assert trusted["trusted"] is True
        await desk.good("call_skill_tool", agent_id=agent, **LOOK)


async def test_the_server_answers_while_a_hostile_pattern_is_tried(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, _):
        await desk.good("create_agent", agent_name="clerk", agent_id="clerk")
        own = as_its_author_has_it(tmp_path)
        parameters = own["requiredTools"][0]["json_schema"]["parameters"]
        parameters["properties"]["account"]["pattern"] = "^(a|aa)+$"
        loading = {"agent_id": "clerk", "skill_json": json.dumps(own)}
        slow = {"agent_id": "clerk", "tool": "bank:look"}
        slow["arguments_json"] = json.dumps({"account": "a" * 60 + "!"})
        app = create_app(desk.platform, Guard())
        async with served(app) as address, httpx2.AsyncClient() as http:
            done, waits = asyncio.Event(), []

            async def watch() -> None:
                while not done.is_set():
                    # Not of the wall clock: how busy the machine is says nothing of the server.
                    began = time.process_time()
                    answer = await http.get(f"{address}/healthz")
                    waits.append(time.process_time() - began)
                    assert answer.status_code == 200
                    await asyncio.sleep(0.02)

            async with Client(f"{address}/mcp") as client, asyncio.timeout(60):
                watching = asyncio.create_task(watch())
                await client.call_tool("validate_skill_manifest", {"skill_json": json.dumps(own)})
                await client.call_tool("load_skill", loading)
                refused: list[dict[str, Any] | None] = []
                # Until the server was asked meanwhile: a refusal may be quicker than a question.
                while len(refused) < 4 or len(waits) <= 2:
                    calls = [client.call_tool("call_skill_tool", slow) for _ in range(4)]
                    refused += [one.structured_content for one in await asyncio.gather(*calls)]
                done.set()
                await watching
        assert all(one and one["error"].startswith("DCF.PermissionDenied") for one in refused)
        assert len(waits) > 2 and max(waits) < 1
