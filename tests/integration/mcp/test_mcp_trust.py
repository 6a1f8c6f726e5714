"""What clients may not do by themselves: replace what was generated, decide on another question."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from integration.mcp.test_mcp_skill_calls import PAY, bank_on, lease, question, start

from dcf.agents.loading import QuestionChanged
from dcf.cli.approvals import DecisionOrder, decide, list_approvals
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import NotSo

STUB = "yaml_to_stub_config"


@pytest.mark.parametrize(
    "name", ["skills.lock", "policy.json", "registry.json", "manifests/x.json", "stub/x.json"]
)
async def test_a_tool_writes_its_own_artefact_only(
    redis_url: str, tmp_path: Path, name: str
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, _):
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
    async with bank_on(redis_url, tmp_path) as (desk, _):
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
        assert await desk.refused("decide_approval", workflow_id="r", **yes) == "bad_arguments"
        await desk.good("decide_approval", **seen, **yes)
        under = await lease(desk)
        await desk.good("call_skill_tool", **under, **PAY)
        more = {"tool": "bank:pay", "arguments_json": json.dumps({"amount": 9999})}
        await desk.call("call_skill_tool", **under, **more)
        late = await desk.call("decide_approval", **seen, **yes)
        assert late["error"].startswith("question_changed")
        assert "9999" in late["error"]


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
        order = DecisionOrder(None, agent, None, "approve", "operator", "", asked["digest"], True)
        with pytest.raises(QuestionChanged):
            await decide(replace(order, digest="sha256:0"), settings, screen)
        with pytest.raises(NotSo, match="--digest"):
            await decide(replace(order, digest=None), settings, screen)
        await decide(order, settings, screen)
        assert (await desk.good("call_skill_tool", **call))["data"] == {"paid": 7}
