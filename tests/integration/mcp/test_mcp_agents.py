"""Agents with a memory, through the tools: made, talked to, given skills, deleted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from integration.agents.wire_model import Body, Refuse, Say, WireModel, call, serving_model
from integration.mcp.platforms import Desk, desk_on
from integration.mcp.test_mcp_skill_calls import author
from integration.tools.conftest import serving_app

from control_plane import UnknownAgent
from dcf.mcp.agent_life import by_tool, remove_agent
from dcf.tools.stub import create_stub_app
from dcf.worker import WorkerAgents

PERSON = "a-secret-of-those-who-approve"
LOOK, PAY = "skill.bank.look@1.0.0", "skill.bank.pay@1.0.0"


@asynccontextmanager
async def bank_with_a_model(
    url: str, folder: Path, script: Any, **env: str
) -> AsyncIterator[tuple[Desk, WireModel]]:
    """A desk with the bank's skills, whose agents ask a model server on loopback."""
    generated = author(folder)
    stub = create_stub_app(generated / "stub" / "stub_config.json")
    async with serving_app(stub) as at, serving_model(script) as model:
        settings = {
            "DCF_STUB_URL": at,
            "DCF_MODEL": "openai:gpt-5",
            "OPENAI_API_KEY": "sk-test",
            "OPENAI_BASE_URL": model.url,
            **env,
        }
        async with desk_on(
            url, folder, generated=generated, env=settings, approval_token=PERSON
        ) as desk:
            yield desk, model


async def new_agent(desk: Desk, name: str = "clerk", **more: Any) -> str:
    return str((await desk.good("create_agent", agent_name=name, **more))["agent_id"])


async def answer_to(desk: Desk, message_id: str) -> dict[str, Any]:
    return await desk.call("read_agent_reply", message_id=message_id, wait_s=15)


