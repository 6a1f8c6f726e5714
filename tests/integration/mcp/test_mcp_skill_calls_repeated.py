"""Calls from outside, said again after a release, a crash or an approval: what they buy."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from integration.mcp.platforms import Desk
from integration.mcp.test_mcp_skill_calls import LOOK, PAY, SECRET, bank_on, keys_at, lease, start

TOKEN = "my-own-token-for-everything"
SKILLS = ("bank.look@1.0.0", "bank.pay@1.0.0")


def look(account: str) -> dict[str, str]:
    return {"tool": "bank:look", "arguments_json": json.dumps({"account": account})}


async def begin(desk: Desk, *, retry: bool = False, **binding: Any) -> None:
    """Start a run whose state A may use both skills, which the agent ``me`` has loaded."""
    work: dict[str, Any] = {"Type": "Task", "End": True}
    work["AgentBinding"] = {"skills": list(SKILLS), **binding}
    if retry:
        retrier = {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 3}
        work["Retry"] = [retrier]
    flow = {"StartAt": "A", "States": {"A": work}}
    await desk.good("create_workflow_control_plane", workflow_json=json.dumps(flow), run_id="r")


async def equipped(desk: Desk, **more: Any) -> dict[str, Any]:
    """A lease of ``me``, who has loaded the skills."""
    under = await lease(desk, **more)
    for skill in SKILLS:
        await desk.good("load_skill", skill_json=skill, agent_id="me")
    return under


async def give_back(desk: Desk, under: dict[str, Any]) -> None:
    place = {name: value for name, value in under.items() if name != "agent_id"}
    await desk.good("release_state_lease", **place)


async def approve(desk: Desk) -> None:
    (asked,) = (await desk.good("list_approvals", workflow_id="r"))["approvals"]
    answer = {"decision": "approve", "by": "operator", "digest": asked["digest"]}
    answer |= {name: asked[name] for name in ("state", "question")}
    answer["approval_token"] = SECRET
    await desk.good("decide_approval", workflow_id="r", **answer)


async def test_an_approval_pays_once_however_often_the_lease_is_given_back(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        await begin(desk)
        assert await desk.refused("call_skill_tool", **await equipped(desk), **PAY) == (
            "approval_required"
        )
        await approve(desk)
        for looks in range(3):
            under = await lease(desk)
            for account in range(looks):
                await desk.good("call_skill_tool", **under, **look(str(account)))
            await desk.good("call_skill_tool", **under, **PAY)
            await give_back(desk, under)
        under = await lease(desk)
        await desk.good("call_skill_tool", **under, **PAY)
        assert await desk.refused("call_skill_tool", **under, **PAY) == "approval_required"
        keys = await keys_at(stub)
    assert keys.count("r/A/1/1/0") == 4, "the same key each time: the bank can tell"
    assert set(keys) == {"r/A/1/1/0", "r/A/1/1/1", "r/A/1/1/2"}


async def test_an_approval_pays_once_when_a_lease_ends_by_itself(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        await begin(desk)
        await desk.refused("call_skill_tool", **await equipped(desk), **PAY)
        await approve(desk)
        under = await lease(desk, lease_ttl_s=1)
        await desk.good("call_skill_tool", **under, **PAY)
        await asyncio.sleep(1.3)
        await desk.good("notify_next_worker_agent", workflow_id="r")
        under = await lease(desk)
        await desk.good("call_skill_tool", **under, **LOOK)
        await desk.good("call_skill_tool", **under, **PAY)
        assert await keys_at(stub) == ["r/A/1/1/0", "r/A/1/1/1", "r/A/1/1/0"]


async def test_the_budget_of_a_try_holds_over_all_its_leases(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        await begin(desk, budget={"tool_calls": 2})
        under = await equipped(desk)
        for number in range(3):
            for account in "xy":
                answer = await desk.call("call_skill_tool", **under, **look(f"{number}{account}"))
                assert (answer["error"] is None) == (number == 0)
                if number:
                    assert "2 of 2 tool calls are made" in answer["error"]
            await give_back(desk, under)
            under = await lease(desk)
        await desk.good("call_skill_tool", **under, **look("0y"))
        assert await keys_at(stub) == ["r/A/1/1/0", "r/A/1/1/1", "r/A/1/1/1"]


async def test_calls_at_the_same_time_keep_the_budget_and_have_keys_of_their_own(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        await begin(desk, budget={"tool_calls": 3})
        under = await equipped(desk)
        answers = await asyncio.gather(
            *(desk.call("call_skill_tool", **under, **look(str(n))) for n in range(8))
        )
        assert sum(answer["error"] is None for answer in answers) == 3
        refused = [answer["error"] for answer in answers if answer["error"]]
        assert all("3 of 3 tool calls are made" in error for error in refused)
        assert sorted(await keys_at(stub)) == [f"r/A/1/1/{n}" for n in range(3)]


async def test_a_question_is_put_when_no_call_is_open_and_the_journal_is_whole(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        await begin(desk)
        under = await equipped(desk)
        answers = await asyncio.gather(
            *(desk.call("call_skill_tool", **under, **look(str(n))) for n in range(4)),
            desk.call("call_skill_tool", **under, **PAY),
        )
        codes = {(answer["error"] or "ok").partition(":")[0] for answer in answers}
        assert codes <= {"ok", "calls_open", "approval_required", "no_lease", "lease_lost"}
        done = [n for n, answer in enumerate(answers[:-1]) if answer["error"] is None]
        if not answers[-1]["error"].startswith("approval_required"):
            await desk.refused("call_skill_tool", **under, **PAY)
        await approve(desk)
        under = await lease(desk)
        before = await keys_at(stub)
        for number in done:
            await desk.good("call_skill_tool", **under, **look(str(number)))
        assert await keys_at(stub) == before, "all that was answered is answered from the journal"


async def test_the_same_call_id_is_the_same_call(redis_url: str, tmp_path: Path) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        await begin(desk, budget={"tool_calls": 2})
        under = await equipped(desk)
        agent = (await desk.good("create_agent", agent_name="clerk"))["agent_id"]
        await desk.good("load_skill", skill_json=SKILLS[0], agent_id=agent)
        for caller in (under, {"agent_id": agent}):
            first = await desk.good("call_skill_tool", **caller, call_id="c", **look("a"))
            again = await desk.good("call_skill_tool", **caller, call_id="c", **look("a"))
            assert (again["data"], again["call_id"]) == (first["data"], "c")
            other = await desk.refused("call_skill_tool", **caller, call_id="c", **look("b"))
            assert other == "bad_arguments"
            await desk.good("call_skill_tool", **caller, call_id="d", **look("a"))
        keys = await keys_at(stub)
        budget = await desk.good("read_budget", agent_id=agent)
    assert keys == ["r/A/1/1/0", "r/A/1/1/1", f"agent/{agent}/c/0", f"agent/{agent}/d/0"]
    assert budget["used"]["tool_calls"] == 2


async def test_one_call_id_at_the_same_time_is_made_once(redis_url: str, tmp_path: Path) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        await begin(desk)
        under = await equipped(desk)
        for caller in (under, {"agent_id": "me"}):
            answers = await asyncio.gather(
                *(desk.call("call_skill_tool", **caller, call_id="c", **LOOK) for _ in range(5))
            )
            wrong = [answer["error"] for answer in answers if answer["error"]]
            assert all(error.startswith("calls_open") for error in wrong)
        keys = await keys_at(stub)
    assert len(set(keys)) == len(keys) == 2


async def test_only_the_owner_of_a_lease_calls_under_it(redis_url: str, tmp_path: Path) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, stub):
        await begin(desk)
        under = await lease(desk)
        other = (await desk.good("create_agent", agent_name="other"))["agent_id"]
        await desk.good("load_skill", skill_json=SKILLS[0], agent_id=other)
        call = {**under, "agent_id": other, **LOOK}
        assert await desk.refused("call_skill_tool", **call) == "owner_mismatch"
        assert await keys_at(stub) == []


async def test_one_token_for_every_lease_finishes_each_try(redis_url: str, tmp_path: Path) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, _):
        await begin(desk, retry=True)
        finish = {"workflow_id": "r", "state": "A", "lease_token": TOKEN}
        for _ in range(2):
            under = await lease(desk, lease_token=TOKEN)
            await give_back(desk, under)
            read = await desk.good("read_workflow_control_plane", workflow_id="r")
            assert read["states"]["A"]["status"] == "ready"
        await lease(desk, lease_token=TOKEN)
        update = "update_workflow_control_plane"
        await desk.good(update, **finish, new_status="failed", error_message="x")
        await asyncio.sleep(1.3)
        under = await equipped(desk, lease_token=TOKEN)
        assert await desk.refused("call_skill_tool", **under, **PAY) == "approval_required"
        await approve(desk)
        under = await lease(desk, lease_token=TOKEN)
        await desk.good("call_skill_tool", **under, **PAY)
        done = await desk.good(update, **finish, new_status="done", output_json='{"v": 1}')
        assert done["run_status"] == "succeeded"
        assert done["updated_state"]["status"] == "done"


async def test_a_lease_that_ended_is_not_given_out_again_for_its_token(
    redis_url: str, tmp_path: Path
) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, _):
        await start(desk, "bank.look@1.0.0")
        await lease(desk, lease_token=TOKEN, lease_ttl_s=1)
        await asyncio.sleep(1.3)
        await lease(desk, lease_token=TOKEN)
        place = {"workflow_id": "r", "state": "A", "lease_token": TOKEN}
        await desk.good("renew_state_lease", **place)


async def test_the_policy_says_who_is_asked_before_a_task(redis_url: str, tmp_path: Path) -> None:
    async with bank_on(redis_url, tmp_path) as (desk, _):
        people = {"kind": "person", "people": ["ana", "ben"]}
        policy = {"apiVersion": "policy/v1", "kind": "ToolPolicy"}
        policy["approvers"] = {"head": people, "operator": {**people, "people": ["ana"]}}  # type: ignore[assignment]
        (tmp_path / "generated" / "policy.json").write_text(json.dumps(policy))
        for run, (named, asked) in enumerate(
            [([], ("operator", ["ana"])), (["head"], ("head", ["ana", "ben"]))]
        ):
            wanted = {"required": True, **({"approvers": named} if named else {})}
            work = {"Type": "Task", "AgentBinding": {"skills": [], "approval": wanted}, "End": True}
            flow = json.dumps({"StartAt": "A", "States": {"A": work}})
            name = f"r{run}"
            await desk.good("create_workflow_control_plane", workflow_json=flow, run_id=name)
            place = {"workflow_id": name, "state": "A", "owner_agent_id": "me"}
            assert await desk.refused("acquire_state_lease", **place) == "not_ready"
            (found,) = (await desk.good("list_approvals", workflow_id=name))["approvals"]
            assert (found["approver"], found["people"]) == asked
            wrong = {"workflow_id": name, "decision": "approve", "by": asked[0]}
            wrong |= {name: found[name] for name in ("state", "digest", "question")}
            wrong["approval_token"] = SECRET
            assert await desk.refused("decide_approval", **wrong) == "not_an_approver"
