"""Agents, their skills, approvals and budgets over the wire, with a stub behind."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from integration.workspace.tree import write_skill, write_tree
from integration.workspace.wire import Wire, wire

from dcf.skills import generate_all
from dcf.tools.stub.app import create_stub_app
from dcf.tools.stub.in_process import served

WEED, LEND, LOOK_UP = (
    "skill.books.weed@1.0.0",
    "skill.books.lend@1.0.0",
    "skill.books.look_up@1.0.0",
)

PERSON = {"approval_token": "what-people-have"}


# All that a budget can limit.
NO_LIMITS = dict.fromkeys(("tool_calls", "wall_time_s", "model_calls", "tokens", "cost_usd"))


@asynccontextmanager
async def library(url: str, folder: Path) -> AsyncIterator[Wire]:
    """A server over the small tree, generated, with its stub."""
    sources = write_tree(folder)
    generated = generate_all(sources, folder / "generated")
    assert generated.ok, generated.problems
    app = create_stub_app(folder / "generated" / "stub" / "stub_config.json")
    async with (
        served(app) as stub,
        wire(url, folder, env={"DCF_STUB_URL": stub}, **PERSON) as tools,
    ):
        yield tools


async def new_agent(tools: Wire, name: str = "ann") -> str:
    return str((await tools.good("create_agent", agent_name=name))["agent_id"])


async def active(tools: Wire, agent: str) -> dict[str, Any]:
    answer = await tools.good("list_loaded_skills", agent_id=agent)
    return dict(answer["active_skills"])


async def test_agents_are_made_found_listed_and_deleted(redis_url: str, tmp_path: Path) -> None:
    async with wire(redis_url, tmp_path) as tools:
        made = await tools.good(
            "create_agent", agent_name="ann", tags_json='["role:worker"]', agent_id="agent-1"
        )
        assert (made["agent_id"], made["tags"], made["loaded_skills"]) == (
            "agent-1", ["role:worker"], [],
        )  # fmt: skip
        await new_agent(tools, "bob")
        assert (await tools.good("resolve_agent_name_to_id", agent_name="ann"))[
            "agent_id"
        ] == "agent-1"
        listed = await tools.good("list_agents", tags_json=["role:worker"])
        assert [one["agent_name"] for one in listed["agents"]] == ["ann"]
        first = await tools.good("list_agents", limit=1)
        second = await tools.good("list_agents", limit=1, after=first["next_after"])
        assert [one["agent_name"] for one in (*first["agents"], *second["agents"])] == [
            "ann", "bob",
        ]  # fmt: skip
        assert (await tools.good("read_agent", agent_id="agent-1"))["agent_name"] == "ann"
        lifted = await tools.good("remove_tool_return_limits", agent_id="agent-1")
        assert lifted["updated_count"] == 0
        gone = await tools.good("delete_agent", agent_name="ann")
        assert gone["deleted_agent_id"] == "agent-1"
        for name, arguments in {
            "resolve_agent_name_to_id": {"agent_name": "ann"},
            "delete_agent": {"agent_name": "ann"},
            "read_agent": {"agent_id": "agent-1"},
            "remove_tool_return_limits": {"agent_id": "agent-1"},
            "list_loaded_skills": {"agent_id": "agent-1"},
        }.items():
            assert await tools.refused(name, **arguments) == "unknown_agent"
        assert await tools.refused("create_agent", agent_name="bob") == "name_taken"
        assert await tools.refused("create_agent", agent_name="c", agent_id="a b") == "bad_name"


async def test_a_skill_is_loaded_by_any_of_its_names(redis_url: str, tmp_path: Path) -> None:
    async with library(redis_url, tmp_path) as tools:
        manifest = (
            tmp_path / "generated" / "manifests" / "skill.books.lend-1.0.0.json"
        ).read_text()
        names = [
            {"skill_json": LEND}, {"skill_json": "books.lend@1.0.0"}, {"skill_json": "books.lend"},
            {"skill_json": "books.lend@^1.0"}, {"skill_json": "skill://books.lend@1.0.0"},
            {"skill_json": manifest}, {"skill_json": json.loads(manifest)},
            {"skill_json": "skill.books.lend-1.0.0.json"}, {"skill_manifest": manifest},
            {"skill_manifest_id": LEND}, {"skill_json": LEND, "skill_manifest_id": LEND},
        ]  # fmt: skip
        for number, name in enumerate(names):
            agent = await new_agent(tools, f"agent {number}")
            loaded = await tools.good("load_skill", agent_id=agent, **name)
            assert (loaded["manifest_id"], loaded["status"], loaded["exit_code"]) == (
                LEND, "loaded", 0,
            )  # fmt: skip
            assert loaded["added"]["tool_ids"] == ["books:find"]
            again = await tools.good("load_skill", agent_id=agent, **name)
            assert (again["status"], again["skills"]) == ("already_loaded", [])


async def test_what_cannot_be_loaded_is_refused_and_changes_nothing(
    redis_url: str, tmp_path: Path
) -> None:
    async with library(redis_url, tmp_path) as tools:
        agent = await new_agent(tools)
        (tmp_path / "outside.json").write_text("{}")
        for skill in ("books.none", "books.lend@^9", "{}", "[", "../../outside.json",
                      "file:///etc/passwd", f"{tmp_path}/outside.json", "a\x00b.json"):  # fmt: skip
            answer = await tools.call("load_skill", agent_id=agent, skill_json=skill)
            known = skill not in ("books.none", "books.lend@^9")
            code = "skill_load_refused: " if known else "unknown_skill: "
            assert str(answer["error"]).startswith(code), (skill, answer)
            assert (answer["ok"], answer["exit_code"]) == (False, 4)
            assert answer["problems"]
        wrong = "sha256:" + "0" * 64
        assert (
            await tools.refused("load_skill", agent_id=agent, skill_json=LEND, integrity=wrong)
            == "skill_load_refused"
        )
        assert await tools.refused("load_skill", agent_id=agent) == "bad_arguments"
        assert (
            await tools.refused(
                "load_skill", agent_id=agent, skill_json=LEND, skill_manifest_id=WEED
            )
            == "bad_arguments"
        )
        assert await tools.refused("load_skill", agent_id="x", skill_json=LEND) == "unknown_agent"
        assert await active(tools, agent) == {}


async def test_a_shared_tool_stays_with_the_skill_that_is_left(
    redis_url: str, tmp_path: Path
) -> None:
    async with library(redis_url, tmp_path) as tools:
        agent = await new_agent(tools)
        for skill in (LEND, LOOK_UP):
            await tools.good("load_skill", agent_id=agent, skill_json=skill, check_tools=True)
        gone = await tools.good("unload_skill", manifest_id=LEND, agent_id=agent)
        assert (gone["status"], gone["kept_tool_ids"]) == ("unloaded", ["books:find"])
        assert list(await active(tools, agent)) == [LOOK_UP]
        called = await tools.good(
            "call_skill_tool", agent_id=agent, tool="books:find", arguments_json={"title": "Emma"}
        )
        assert called["data"] == {"shelf": "A3"}
        again = await tools.good("unload_skill", manifest_id=LEND, agent_id=agent)
        assert again["status"] == "not_loaded"


async def test_a_changed_skill_is_seen_at_once(redis_url: str, tmp_path: Path) -> None:
    async with library(redis_url, tmp_path) as tools:
        agent = await new_agent(tools)
        await tools.good("load_skill", agent_id=agent, skill_json=LEND)
        write_skill(tmp_path / "skills_src", "books.lend", "Lend two.", ["find"])
        await tools.good("generate_all", **PERSON)
        assert await tools.refused("load_skill", agent_id=agent, skill_json=LEND) == (
            "skill_load_refused"
        )
        replaced = await tools.good(
            "load_skill", agent_id=agent, skill_json=LEND, replace_changed=True
        )
        assert replaced["status"] == "replaced"


async def burn(tools: Wire, agent: str, call: str) -> dict[str, Any]:
    return await tools.call(
        "call_skill_tool", agent_id=agent, tool="books:burn", arguments_json={"title": "Emma"},
        call_id=call,
    )  # fmt: skip


async def test_a_call_of_high_risk_waits_and_is_decided_on(redis_url: str, tmp_path: Path) -> None:
    async with library(redis_url, tmp_path) as tools:
        agent = await new_agent(tools)
        await tools.good("load_skill", agent_id=agent, skill_json=WEED)
        assert (await burn(tools, agent, "one"))["error"] is not None
        listed = await tools.good("list_approvals")
        assert listed["count"] == 1
        (asked,) = listed["approvals"]
        assert (asked["agent_id"], asked["tool_name"], asked["arguments"]) == (
            agent, "burn", {"title": "Emma"},
        )  # fmt: skip
        assert (await tools.good("list_approvals", agent_id=agent))["approvals"] == [asked]
        seen = {"agent_id": agent, "approval_id": asked["id"], "digest": asked["digest"], **PERSON}
        # Neither the agent itself nor anybody who is not asked decides.
        assert (
            await tools.refused("decide_approval", decision="approve", by=agent, **seen)
            == "not_an_approver"
        )
        decided = await tools.good(
            "decide_approval", decision="approve", by="operator", **seen, reason="old"
        )
        assert (decided["status"], decided["approval"]["id"]) == ("approved", asked["id"])
        assert (await burn(tools, agent, "one"))["data"] == {"burnt": True}
        assert (await tools.good("list_approvals"))["count"] == 0
        await burn(tools, agent, "two")
        (asked,) = (await tools.good("list_approvals"))["approvals"]
        seen["approval_id"] = asked["id"]
        rejected = await tools.good("decide_approval", decision="reject", by="operator", **seen)
        assert rejected["status"] == "rejected"
        assert "ApprovalRejected" in json.dumps(await burn(tools, agent, "two"))


async def test_decisions_name_what_is_decided(redis_url: str, tmp_path: Path) -> None:
    async with library(redis_url, tmp_path) as tools:
        agent = await new_agent(tools)
        decision = {"decision": "approve", "by": "operator", "digest": "sha256:0", **PERSON}
        no_digest = {"decision": "approve", "by": "operator", "workflow_id": "none"}
        assert await tools.refused("decide_approval", **no_digest) == "bad_arguments"
        assert await tools.refused("decide_approval", **decision) == "bad_arguments"
        assert await tools.refused("decide_approval", **decision, agent_id=agent) == (
            "bad_arguments"
        )
        call = {**decision, "approval_id": "x"}
        assert (
            await tools.refused("decide_approval", **{**call, "by": " "}, agent_id=agent)
            == "bad_arguments"
        )
        assert await tools.refused("decide_approval", **call, agent_id=agent) == "already_settled"
        assert await tools.refused("decide_approval", **call, agent_id="x") == "unknown_agent"
        assert (
            await tools.refused("decide_approval", **decision, workflow_id="none")
            == "bad_arguments"
        )
        nowhere = {"workflow_id": "none", "state": "Weed", "question": "1.1.1"}
        assert await tools.refused("decide_approval", **decision, **nowhere) == "unknown_run"
        assert (
            await tools.refused(
                "decide_approval", **{**call, "decision": "perhaps"}, agent_id=agent
            )
            == "bad_arguments"
        )
        assert await tools.refused("list_approvals", workflow_id="none") == "unknown_run"
        assert await tools.refused("list_approvals", agent_id="none") == "unknown_agent"


async def test_a_deleted_agent_asks_for_nothing(redis_url: str, tmp_path: Path) -> None:
    async with library(redis_url, tmp_path) as tools:
        agent = await new_agent(tools)
        await tools.good("load_skill", agent_id=agent, skill_json=WEED)
        await burn(tools, agent, "one")
        await tools.good("delete_agent", agent_name="ann")
        assert (await tools.good("list_approvals"))["count"] == 0
        assert await tools.platform.backend.command("ZCARD", "cp:approvals") == 0


async def test_a_budget_of_an_agent_is_read_set_and_kept(redis_url: str, tmp_path: Path) -> None:
    async with library(redis_url, tmp_path) as tools:
        agent = await new_agent(tools)
        await tools.good("load_skill", agent_id=agent, skill_json=LEND)
        read = await tools.good("read_budget", agent_id=agent)
        assert read["limits"] == NO_LIMITS
        left = await tools.good("set_budget", agent_id=agent, tool_calls=1, **PERSON)
        assert left["left"]["tool_calls"] == 1
        find = {"agent_id": agent, "tool": "books:find", "arguments_json": {"title": "Emma"}}
        await tools.good("call_skill_tool", **find)
        spent = await tools.good("read_budget", agent_id=agent)
        assert (spent["used"]["tool_calls"], spent["left"]["tool_calls"]) == (1, 0)
        refused = await tools.call("call_skill_tool", **find)
        assert "budget" in str(refused["error"])
        await tools.good("set_budget", agent_id=agent, **PERSON)
        await tools.good("call_skill_tool", **find)
        for arguments in ({"agent_id": "x"}, {"workflow_id": "x"}):
            assert await tools.refused("read_budget", **arguments) in (
                "unknown_agent", "unknown_run",
            )  # fmt: skip
        assert await tools.refused("read_budget") == "bad_arguments"
        assert await tools.refused("set_budget", agent_id="x", **PERSON) == "unknown_agent"
        assert await tools.refused("set_budget", agent_id=agent, tool_calls=-1) == "bad_arguments"


async def test_an_agent_gets_no_new_budget_by_being_deleted_and_made_anew(
    redis_url: str, tmp_path: Path
) -> None:
    async with library(redis_url, tmp_path) as tools:
        agent = await new_agent(tools)
        await tools.good("load_skill", agent_id=agent, skill_json=LEND)
        await tools.good("set_budget", agent_id=agent, tool_calls=2, **PERSON)
        find = {"agent_id": agent, "tool": "books:find", "arguments_json": {"title": "Emma"}}
        for used in (1, 2):
            await tools.good("call_skill_tool", **find)
            await tools.good("delete_agent", agent_name="ann")
            made = await tools.good("create_agent", agent_name="ann", agent_id=agent)
            assert made["record"]["usage"]["tool_calls"] == used
            read = await tools.good("read_budget", agent_id=agent)
            assert (read["used"]["tool_calls"], read["left"]["tool_calls"]) == (used, 2 - used)
            assert made["loaded_skills"] == []
            await tools.good("load_skill", agent_id=agent, skill_json=LEND)
        assert await tools.refused("call_skill_tool", **find) == "DCF.BudgetExhausted"


async def start_run(tools: Wire) -> None:
    await tools.good("create_agent", agent_name="me", agent_id="me")
    await tools.good("load_skill", agent_id="me", skill_json=WEED)
    binding = {"skills": ["books.weed@1.0.0"], "tool_name": "burn"}
    document = {
        "workflow_id": "w",
        "workflow_name": "weeding",
        "version": "2.0.0",
        "budget": {"tool_calls": 7},
        "asl": {
            "StartAt": "Weed",
            "States": {"Weed": {"Type": "Task", "AgentBinding": binding, "End": True}},
        },
    }
    await tools.good("create_workflow_control_plane", workflow_json=document)


async def burn_in_run(tools: Wire) -> dict[str, Any]:
    """Take the state over and make the call under its lease."""
    leased = await tools.good(
        "acquire_state_lease", workflow_id="w", state="Weed", owner_agent_id="me"
    )
    return await tools.call(
        "call_skill_tool",
        agent_id="me",
        tool="books:burn",
        arguments_json={"title": "Emma"},
        workflow_id="w",
        state="Weed",
        lease_token=leased["lease"]["token"],
    )


async def test_a_call_in_a_run_waits_and_is_decided_on(redis_url: str, tmp_path: Path) -> None:
    async with library(redis_url, tmp_path) as tools:
        await start_run(tools)
        assert (await burn_in_run(tools))["error"] is not None
        (asked,) = (await tools.good("list_approvals", workflow_id="w"))["approvals"]
        assert (asked["state"], asked["tool_name"]) == ("Weed", "burn")
        assert (await tools.good("list_approvals"))["count"] == 1
        person = {"by": "operator", "workflow_id": "w", "digest": asked["digest"], **PERSON}
        person |= {name: asked[name] for name in ("state", "question")}
        assert (
            await tools.refused("decide_approval", decision="approve", **{**person, "by": "me"})
            == "not_an_approver"
        )
        decided = await tools.good("decide_approval", decision="approve", **person)
        assert decided["approval"]["digest"] == asked["digest"]
        assert (
            await tools.refused("decide_approval", decision="reject", **person)
            == "no_approval_pending"
        )
        assert (await burn_in_run(tools))["data"] == {"burnt": True}
        read = await tools.good("read_budget", workflow_id="w")
        assert read["limits"] == {**NO_LIMITS, "tool_calls": 7}
        assert (read["used"]["tool_calls"], read["left"]["tool_calls"]) == (1, 6)
        assert read["used"]["wall_time_s"] >= 0


async def test_complexity_is_judged_from_skills(redis_url: str, tmp_path: Path) -> None:
    async with library(redis_url, tmp_path) as tools:
        for skills in (LOOK_UP, json.dumps([LOOK_UP, LEND]), [LOOK_UP, LEND]):
            judged = await tools.good("compute_task_complexity", skills_json=skills)
            assert judged["skills_with_profiles"] == 1
            assert judged["recommended_tier"] in range(4)
            assert judged["recommended_model"] == "rehearsal"
        higher = await tools.good(
            "compute_task_complexity", skills_json=LOOK_UP, context_features={"horizon": 3}
        )
        assert higher["final_fcs"] > judged["final_fcs"]
        answer = await tools.call("compute_task_complexity", skills_json="books.none")
        assert answer["error"]
        assert answer["status"] is None
        assert (
            await tools.call(
                "compute_task_complexity", skills_json=LOOK_UP, context_features={"horizon": 9}
            )
        )["error"]
