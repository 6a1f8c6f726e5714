"""Turns of a conductor with a model whose processes die, or are held up until others go on."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from pathlib import Path
from signal import SIGKILL

import pytest
from commands import python
from integration.mcp import mortal_conductor
from integration.mcp.mortal_conductor import ASKED, LINES, ME, conducting
from integration.mcp.platforms import Desk
from runtime_world import Calls, Says

from control_plane import keys, read_record_history, turns

KILLED = [f"s{number}" for number in range(1, 11)]


async def begin(desk: Desk, *sessions: str) -> None:
    for session in sessions:
        await desk.good(
            "create_session_context", session_id=session, conductor_id=ME, objective="x"
        )


async def conduct_and_die(redis_url: str, folder: Path, *sessions: str) -> dict[str, int]:
    tests = Path(__file__).parents[2]
    process = await asyncio.create_subprocess_exec(
        *(python(), mortal_conductor.__file__, redis_url, str(folder), *sessions),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tests.parent), str(tests)])},
    )
    out, _ = await process.communicate()
    codes: dict[str, int] = json.loads(out)
    return codes


async def said_in(desk: Desk, session: str) -> Counter[tuple[str, str]]:
    """How often who said what."""
    records = desk.platform.sessions.records
    events = [one.event async for one in read_record_history(records, session)]
    return Counter(
        (str(event["role"]), str(event["text"])) for event in events if event["type"] == "Said"
    )


@pytest.mark.timeout(120)
async def test_a_turn_that_was_killed_is_taken_again_and_does_nothing_twice(
    redis_url: str, tmp_path: Path
) -> None:
    async with conducting(redis_url, tmp_path) as (conductor, world, desk):
        await begin(desk, "s0", *KILLED)
        codes = await conduct_and_die(redis_url, tmp_path, "s0", *KILLED)
        assert codes == {"s0": 0, **dict.fromkeys(KILLED, -SIGKILL)}
        left = set()
        for session in KILLED:
            before = await desk.platform.sessions.get(session)
            left.add(len(before.tasks))
            # As if it had been long ago.
            await desk.platform.backend.command("DEL", keys.turn(session))
            world.script(*LINES)
            reply = await conductor.turn(session, ASKED, request_id="r1")
            world.forget()
            again = await conductor.turn(session, ASKED, request_id="r1")
            assert (reply.text, again) == (LINES[-1].text, reply)
            after = await desk.platform.sessions.get(session)
            assert set(before.tasks) <= set(after.tasks) == set(reply.task_ids)
            assert sorted(task.description for task in after.tasks.values()) == ["count", "weigh"]
            assert await said_in(desk, session) == {
                ("user", ASKED): 1, ("conductor", LINES[-1].text): 1
            }  # fmt: skip
        # Some died before anything was delegated, some between and some after.
        assert left == {0, 1, 2}


async def test_who_was_held_up_until_another_went_on_writes_nothing_more(
    redis_url: str, tmp_path: Path
) -> None:
    async with conducting(redis_url, tmp_path) as (slow, world, desk):
        await begin(desk, "s1")
        backend = desk.platform.backend
        asked, goes_on = asyncio.Event(), asyncio.Event()

        async def held_up(_prompt: str) -> Calls:
            asked.set()
            await goes_on.wait()
            return Calls("delegate_task", {"task_description": "too late"})

        world.script(held_up, Says("Here I am."))
        one = asyncio.create_task(slow.turn("s1", ASKED, request_id="r1"))
        await asked.wait()
        # Its time went by, and another process has the turn.
        await backend.command("DEL", keys.turn("s1"))
        assert await turns.take(backend, "s1", "another")
        goes_on.set()
        # It takes the turn again when the other is done.
        await asyncio.sleep(0)
        assert await turns.leave(backend, "s1", "another")
        assert (await one).text == "Here I am."
        assert await said_in(desk, "s1") == {("user", ASKED): 1, ("conductor", "Here I am."): 1}
        assert (await desk.platform.sessions.get("s1")).tasks == {}