async def test_an_agent_is_made_from_a_template_with_a_memory(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        made = await desk.good(
            "create_agent",
            agent_name="ann",
            template="companion",
            blocks_json={"task_context": "Nothing yet."},
            tags_json=["mine"],
        )
        assert made["settings"]["template"] == "companion"
        assert made["settings"]["role"] == "companion" and made["tags"] == ["mine"]
        blocks = await desk.good("list_memory_blocks", agent_id=made["agent_id"])
        assert {one["label"] for one in blocks["blocks"]} >= {"persona", "task_context"}
        unknown = await desk.call("create_agent", agent_name="bob", template="companian")
        assert str(unknown["error"]).startswith("unknown_template")
        assert "companion" in unknown["hint"]
        assert await desk.refused("resolve_agent_name_to_id", agent_name="bob") == "unknown_agent"


async def test_agents_that_live_elsewhere_are_listed_after_those_with_a_memory(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await desk.platform.agents.create("from-outside", "from-outside", tags=["external"])
        for name in ("b", "c", "a"):
            await new_agent(desk, name)
        names: list[str] = []
        after: Any = None
        for _ in range(9):
            page = await desk.good("list_agents", limit=2, after=after)
            names += [one["agent_name"] for one in page["agents"]]
            after = page["next_after"]
            if after is None:
                break
        assert names == ["a", "b", "c", "from-outside"]
        read = await desk.good("read_agent", agent_id="from-outside")
        assert read["settings"] is None
        for after in ("x", "9" * 5_000, "\u0663"):
            assert await desk.refused("list_agents", after=after) == "bad_arguments"


async def test_an_agent_is_talked_to_and_its_conversation_read(
    redis_url: str, tmp_path: Path
) -> None:
    script = [Say("Good day."), Say("You said good day.")]
    async with bank_with_a_model(redis_url, tmp_path, script) as (desk, model):
        agent = await new_agent(desk)
        first = await desk.good("send_message_to_agent", agent_id=agent, message="Hello.")
        assert (first["text"], first["usage"]["requests"]) == ("Good day.", 1)
        left = await desk.good(
            "send_message_to_agent_async", other_agent_id="clerk", message="What did I say?"
        )
        assert left["status"] == "kept" and left["agent_id"] == agent
        answered = await answer_to(desk, left["message_id"])
        assert (answered["status"], answered["text"]) == ("answered", "You said good day.")
        assert "Hello." in json.dumps(model.requests[-1])
        told = await desk.good("get_agent_messages", agent_id=agent, limit=3)
        assert [one["role"] for one in told["messages"]] == ["assistant", "user", "assistant"]
        older = await desk.good("get_agent_messages", agent_id=agent, before=told["next_before"])
        assert [one["content"] for one in older["messages"]] == ["Hello."]
        assert await desk.refused("read_agent_reply", message_id="x") == "memory_message_unknown"
        assert await desk.refused(
            "send_message_to_agent_async", other_agent_id="nobody", message="?"
        ) == ("unknown_agent")


async def test_an_answer_that_is_not_there_yet_is_waited_for_and_a_failure_is_told(
    redis_url: str, tmp_path: Path
) -> None:
    script = [Say("Late.", after_s=0.5), Refuse(400, "that is too much")]
    async with bank_with_a_model(redis_url, tmp_path, script) as (desk, _):
        agent = await new_agent(desk)
        leave = {"other_agent_id": agent, "message": "Well?"}
        left = await desk.good("send_message_to_agent_async", **leave)
        soon = await desk.good("read_agent_reply", message_id=left["message_id"])
        assert soon["status"] == "waiting"
        assert (await answer_to(desk, left["message_id"]))["text"] == "Late."
        left = await desk.good("send_message_to_agent_async", **leave)
        failed = await answer_to(desk, left["message_id"])
        assert "that is too much" in str(failed["error"])


def looks(body: Body) -> Say:
    """Calls what is offered of the bank once, then says what it got."""
    said = [one for one in body["messages"] if one["role"] == "tool"]
    offered = [one["function"]["name"] for one in body.get("tools", ())]
    if said:
        return Say(f"I got {said[-1]['content']}")
    if "look" in offered:
        return call("look", {"account": "7"})
    return call("pay", {"amount": 5}) if "pay" in offered else Say("I have no tool.")


async def test_what_an_agent_loaded_is_used_in_its_talks_and_letters_through_the_gate(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_with_a_model(redis_url, tmp_path, looks) as (desk, model):
        agent = await new_agent(desk)
        talk = {"agent_id": agent, "message": "How much?"}
        assert (await desk.good("send_message_to_agent", **talk))["text"] == "I have no tool."
        await desk.good("load_skill", agent_id=agent, skill_json=LOOK)
        blocks = await desk.good("list_memory_blocks", agent_id=agent)
        labels = [one["label"] for one in blocks["blocks"] if one["read_only"]]
        assert "skill_directives_bank.look_skill.bank.look@1.0.0" in labels
        said = await desk.good("send_message_to_agent", **talk)
        assert '"balance"' in said["text"] and said["usage"]["tool_calls"] == 1
        assert "Do what is asked." in json.dumps(model.requests[-1])
        history = await desk.good("read_history", agent_id=agent)
        decided = [one for one in history["events"] if "verdict" in json.dumps(one)]
        assert len(decided) == 1 and "bank" in json.dumps(decided)
        # A letter is answered in a turn of its own, with the same tools.
        other = await new_agent(desk, "other")
        await desk.good("load_skill", agent_id=other, skill_json=LOOK)
        left = await desk.good(
            "send_message_to_agent_async", other_agent_id=other, message="How much?"
        )
        assert '"balance"' in (await answer_to(desk, left["message_id"]))["text"]
        await desk.good("unload_skill", agent_id=other, manifest_id=LOOK)
        home = await desk.platform.home()
        assert await home.runtime.tools(other) == ()
        blocks = await desk.good("list_memory_blocks", agent_id=other)
        assert not [one for one in blocks["blocks"] if "directives" in one["label"]]


async def test_a_call_that_somebody_has_to_approve_waits_and_is_made_when_asked_again(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_with_a_model(redis_url, tmp_path, _pays) as (desk, _):
        agent = await new_agent(desk)
        await desk.good("load_skill", agent_id=agent, skill_json=PAY)
        talk = {"agent_id": agent, "message": "Pay 5."}
        first = await desk.good("send_message_to_agent", **talk)
        assert "DCF.ApprovalRequired" in first["text"]
        waiting = await desk.good("list_approvals", agent_id=agent)
        assert waiting["count"] == 1
        [asked] = waiting["approvals"]
        seen = {"approval_id": asked["id"], "digest": asked["digest"]}
        await desk.good(
            "decide_approval",
            agent_id=agent,
            **seen,
            decision="approve",
            by="operator",
            approval_token=PERSON,
        )
        second = await desk.good("send_message_to_agent", **talk)
        assert '"paid"' in second["text"]
        third = await desk.good("send_message_to_agent", **talk)
        assert "DCF.ApprovalRequired" in third["text"], "an approval is for one call"


def _pays(body: Body) -> Say:
    last = body["messages"][-1]
    if last["role"] == "tool":
        return Say(f"I got {last['content']}")
    return call("pay", {"amount": 5})


async def test_the_budget_of_an_agent_holds_in_its_talks(redis_url: str, tmp_path: Path) -> None:
    script = [Say("One.", usage=(300, 20)), Say("Two.")]
    async with bank_with_a_model(redis_url, tmp_path, script) as (desk, model):
        agent = await new_agent(desk)
        talk = {"agent_id": agent, "message": "Go on."}
        await desk.good("send_message_to_agent", **talk)
        used = (await desk.good("read_budget", agent_id=agent))["used"]
        assert (used["model_calls"], used["tokens"]) == (1, 320) and used["cost_usd"] > 0
        limit = {"agent_id": agent, "approval_token": PERSON}
        await desk.good("set_budget", **limit, model_calls=1)
        refused = await desk.call("send_message_to_agent", **talk)
        assert str(refused["error"]).startswith("DCF.BudgetExhausted: openai:gpt-5 was not asked")
        assert len(model.requests) == 1, "the model was not asked"
        await desk.good("set_budget", **limit, tokens=321)
        assert await desk.refused("send_message_to_agent", **talk) == "DCF.BudgetExhausted"
        await desk.good("set_budget", **limit)
        assert (await desk.good("send_message_to_agent", **talk))["text"] == "Two."


async def test_an_agent_is_named_by_id_or_name_and_nothing_given_is_lost(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        agent = await new_agent(desk, "ann", tags=["mine"])
        await new_agent(desk, "bob")
        assert [
            one["agent_name"] for one in (await desk.good("list_agents", tags=["mine"]))["agents"]
        ] == ["ann"]
        block = {"label": "plan", "value": "Rest."}
        assert (await desk.good("create_memory_block", agent_name="ann", **block))[
            "agent_id"
        ] == agent
        assert (await desk.good("read_agent", agent_id=agent, agent_name="ann"))[
            "agent_id"
        ] == agent
        both = {"agent_id": agent, "agent_name": "bob"}
        assert await desk.refused("read_agent", **both) == "bad_arguments"
        assert await desk.refused("read_agent", agent_name="eve") == "unknown_agent"
        lost = await desk.call("create_memory_block", label="more", text="Kept?", limit=20)
        assert {one["path"] for one in lost["problems"]} == {"/text", "/limit"}
        assert "value" in lost["problems"][0]["hint"]
        labels = {
            one["label"]
            for one in (await desk.good("list_memory_blocks", agent_id=agent))["blocks"]
        }
        assert "plan" in labels and "more" not in labels
        for talk in ("send_message_to_agent", "send_message_to_agent_async"):
            assert await desk.refused(talk, agent_name="ann", message=" ") == "bad_arguments"
        assert await desk.refused("delete_agent", agent_id="nobody") == "unknown_agent"
        assert (await desk.good("delete_agent", agent_id=agent))["deleted_agent_id"] == agent


async def test_a_model_that_there_cannot_be_is_refused_and_one_without_a_key_is_doubted(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        for model in ("opnai:gpt-5", "gpt-5", "openai:"):
            refused = await desk.call("create_agent", agent_name="ann", model=model)
            assert str(refused["error"]).startswith("bad_arguments")
            assert [one["path"] for one in refused["problems"]] == ["/model"]
        made = await desk.good("create_agent", agent_name="ann", model="openai:gpt-5")
        assert "OPENAI_API_KEY" in str(made["warnings"])


async def test_what_nobody_knows_the_price_of_did_not_cost_nothing(
    redis_url: str, tmp_path: Path
) -> None:
    env = {"DCF_MODEL": "openai:not-in-any-table"}
    async with bank_with_a_model(redis_url, tmp_path, [Say("One.", usage=(3, 2))], **env) as (
        desk,
        _,
    ):
        agent = await new_agent(desk)
        before = (await desk.good("read_budget", agent_id=agent))["used"]
        assert before["cost_usd"] == 0
        said = await desk.good("send_message_to_agent", agent_id=agent, message="Go on.")
        used = (await desk.good("read_budget", agent_id=agent))["used"]
        assert (said["usage"]["cost_usd"], used["cost_usd"], used["tokens"]) == (None, None, 5)


@pytest.mark.parametrize("stops", ["before", "after"])
async def test_a_deletion_that_stopped_half_way_is_finished_by_saying_it_again(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stops: str
) -> None:
    env = {"DCF_STUB_URL": "http://127.0.0.1:9"}
    async with desk_on(redis_url, tmp_path, generated=author(tmp_path), env=env) as desk:
        agent = await new_agent(desk)
        await desk.good("load_skill", agent_id=agent, skill_json=LOOK)
        home = await desk.platform.home()
        delete = home.memory.agents.delete

        async def dies(agent_id: str, **more: Any) -> None:
            if stops == "after":
                await delete(agent_id, **more)
            raise asyncio.CancelledError

        monkeypatch.setattr(type(home.memory.agents), "delete", lambda _, *a, **k: dies(*a, **k))
        with pytest.raises(asyncio.CancelledError):
            await remove_agent(desk.platform, agent, by=by_tool("test"))
        monkeypatch.undo()
        # What could act in its name went first.
        look = {"agent_id": agent, "tool": "bank:look", "arguments_json": {"account": "7"}}
        assert await desk.refused("call_skill_tool", **look) == "unknown_agent"
        if stops == "before":
            await desk.good("delete_agent", agent_name="clerk")
        with pytest.raises(UnknownAgent):
            await remove_agent(desk.platform, agent, by=by_tool("test"))
        assert (await desk.good("list_agents"))["agents"] == []
        await new_agent(desk)


async def test_agents_made_for_a_run_are_of_the_runtime_and_go_with_it(
    redis_url: str, tmp_path: Path
) -> None:
    flow = {
        "workflow_name": "bank",
        "workflow_id": "bank-1",
        "asl": {
            "StartAt": "A",
            "States": {
                "A": {"Type": "Task", "AgentBinding": {"skills": ["bank.look@1.0.0"]}, "End": True}
            },
        },
    }
    async with desk_on(redis_url, tmp_path, generated=author(tmp_path)) as desk:
        text = json.dumps(flow)
        made = await desk.good("create_worker_agents", workflow_json=text)
        agent = made["agents_map"]["A"]
        assert "does not exist yet" in made["warnings"][0]
        read = await desk.good("read_agent", agent_id=agent)
        assert read["settings"]["template"] == "worker"
        assert {"wf:bank-1", "state:A", "role:worker"} <= set(read["tags"])
        await desk.good(
            "create_workflow_control_plane",
            workflow_json=text,
            agents_map_json=made["agents_map"],
        )
        again = await desk.good("create_worker_agents", workflow_json=text)
        assert again["agents_map"] == made["agents_map"] and again["created"] == []
        own = ["wf:bank-1", "role:worker", "lifecycle:ephemeral"]
        await new_agent(desk, "of a worker of the run", tags=own)
        ended = await desk.good("finalize_workflow", workflow_id="bank-1")
        counted = {"to_delete": 2, "deleted": 2, "delete_errors": 0}
        assert ended["summary"]["agents"] == counted
        assert (await desk.good("list_agents"))["agents"] == []


async def test_agents_made_for_a_run_are_swept_with_their_records(
    redis_url: str, tmp_path: Path
) -> None:
    flow = {
        "workflow_name": "bank",
        "workflow_id": "bank-1",
        "asl": {
            "StartAt": "A",
            "States": {
                "A": {"Type": "Task", "AgentBinding": {"skills": ["bank.look@1.0.0"]}, "End": True}
            },
        },
    }
    async with desk_on(redis_url, tmp_path, generated=author(tmp_path)) as desk:
        text = json.dumps(flow)
        made = await desk.good("create_worker_agents", workflow_json=text)
        home = await desk.platform.home()
        records = desk.platform.agents
        workers = WorkerAgents(home.runtime, records=records, clock=lambda: 1 << 60)

        async def over(_: str) -> bool:
            return True

        assert await workers.sweep(over) == 1
        assert await records.get(made["agents_map"]["A"], ()) is None
        assert (await desk.good("list_agents"))["agents"] == []
        again = await desk.good("create_worker_agents", workflow_json=text)
        assert again["status"] == "created", "its name is free again"
