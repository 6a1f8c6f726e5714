"""Tools of skills, called from outside: the gate, the record, approvals, keys that repeat."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from integration.mcp.platforms import Desk, desk_on
from integration.tools.conftest import serving_app

from dcf.skills import generate_all
from dcf.tools.stub import create_stub_app

SECRET = "a-secret-of-those-who-approve"

TOOLS = """\
apiVersion: tools/v1
kind: ToolsRegistry
servers:
  bank:
    description: A bank
    tools:
      look:
        version: 1.0.0
        description: Look at an account.
        params: {type: object, properties: {account: {type: string}}, required: [account]}
        result: {type: object}
        defaults: {response: {account: "{{ args.account }}", balance: 5}, latencyMs: 0}
      pay:
        version: 1.0.0
        description: Pay somebody.
        params: {type: object, properties: {amount: {type: integer}}, required: [amount]}
        result: {type: object}
        defaults: {response: {paid: "{{ args.amount }}"}, latencyMs: 0}
"""
REGISTRY = """\
apiVersion: registry/v1
kind: ServerRegistry
servers:
  bank: {transport: streamable_http, endpoint: "${DCF_STUB_URL}", path: /mcp/bank}
"""
SKILL = """\
apiVersion: skill/v1
kind: Skill
metadata: {{manifestId: skill.bank.{name}@1.0.0, name: bank.{name}, version: 1.0.0}}
spec:
  directives: Do what is asked.
  permissions: {{egress: intranet, riskLevel: {risk}}}
  tools: [{{ref: "bank:{name}"}}]
