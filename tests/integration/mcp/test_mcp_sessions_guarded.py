"""Sessions over MCP: who may do what in them, and what is left of companions that are gone."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from integration.mcp.platforms import Desk, desk_on
from integration.tools.conftest import serving_app

from control_plane import keys, read_record_history
from dcf.mcp.http_app import create_app
from dcf.sessions import Order, agent_of
from dcf.tools.serving import Guard

ME = "boss"
A = "companion-a"
OURS = {"session_id": "s1", "conductor_id": ME}


async def session_on(desk: Desk, *names: str) -> None:
    """Session s1, in which external companions are served."""
    await desk.good("create_session_context", **OURS, objective="help")
    for name in names:
        await desk.good("create_companion", **OURS, companion_name=name, external=True)
        await desk.receive(f"companion-{name}")


async def delegated(desk: Desk, task_id: str, **more: Any) -> dict[str, Any]:
    """The task as its companion has it."""
    await desk.good("delegate_task", **OURS, task_description="do it", task_id=task_id, **more)
    task: dict[str, Any] = (await desk.receive(A, wait_s=5))["task"]
    return task


async def reported(desk: Desk, task: dict[str, Any]) -> None:
    await desk.good(
        "report_task_result",
        companion_id=A,
        task_id=task["task_id"],
        lease_token=task["lease_token"],
        status="succeeded",
        summary="done",
    )


async def test_a_task_is_only_for_who_shows_the_token_of_its_companion(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk, "a", "b")
        task = await delegated(desk, "t", companion_id=A)
        here = {"session_id": "s1", "companion_id": A}
        assert await desk.refused("receive_task", **here) == "bad_arguments"
        for wrong in ("", "x", desk.tokens["companion-b"], task["lease_token"], "\ud800"):
            refused = await desk.call("receive_task", **here, companion_token=wrong)
            assert refused["error"].startswith(("wrong_companion_token", "bad_arguments"))
            assert desk.tokens[A] not in json.dumps(refused)
        # The client died and asks again.
        assert (await desk.receive(A))["task"] == task


async def test_the_token_of_a_companion_is_told_once(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await desk.good("create_session_context", **OURS, objective="help")
        new = {**OURS, "companion_name": "a", "external": True}
        first = await desk.good("create_companion", **new)
        # The answer to the first call was lost: there is another token, and the first is none.
        again = await desk.good("create_companion", **new)
        assert again["status"] == "exists"
        here = {"session_id": "s1", "companion_id": A}
        lost = first["companion_token"]
        assert await desk.refused("receive_task", **here, companion_token=lost) == (
            "wrong_companion_token"
        )
        await desk.receive(A)
        # Somebody serves it: nobody takes its place.
        late = await desk.good("create_companion", **new)
        assert (late["status"], late["companion_token"]) == ("exists", None)
        assert "was shown before" in late["warnings"][0]
        await desk.receive(A)
        ours = await desk.good("create_companion", **OURS, companion_name="b")
        assert "companion_token" not in ours


async def test_the_token_of_a_companion_stands_nowhere(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk, "a")
        token = desk.tokens[A]
        await reported(desk, await delegated(desk, "t"))
        shown = [
            await desk.good("read_session", session_id="s1"),
            await desk.good("list_session_companions", session_id="s1"),
            await desk.good("finalize_session", session_id="s1"),
            await desk.good("archive_session", session_id="s1"),
        ]
        records = desk.platform.sessions.records
        events = [one.event async for one in read_record_history(records, "s1")]
        record = await desk.platform.backend.command("JSON.GET", records.keys("s1").document)
        outbox = await desk.platform.backend.command("XRANGE", keys.OUTBOX_RECORDS, "-", "+")
        place = Path(shown[-1]["path"])
    files = [one.read_text() for one in place.rglob("*") if one.is_file()]
    for text in (json.dumps(shown), json.dumps(events), record, str(outbox), *files):
        assert token not in text
    assert not any("token_digest" in text for text in files)


async def test_who_does_not_conduct_the_session_changes_nothing_in_it(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk, "a")
        await delegated(desk, "t", companion_id=A)
        before = await desk.good("read_session", session_id="s1")
        calls: list[tuple[str, dict[str, Any]]] = [
            ("update_session_context", {"state": "paused"}),
            ("update_session_context", {"announcement": "hello"}),
            ("update_session_context", {"state": "abandoned"}),
            ("cancel_task", {"task_id": "t"}),
            ("redelegate_task", {"task_id": "t"}),
            ("dismiss_companion", {"companion_id": A}),
            ("finalize_session", {"cancel": True}),
            ("archive_session", {}),
            ("send_session_message", {"message": "do this"}),
            ("create_companion", {}),
            ("delegate_task", {"task_description": "do this"}),
        ]
        for name, given in calls:
            whose = {"session_id": "s1", "conductor_id": "stranger"}
            assert await desk.refused(name, **whose, **given) == "not_the_conductor", name
        assert await desk.good("read_session", session_id="s1") == before
        # Who says nobody acts as the first who conducts it.
        await desk.good("update_session_context", session_id="s1", state="paused")
        await desk.good("update_session_context", **OURS, state="active")
        await desk.good("cancel_task", task_id="t", session_id="s1")
        await desk.good("archive_session", **OURS)
        assert (await desk.good("finalize_session", **OURS))["state"] == "completed"


async def test_a_task_without_a_run_is_explained_in_sessions_that_are_over_too(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await desk.good("create_session_context", **OURS, objective="help")
        order = {**OURS, "task_description": "do it"}
        await desk.good("delegate_task", **order, task_id="t", timeout_seconds=3600)
        await desk.good("finalize_session", **OURS, cancel=True)
        await desk.platform.backend.command("DEL", keys.SESSIONS_DUE)
        story = await desk.good("explain_task", task_id="t")
        assert (story["session_id"], story["task_status"]) == ("s1", "cancelled")
        assert await desk.good("explain_task", task_id="t", session_id="s1") == story
        await desk.good("create_session_context", session_id="s2", conductor_id=ME)
        await desk.good(
            "delegate_task", session_id="s2", conductor_id=ME, task_description="x", task_id="t"
        )
        assert await desk.refused("explain_task", task_id="t") == "session_id_missing"
        assert await desk.refused("explain_task", task_id="nobody-s") == "session_id_missing"
        other = await desk.good("explain_task", task_id="t", session_id="s2")
        assert other["task_status"] == "queued"


async def test_a_task_that_was_moved_to_a_page_is_found_without_its_session(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await desk.good("create_session_context", **OURS, objective="help")
        sessions = desk.platform.sessions
        number = 0
        while (await sessions.get("s1")).head.pages == 0:
            order = Order("do it", ME, task_id=f"t{number}")
            await sessions.delegate("s1", order)
            await sessions.cancel("s1", f"t{number}", by=ME)
            number += 1
        assert "t0" not in (await sessions.get("s1")).tasks
        assert (await desk.good("explain_task", task_id="t0"))["task_status"] == "cancelled"


async def test_a_task_goes_to_a_companion_that_never_sat_and_whose_session_is_not_named(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await desk.good("create_session_context", **OURS, objective="help")
        await desk.good("create_companion", **OURS, companion_name="a", external=True)
        sent = await desk.good(
            "delegate_task", conductor_id=ME, companion_id=A, task_description="do it"
        )
        assert (sent["session_id"], sent["task"]["status"]) == ("s1", "queued")


async def has_record(desk: Desk, companion_id: str = A) -> bool:
    return await desk.platform.agents.get(agent_of("s1", companion_id), ()) is not None


async def test_the_record_of_a_companion_goes_when_its_last_report_ends_the_session(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk, "a")
        task = await delegated(desk, "t")
        assert (await desk.good("finalize_session", **OURS))["status"] == "completing"
        assert await has_record(desk)
        await reported(desk, task)
        assert not await has_record(desk)


@pytest.mark.parametrize("noticed", [True, False])
async def test_the_record_of_a_companion_goes_when_time_ends_its_session(
    redis_url: str, tmp_path: Path, noticed: bool
) -> None:
    """Also where the session was ended by a process that sees to nothing else."""
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk, "a")
        await delegated(desk, "t")
        await desk.good("finalize_session", **OURS)
        sessions = desk.platform.sessions
        if noticed:
            await desk.platform.store.cancel("t", by="somebody", reason="")
        else:
            await sessions.cancel("s1", "t", by=ME)
            await desk.platform.backend.command("DEL", keys.SESSIONS_DUE)
            assert (await sessions.get("s1")).is_over
        assert await has_record(desk)
        async with serving_app(create_app(desk.platform, Guard())), asyncio.timeout(20):
            while await has_record(desk):
                await asyncio.sleep(0.05)
        assert (await sessions.get("s1")).is_over


async def test_an_empty_message_is_answered_as_soon_as_there_is_news(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk, "a")
        for message in ("- count\n- weigh", "yes 1", "yes 2"):
            await desk.good("send_session_message", session_id="s1", message=message)
        waiting = asyncio.create_task(
            desk.good("send_session_message", session_id="s1", message="", wait_s=60)
        )
        await reported(desk, (await desk.receive(A, wait_s=5))["task"])
        # The other task is still open.
        async with asyncio.timeout(30):
            news = await waiting
        assert "done" in news["text"] and len(news["open_tasks"]) == 1


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ("DCF_CONDUCTOR_RULES", "invalid_conductor_rules"),
        ("DCF_STRATEGIST_RULES", "invalid_rules"),
    ],
)
async def test_rules_that_cannot_be_read_are_said_with_all_that_is_wrong(
    redis_url: str, tmp_path: Path, setting: str, code: str
) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("nonsense: 1\nmore_nonsense: 2\n")
    async with desk_on(redis_url, tmp_path, env={setting: str(rules)}) as desk:
        await desk.good("create_session_context", **OURS, objective="help")
        answer = await desk.call("send_session_message", session_id="s1", message="count")
        assert answer["error"].startswith(f"{code}: ")
        assert len(answer["problems"]) >= 2
        assert all(one["file"] == str(rules) for one in answer["problems"])
        assert "mend the file" in answer["hint"]
