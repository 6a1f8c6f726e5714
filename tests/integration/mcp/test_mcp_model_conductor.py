"""A conductor with a model: an agent that is talked to, whose turns have the tools of sessions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from integration.mcp.platforms import Desk, desk_on
from local_world import LocalWorld, local_world
from runtime_world import Calls, Says

from dcf.agents import TaskError
from dcf.mcp import conductor_for
from dcf.mcp.model_conductor import ModelConductor
from dcf.mcp.observation_view import told_in_sessions
from dcf.memory import Actor, Filter, NewAgent, NewObservation, Origin
from dcf.sessions.conductor import Conductor

ME = "boss"


@asynccontextmanager
async def conducted(url: str, folder: Path) -> AsyncIterator[tuple[Desk, LocalWorld]]:
    """A session whose conductor is an agent with a scripted model."""
    (folder / "agents").mkdir()
    async with desk_on(url, folder) as desk, local_world(folder / "agents") as world:
        await desk.good("create_session_context", session_id="s1", conductor_id=ME, objective="x")
        await desk.good(
            "create_companion", session_id="s1", conductor_id=ME, companion_name="a", external=True
        )
        await desk.receive("companion-a")
        yield desk, world


async def work(desk: Desk, **said: Any) -> str:
    """The companion does its next task; the id of the task."""
    answer = await desk.receive("companion-a", wait_s=5)
    task = answer["task"]
    await desk.good(
        "report_task_result",
        companion_id="companion-a",
        task_id=task["task_id"],
        lease_token=task["lease_token"],
        **{"status": "succeeded", "summary": "it is 7", **said},
    )
    return str(task["task_id"])


async def test_it_delegates_and_says_what_came_of_it(redis_url: str, tmp_path: Path) -> None:
    async with conducted(redis_url, tmp_path) as (desk, world):
        conductor = ModelConductor(desk.platform, ME, runtime=world.runtime)
        world.script(
            Calls("delegate_task", {"task_description": "count", "session_id": "another"}),
            Calls("delegate_task", {"task_description": "weigh", "after_json": "[]"}),
            Says("Two are at it."),
        )
        reply = await conductor.turn("s1", "count and weigh", request_id="r1")
        assert (reply.text, len(reply.task_ids), reply.is_last) == ("Two are at it.", 2, False)
        offered = json.loads(world.prompts()[0])[2]
        assert {"delegate_task", "list_session_tasks", "get_skillset"} <= set(offered)
        assert not {"create_session_context", "send_session_message"} & set(offered)
        # The same request again asks nobody.
        again = await ModelConductor(desk.platform, ME, runtime=world.runtime).turn(
            "s1", "count and weigh", request_id="r1"
        )
        assert (again.text, again.task_ids) == (reply.text, reply.task_ids)
        assert await conductor.attend("s1") == []
        assert await conductor.answer("s1", "r1") is None
        first = await work(desk)
        # The other one is still being done: it is told of both together.
        assert await conductor.attend("s1") == []
        await work(desk, summary="it is heavy")
        world.script(
            Calls("read_task_result", {"task_id": first}),
            Says("Seven, and heavy."),
        )
        [said] = await conductor.attend("s1")
        assert (said.request, said.text, said.is_last) == ("r1", "Seven, and heavy.", True)
        assert "it is heavy" in world.prompts()[-2]
        assert await conductor.attend("s1") == []
        other = ModelConductor(desk.platform, ME, runtime=world.runtime)
        assert await other.attend("s1") == []
        last = await other.answer("s1", "r1")
        assert last is not None and last.text == "Seven, and heavy."
        assert world.left() == 0


async def test_a_failure_is_told_at_once_and_its_retry_serves_the_request(
    redis_url: str, tmp_path: Path
) -> None:
    async with conducted(redis_url, tmp_path) as (desk, world):
        conductor = ModelConductor(desk.platform, ME, runtime=world.runtime)
        world.script(
            Calls("delegate_task", {"task_description": "one"}),
            Calls("delegate_task", {"task_description": "two"}),
            Says("On it."),
        )
        await conductor.turn("s1", "do it", request_id="r1")
        await work(desk, status="failed", error_code="busy", error_message="come back")
        world.script(Calls("delegate_task", {"task_description": "one, again"}), Says("Once more."))
        [said] = await conductor.attend("s1")
        assert (said.text, len(said.task_ids), said.is_last) == ("Once more.", 3, False)
        await work(desk)
        await work(desk)
        world.script(Says("Done."))
        [said] = await conductor.attend("s1")
        assert (said.text, said.is_last) == ("Done.", True)


async def test_a_turn_that_was_interrupted_delegates_nothing_twice(
    redis_url: str, tmp_path: Path
) -> None:
    async with conducted(redis_url, tmp_path) as (desk, world):
        order = Calls("delegate_task", {"task_description": "count"})
        world.script(order, RuntimeError("the process dies"))
        conductor = ModelConductor(desk.platform, ME, runtime=world.runtime)
        with pytest.raises((TaskError, RuntimeError)):
            await conductor.turn("s1", "count", request_id="r1")
        world.script(order, Says("It is under way."))
        reply = await ModelConductor(desk.platform, ME, runtime=world.runtime).turn(
            "s1", "count", request_id="r1"
        )
        assert (reply.text, len(reply.task_ids)) == ("It is under way.", 1)
        assert "interrupted" in world.prompts()[-2]
        rows = await desk.good("list_session_tasks", session_id="s1")
        assert rows["count"] == 1


async def test_an_answer_that_was_given_and_not_heard_is_not_asked_for_again(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with conducted(redis_url, tmp_path) as (desk, world):
        conductor = ModelConductor(desk.platform, ME, runtime=world.runtime)
        say = desk.platform.sessions.say

        async def dies(session_id: str, type_: str, **fields: Any) -> None:
            if fields.get("role") == "conductor":
                raise ConnectionError
            await say(session_id, type_, **fields)

        monkeypatch.setattr(desk.platform.sessions, "say", dies)
        world.script(Says("Hello."))
        with pytest.raises(ConnectionError):
            await conductor.turn("s1", "hello", request_id="r1")
        monkeypatch.undo()
        other = ModelConductor(desk.platform, ME, runtime=world.runtime)
        assert (await other.turn("s1", "hello", request_id="r1")).text == "Hello."


async def test_it_makes_no_companions_for_clients_whose_tokens_it_would_remember(
    redis_url: str, tmp_path: Path
) -> None:
    async with conducted(redis_url, tmp_path) as (desk, world):
        conductor = ModelConductor(desk.platform, ME, runtime=world.runtime)
        made = Calls("create_companion", {"companion_name": "eva", "external": True})
        world.script(made, Says("Eva is here."))
        await conductor.turn("s1", "hire eva", request_id="r1")
        session = await desk.platform.sessions.get("s1")
        assert session.companions["companion-eva"].external is False
        assert "companion_token" not in world.prompts()[-1]


async def test_a_session_that_ends_is_summed_up_once(redis_url: str, tmp_path: Path) -> None:
    async with conducted(redis_url, tmp_path) as (desk, world):
        conductor = ModelConductor(desk.platform, ME, runtime=world.runtime)
        world.script(Says("Nothing was done."))
        assert (await conductor.finalize("s1")).text == "Nothing was done."
        assert (await conductor.finalize("s1", cancel=True)).text == "Nothing was done."
        assert (await desk.good("read_session", session_id="s1"))["state"] == "completed"


async def test_who_conducts_is_said_by_the_settings(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await desk.good("create_session_context", session_id="s1", conductor_id=ME)
        assert isinstance(await conductor_for(desk.platform, "s1"), Conductor)
    (tmp_path / "other").mkdir()
    env = {"DCF_MODEL_CONDUCTOR": "openai:gpt-5-mini", "OPENAI_API_KEY": "none"}
    async with desk_on(redis_url, tmp_path / "other", env=env) as desk:
        found = await conductor_for(desk.platform, "s1")
        assert isinstance(found, ModelConductor)
        assert await conductor_for(desk.platform, "s1") is found


async def test_a_message_to_the_session_goes_to_it_and_waits_for_the_results(
    redis_url: str, tmp_path: Path
) -> None:
    async with conducted(redis_url, tmp_path) as (desk, world):
        home = await desk.platform.home()
        await home.runtime.create(NewAgent(ME, model="openai:gpt-5-mini"), by=Actor("user", "me"))
        desk.platform.conductors[ME] = ModelConductor(desk.platform, ME, runtime=world.runtime)
        world.script(
            Calls("delegate_task", {"task_description": "count"}), Says("On it."), Says("Seven.")
        )
        said = {"session_id": "s1", "message": "count", "request_id": "r1"}
        waiting = asyncio.create_task(desk.good("send_session_message", **said, wait_s=20))
        done = await work(desk)
        answer = await waiting
        assert answer["text"] == "On it.\n\nSeven."
        assert (answer["task_ids"], answer["open_tasks"]) == ([done], [])
        assert [row["result"] for row in answer["rows"]] == ["it is 7"]
        again = await desk.good("send_session_message", **said)
        assert again["text"] == "Seven."
        nothing = await desk.good("send_session_message", session_id="s1", message="")
        assert nothing["status"] == "nothing_new"


async def test_two_processes_do_not_speak_for_it_at_the_same_time(
    redis_url: str, tmp_path: Path
) -> None:
    async with conducted(redis_url, tmp_path) as (desk, world):
        both = [ModelConductor(desk.platform, ME, runtime=world.runtime) for _ in range(2)]
        world.script(Calls("delegate_task", {"task_description": "count"}), Says("On it."))
        replies = await asyncio.gather(*(one.turn("s1", "count", request_id="r1") for one in both))
        assert [reply.text for reply in replies] == ["On it.", "On it."]
        await work(desk)
        world.script(Says("Seven."))
        told = await asyncio.gather(*(one.attend("s1") for one in both))
        assert [reply.text for said in told for reply in said] == ["Seven."]
        assert world.left() == 0


async def test_the_session_is_analysed_whether_or_not_the_agent_thinks_of_it(
    redis_url: str, tmp_path: Path
) -> None:
    async with conducted(redis_url, tmp_path) as (desk, world):
        conductor = ModelConductor(desk.platform, ME, runtime=world.runtime)
        orders = [Calls("delegate_task", {"task_description": f"task {n}"}) for n in range(4)]
        world.script(*orders, Says("On it."))
        await conductor.turn("s1", "four things", request_id="r1")
        for _ in orders:
            await work(desk)
        world.script(Says("Done."))
        assert [one.is_last for one in await conductor.attend("s1")] == [True]
        assert (await desk.platform.sessions.get("s1")).head.analysed == 4


FAILED = NewObservation(
    type="discovery",
    title="refund: billing failed with Orders.NotPaid",
    origin=Origin("session", "s0", state="t"),
    workflow="task:refund",
    note="customer 4711",
)


async def test_a_session_starts_with_what_tasks_of_sessions_showed_in_its_project(
    redis_url: str, tmp_path: Path
) -> None:
    async with conducted(redis_url, tmp_path) as (desk, world):
        here, memory = str(tmp_path), (await desk.platform.home()).memory
        conductor = ModelConductor(desk.platform, ME, runtime=world.runtime)
        world.script(Says("Hello."))
        await conductor.turn("s1", "hello", request_id="r1")
        assert "earlier_observations" not in world.prompts()[-1], "there is nothing to tell"
        told = [
            replace(FAILED, project=here),
            replace(FAILED, project="/elsewhere", title="refund: elsewhere"),
            replace(FAILED, project=here, workflow="orders", title="Pay ended the run with Busy"),
        ]
        kept = await memory.observations.add(*told, by=Actor("user", "ada"))
        world.script(Says("Well."))
        await conductor.turn("s1", "and now?", request_id="r2")
        asked = world.prompts()[-1]
        assert FAILED.title in asked and "no instruction" in asked
        assert not [other for other in ("elsewhere", "Pay ended", "4711") if other in asked]
        which = Filter(ids=[kept[0].id])
        await memory.observations.forget(which, by=Actor("user", "ada"))
        world.script(Says("Gone."))
        await conductor.turn("s1", "and then?", request_id="r3")
        assert FAILED.title not in world.prompts()[-1], "what is forgotten is told no more"


async def test_a_session_is_told_nothing_where_that_is_off(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path, env={"DCF_CONTEXT": "off"}) as desk:
        memory = (await desk.platform.home()).memory
        told = replace(FAILED, project=str(tmp_path))
        await memory.observations.add(told, by=Actor("user", "ada"))
        assert await told_in_sessions(desk.platform) == ""