"""


def author(folder: Path) -> Path:
    """Skills ``bank.look`` (low risk) and ``bank.pay`` (high)."""
    source = folder / "skills_src"
    (source / "skills").mkdir(parents=True)
    (source / "tools.yaml").write_text(TOOLS)
    (source / "registry.yaml").write_text(REGISTRY)
    for name, risk in (("look", "low"), ("pay", "high")):
        file = source / "skills" / f"{name}.skill.yaml"
        file.write_text(SKILL.format(name=name, risk=risk))
    done = generate_all(source, folder / "generated")
    assert done.ok, done
    return folder / "generated"


@asynccontextmanager
async def bank_on(
    url: str, folder: Path, *, approval_token: str | None = SECRET, **config: Any
) -> AsyncIterator[tuple[Desk, str]]:
    """A desk with the bank's skills, and where the bank's ledger of calls is."""
    config["approval_token"] = approval_token
    generated = author(folder)
    app = create_stub_app(generated / "stub" / "stub_config.json")
    async with serving_app(app) as stub:
        env = {"DCF_STUB_URL": stub}
        async with desk_on(url, folder, generated=generated, env=env, **config) as desk:
            yield desk, stub


async def keys_at(stub: str) -> list[str]:
    """The idempotency keys that the bank saw."""
    async with httpx2.AsyncClient() as http:
        calls = (await http.get(f"{stub}/calls")).json()["calls"]
    return [call["idempotency_key"] for call in calls]


async def start(desk: Desk, *skills: str) -> None:
    work = {"Type": "Task", "AgentBinding": {"skills": list(skills)}, "End": True}
    flow = {"StartAt": "A", "States": {"A": work}}
    await desk.good("create_workflow_control_plane", workflow_json=json.dumps(flow), run_id="r")


async def lease(desk: Desk, owner: str = "me", **more: Any) -> dict[str, Any]:
    """A lease of A, as arguments of calls under it."""
    taken = await desk.good(
        "acquire_state_lease", workflow_id="r", state="A", owner_agent_id=owner, **more
    )
    token = taken["lease"]["token"]
    return {"workflow_id": "r", "state": "A", "lease_token": token, "agent_id": owner}


async def decisions(desk: Desk) -> list[tuple[str, str, str]]:
    history = (await desk.good("read_history", workflow_id="r"))["events"]
    return [
        (one["tool"], one["verdict"], one["rule"])
        for one in history
        if one["type"] == "ToolDecision"
    ]


LOOK = {"tool": "bank:look", "arguments_json": '{"account": "a"}'}
PAY = {"tool": "bank:pay", "arguments_json": '{"amount": 7}'}


async def test_what_is_not_loaded_or_not_of_the_state_is_refused_on_record(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        await start(desk, "bank.look@1.0.0")
        under = await lease(desk)
        assert await desk.refused("call_skill_tool", **under, **LOOK) == "DCF.PermissionDenied"
        await desk.good("load_skill", skill_json="bank.look@1.0.0", agent_id="me")
        await desk.good("load_skill", skill_json="bank.pay@1.0.0", agent_id="me")
        answer = await desk.good("call_skill_tool", **under, **LOOK)
        assert answer["data"] == {"account": "a", "balance": 5}
        # Loaded, but not a skill of this state.
        assert await desk.refused("call_skill_tool", **under, **PAY) == "DCF.PermissionDenied"
        wrong = {"tool": "bank:look", "arguments_json": '{"account": 5}'}
        assert await desk.refused("call_skill_tool", **under, **wrong) == "DCF.PermissionDenied"
        unknown = {"tool": "rob", "arguments_json": "{}"}
        assert await desk.refused("call_skill_tool", **under, **unknown) == "DCF.PermissionDenied"
        assert [(tool, verdict) for tool, verdict, _ in await decisions(desk)] == [
            ("bank:look", "deny"),
            ("bank:look", "allow"),
            ("bank:pay", "deny"),
            ("bank:look", "deny"),
            (":rob", "deny"),
        ]
        assert await keys_at(stub) == ["r/A/1/1/0"]


async def test_who_takes_over_repeats_calls_under_the_same_keys(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        await start(desk, "bank.look@1.0.0")
        first = await lease(desk)
        await desk.good("load_skill", skill_json="bank.look@1.0.0", agent_id="me")
        await desk.good("call_skill_tool", **first, **LOOK)
        other = {**LOOK, "arguments_json": '{"account": "b"}'}
        # Another server process serves the second call of the same lease.
        async with desk_on(
            redis_url, tmp_path, generated=tmp_path / "generated", env={"DCF_STUB_URL": stub}
        ) as second:
            await second.good("call_skill_tool", **first, **other)
        await desk.good(
            "release_state_lease",
            **{name: value for name, value in first.items() if name != "agent_id"},
        )
        again = await lease(desk)
        await desk.good("call_skill_tool", **again, **LOOK)
        assert await desk.refused("call_skill_tool", **first, **LOOK) == "lease_mismatch"
        assert await keys_at(stub) == ["r/A/1/1/0", "r/A/1/1/1", "r/A/1/1/0"]


async def test_an_approval_ends_the_lease_and_the_try_goes_on_after_it(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        await start(desk, "bank.look@1.0.0", "bank.pay@1.0.0")
        first = await lease(desk)
        for skill in ("bank.look@1.0.0", "bank.pay@1.0.0"):
            await desk.good("load_skill", skill_json=skill, agent_id="me")
        await desk.good("call_skill_tool", **first, **LOOK)
        asked = await desk.call("call_skill_tool", **first, **PAY)
        assert asked["error"].startswith("approval_required: operator")
        assert asked["approval"]["arguments"] == {"amount": 7}
        assert await desk.refused("call_skill_tool", **first, **PAY) == "no_lease"
        explained = await desk.good("explain_workflow", workflow_id="r")
        assert "appro" in explained["summary"]
        seen = await question(desk, workflow_id="r")
        await desk.good("decide_approval", **seen, decision="approve", by="operator", reason="fine")
        again = await lease(desk)
        # Answered from the journal, once; then the approved call is made.
        await desk.good("call_skill_tool", **again, **LOOK)
        paid = await desk.good("call_skill_tool", **again, **PAY)
        assert paid["data"] == {"paid": 7}
        assert await keys_at(stub) == ["r/A/1/1/0", "r/A/1/1/1"]
        await desk.good("call_skill_tool", **again, **LOOK)
        assert await keys_at(stub) == ["r/A/1/1/0", "r/A/1/1/1", "r/A/1/1/2"]
        # An approval is for one call.
        assert await desk.refused("call_skill_tool", **again, **PAY) == "approval_required"


async def test_a_rejected_call_fails_the_state_as_retry_and_catch_know_it(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        await start(desk, "bank.pay@1.0.0")
        under = await lease(desk)
        await desk.good("load_skill", skill_json="bank.pay@1.0.0", agent_id="me")
        assert await desk.refused("call_skill_tool", **under, **PAY) == "approval_required"
        seen = await question(desk, workflow_id="r")
        await desk.good("decide_approval", **seen, decision="reject", by="operator")
        await desk.good("notify_next_worker_agent", workflow_id="r")
        read = await desk.good("read_workflow_control_plane", workflow_id="r")
        assert read["states"]["A"]["error"]["error"] == "DCF.ApprovalRejected"
        assert await keys_at(stub) == []


async def test_an_agent_outside_runs_calls_through_the_same_gate(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        agent = (await desk.good("create_agent", agent_name="clerk"))["agent_id"]
        assert await desk.refused("call_skill_tool", agent_id="nobody", **LOOK) == "unknown_agent"
        call = {"agent_id": agent, **LOOK}
        assert await desk.refused("call_skill_tool", **call) == "DCF.PermissionDenied"
        await desk.good("load_skill", skill_json="bank.look@1.0.0", agent_id=agent)
        await desk.good("load_skill", skill_json="bank.pay@1.0.0", agent_id=agent)
        first = await desk.good("call_skill_tool", **call)
        second = await desk.good("call_skill_tool", **call)
        assert first["call_id"] != second["call_id"]
        asked = await desk.call("call_skill_tool", agent_id=agent, call_id="c1", **PAY)
        assert asked["error"].startswith("approval_required")
        seen = await question(desk, agent_id=agent)
        await desk.good("decide_approval", **seen, decision="approve", by="operator")
        paid = await desk.good("call_skill_tool", agent_id=agent, call_id="c1", **PAY)
        assert paid["data"] == {"paid": 7}
        keys = await keys_at(stub)
        first_page = await desk.good("read_history", agent_id=agent, limit=4)
        rest = await desk.good("read_history", agent_id=agent, after=first_page["next_after"])
        assert await desk.refused("read_history", agent_id="nobody") == "unknown_agent"
        assert await desk.refused("read_history") == "bad_arguments"
        for after in ("x", "1-2-3", "\u0663", "9" * 5_000):
            refused = await desk.refused("read_history", agent_id=agent, after=after)
            assert refused == "bad_arguments"
    events = [*first_page["events"], *rest["events"]]
    assert (len(first_page["events"]), rest["next_after"]) == (4, None)
    (decided,) = (one for one in events if one["type"] == "ApprovalDecided")
    assert (decided["decision"], decided["by"], decided["tool"]) == (
        "approve",
        "operator",
        "bank:pay",
    )
    assert "amount" not in json.dumps(events)  # what was called for is not told, as of runs
    assert len(set(keys)) == 3 and keys[-1] == f"agent/{agent}/c1/0"


async def test_a_skill_that_only_has_the_name_of_the_states_skill_is_not_that_skill(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        await start(desk, "bank.look@1.0.0")
        under = await lease(desk)
        file = tmp_path / "generated" / "manifests" / "skill.bank.look-1.0.0.json"
        other = {**json.loads(file.read_text()), "skillDirectives": "Look twice."}
        loaded = await desk.good("load_skill", skill_json=json.dumps(other), agent_id="me")
        assert loaded["trusted"] is False
        assert "untrusted" in loaded["warnings"][0]
        assert await desk.refused("call_skill_tool", **under, **LOOK) == "DCF.PermissionDenied"
        # Outside the run it counts as high risk: somebody is asked.
        asked = await desk.call("call_skill_tool", agent_id="me", call_id="c", **LOOK)
        assert asked["error"].startswith("approval_required")
        replaced = {"skill_json": "bank.look@1.0.0", "replace_changed": True}
        loaded = await desk.good("load_skill", agent_id="me", **replaced)
        assert (loaded["status"], loaded["trusted"]) == ("replaced", True)
        await desk.good("call_skill_tool", **under, **LOOK)
        assert len(await keys_at(stub)) == 1


async def question(desk: Desk, **place: str) -> dict[str, Any]:
    """The only question of a run or an agent, as somebody saw it who may decide."""
    (asked,) = (await desk.good("list_approvals", **place))["approvals"]
    seen = {**place, "digest": asked["digest"], "approval_token": SECRET}
    named = {"approval_id": asked["id"]} if "agent_id" in place else {}
    return {**seen, **(named or {name: asked[name] for name in ("state", "question")})}


async def asks(desk: Desk) -> dict[str, Any]:
    """A run and an agent that each wait for a person; the arguments that approve them."""
    await start(desk, "bank.pay@1.0.0")
    under = await lease(desk)
    await desk.good("load_skill", skill_json="bank.pay@1.0.0", agent_id="me")
    assert await desk.refused("call_skill_tool", **under, **PAY) == "approval_required"
    asked = await desk.refused("call_skill_tool", agent_id="me", call_id="c1", **PAY)
    assert asked == "approval_required"
    return {"decision": "approve", "by": "operator"}


async def test_who_has_not_the_approval_token_decides_nothing(
    redis_url: str, tmp_path: Path, caplog: Any
) -> None:
    caplog.set_level("DEBUG")
    secret = SECRET
    async with bank_on(redis_url, tmp_path) as (desk, _):
        answer = await asks(desk)
        run = await question(desk, workflow_id="r")
        call = await question(desk, agent_id="me")
        del run["approval_token"], call["approval_token"]
        for wrong in ({}, {"approval_token": ""}, {"approval_token": "ä"}):
            for asked in (run, call):
                refused = await desk.call("decide_approval", **answer, **asked, **wrong)
                assert refused["error"].startswith("approval_forbidden"), refused
                assert secret not in json.dumps(refused)
        wrong_type = {**answer, **run, "approval_token": [secret]}
        refused = await desk.call("decide_approval", **wrong_type)
        assert refused["error"].startswith("bad_arguments")
        assert secret not in json.dumps(refused)
        assert (await desk.good("list_approvals"))["count"] == 2
        answer["approval_token"] = secret
        given = [await desk.good("decide_approval", **run, **answer)]
        given.append(await desk.good("decide_approval", **call, **answer))
        assert secret not in json.dumps(given)
        kept = await kept_in_redis(desk)
        assert '"via": "mcp"' in kept or '"via":"mcp"' in kept
        assert secret not in kept
    assert secret not in caplog.text
    assert secret not in repr(desk.platform.config)


@pytest.mark.parametrize("exposed", [False, True])
async def test_a_server_without_an_approval_token_lets_nobody_decide(
    redis_url: str, tmp_path: Path, exposed: bool
) -> None:
    config = {"exposed": exposed, "approval_token": None}
    async with bank_on(redis_url, tmp_path, **config) as (desk, _):
        answer = await asks(desk)
        for place in ({"workflow_id": "r"}, {"agent_id": "me"}):
            seen = await question(desk, **place)
            # Neither with a token that somebody made up nor without.
            for given in (seen, {**seen, "approval_token": None}, {**seen, "approval_token": ""}):
                refused = await desk.call("decide_approval", **given, **answer)
                assert refused["error"].startswith("approval_forbidden")
                assert "DCF_APPROVAL_TOKEN" in refused["hint"]
        assert (await desk.good("list_approvals"))["count"] == 2
        assert await desk.refused("set_budget", agent_id="me") == "approval_forbidden"
        # Sources are the operator's: whoever reaches this machine's server alone may generate.
        for name in ("yaml_to_registry", "generate_all"):
            generated = await desk.call(name)
            assert ("approval_forbidden" in str(generated["error"])) is exposed


async def test_the_history_says_where_a_decision_was_taken(redis_url: str, tmp_path: Path) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, _):
        answer = await asks(desk)
        for place in ({"workflow_id": "r"}, {"agent_id": "me"}):
            await desk.good("decide_approval", **await question(desk, **place), **answer)
        history = (await desk.good("read_history", workflow_id="r"))["events"]
        (decided,) = [event for event in history if event["type"] == "ApprovalDecided"]
        assert decided["via"] == "mcp"
        assert '"via"' in await desk.platform.backend.command("JSON.GET", "cp:agent:me")


async def kept_in_redis(desk: Desk) -> str:
    """Everything that is kept, as text."""
    command = desk.platform.backend.command
    found = []
    for key in await command("KEYS", "*"):
        match await command("TYPE", key):
            case "ReJSON-RL":
                found.append(await command("JSON.GET", key))
            case "stream":
                found.append(await command("XRANGE", key, "-", "+"))
            case "hash":
                found.append(await command("HGETALL", key))
            case "string":
                found.append(await command("GET", key))
            case "zset":
                found.append(await command("ZRANGE", key, 0, -1))
            case "set":
                found.append(await command("SMEMBERS", key))
            case "list":
                found.append(await command("LRANGE", key, 0, -1))
    return str(found)
