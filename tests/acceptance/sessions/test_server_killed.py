"""The server dies (SIGKILL) while somebody talks with the conductor in it: another goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from support_desk import Desk, good, open_session, until

SESSION: dict[str, Any] = {"session_id": "killed-1"}
TURN: dict[str, Any] = {
    "message": "- Sort the ticket ticket_id=TCK-103\n"
    "- Find out where the parcel is order_id=ORD-1010\n"
    "- then Hand it to people skill:support.escalate_ticket ticket_id=TCK-103 category=account",
    "request_id": "q",
    **SESSION,
}


async def talk(url: str) -> None:
    async with Client(f"{url}/conductor") as client:
        await good(client, "send_session_message", wait_s=60, **TURN)


@pytest.mark.timeout(120)
async def test_a_turn_goes_on_in_another_server_and_nothing_is_done_twice(desk: Desk) -> None:
    url = await asyncio.to_thread(desk.serve)
    victim = desk.server
    async with desk.client("conductor") as conductor:
        await open_session(conductor, "killed-1", {"fay": "tickets", "gus": "parcels"})
        talking = asyncio.create_task(talk(url))
        begun = await until(
            conductor, "list_session_tasks", lambda answer: answer["tasks"], **SESSION
        )
        victim.kill()
        victim.wait()
        # It has no answer, and need not hear of that.
        await asyncio.wait([talking], timeout=5)
        talking.cancel()
        [unanswered] = await asyncio.gather(talking, return_exceptions=True)
        assert isinstance(unanswered, BaseException)
        told = await good(conductor, "send_session_message", wait_s=60, **TURN)
        assert "All 3 tasks are done." in told["text"] and told["open_tasks"] == []
        tasks = (await good(conductor, "list_session_tasks", **SESSION))["tasks"]
        assert [task["task_id"] for task in begun["tasks"]] == [task["task_id"] for task in tasks]
        assert [(task["status"], task["attempts"]) for task in tasks] == [("succeeded", 1)] * 3
        there = await good(conductor, "list_session_companions", **SESSION)
        assert there["count"] == 2 and sum(one["succeeded"] for one in there["companions"]) == 3
        await good(conductor, "finalize_session", **SESSION)
        archived = await good(conductor, "archive_session", **SESSION)
    transcript = (Path(archived["path"]) / "transcript.md").read_text()
    assert transcript.count("Sort the ticket ticket_id=TCK-103") == 1
    assert transcript.count("All 3 tasks are done.") == 1
