"""Sessions over MCP: beginning, delegating, companions from outside, ending, archiving."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from integration.mcp.platforms import Desk, desk_on
from integration.tools.conftest import serving_app

from control_plane import keys
from dcf.mcp.http_app import create_app
from dcf.tools.serving import Guard

ME = "boss"
A, B = "companion-a", "companion-b"


async def session_on(desk: Desk, *names: str) -> None:
    """Session s1, in which external companions are served."""
    await desk.good("create_session_context", session_id="s1", conductor_id=ME, objective="help")
    for name in names:
        made = await desk.good(
            "create_companion", session_id="s1", conductor_id=ME, companion_name=name, external=True
        )
        taken = await desk.receive(made["companion_id"])
        assert taken["status"] == "no_task"


async def delegated(desk: Desk, text: str = "do it", **more: Any) -> dict[str, Any]:
    return await desk.good(
        "delegate_task", conductor_id=ME, session_id="s1", task_description=text, **more
    )


async def received(desk: Desk, companion_id: str) -> dict[str, Any]:
    answer = await desk.receive(companion_id, wait_s=5)
    assert answer["status"] == "task_received"
    return answer["task"]


async def reported(desk: Desk, companion_id: str, task: dict[str, Any], **said: Any) -> Any:
    whole = {"status": "succeeded", "summary": "done", **said}
    return await desk.call(
        "report_task_result",
        companion_id=companion_id,
        task_id=task["task_id"],
        lease_token=task["lease_token"],
        **whole,
    )


async def test_a_session_from_its_beginning_to_its_archive(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        begun = await desk.good(
            "create_session_context",
            session_id="s1",
            conductor_id=ME,
            objective="help",
            initial_context_json='{"order": 7, "preferences": {"language": "de"}}',
        )
        assert (begun["block_label"], begun["state"]) == ("session_context:s1", "active")
        again = await desk.good(
            "create_session_context", session_id="s1", conductor_id=ME, objective="help"
        )
        assert (again["status"], again["revision"]) == ("exists", begun["revision"])
        other = await desk.call(
            "create_session_context", session_id="s1", conductor_id="another", objective="help"
        )
        assert other["error"].startswith("session_exists")
        changed = await desk.good(
            "update_session_context",
            session_id="s1",
            block_id="block-1",
            announcement="hello",
            shared_data_json='{"order": null, "customer": "C1"}',
            state="paused",
            companion_count=3,
        )
        assert changed["updated_fields"] == ["announcements", "shared_data", "state"]
        assert any("companion_count is ignored" in one for one in changed["warnings"])
        await desk.good("update_session_context", session_id="s1", state="active")
        read = await desk.good("read_session", session_id="s1")
        assert read["shared_data"] == {"customer": "C1"}
        assert read["preferences"] == {"language": "de"}
        assert [one["message"] for one in read["announcements"]] == ["hello"]
        for name in ("a", "b"):
            await desk.good(
                "create_companion",
                session_id="s1",
                conductor_id=ME,
                companion_name=name,
                specialization=name,
                external=True,
            )
            await desk.receive(f"companion-{name}")
        first = await delegated(desk, "first", input_data_json='{"n": 1}', task_id="t1")
        second = await delegated(desk, "second", specialization="b", task_id="t2")
        third = await delegated(desk, "third", after_json='["t1"]', task_id="t3")
        assert {first["message_sent"], second["message_sent"]} == {True}
        assert (third["message_sent"], third["task"]["why"]) == (False, "it waits for t1")
        for companion_id, task_id in ((A, "t1"), (B, "t2")):
            task = await received(desk, companion_id)
            assert task["task_id"] == task_id
            ended = await reported(desk, companion_id, task, output_data_json='{"ok": [1, 2]}')
            assert ended["error"] is None and ended["task"]["status"] == "succeeded"
        result = await desk.good("read_task_result", task_id="t1")
        assert (result["status"], result["output"]) == ("succeeded", {"ok": [1, 2]})
        last = await received(desk, A)
        assert last["task_id"] == "t3"
        ended = await desk.good("finalize_session", session_id="s1")
        assert (ended["status"], ended["open_tasks"]) == ("completing", ["t3"])
        refused = await desk.call(
            "delegate_task", conductor_id=ME, session_id="s1", task_description="late"
        )
        assert refused["error"].startswith("session_not_open")
        await reported(desk, A, last, status="failed", error_code="x", error_message="no")
        ended = await desk.good("finalize_session", session_id="s1")
        assert (ended["status"], ended["state"]) == ("finalized", "completed")
        assert sorted(ended["companions_dismissed"]) == [A, B]
        done = {one["companion_id"]: one["tasks_completed"] for one in ended["wisdom_preserved"]}
        assert done == {A: 1, B: 1}
        # The graph is told of each task, and of the session.
        told = await desk.platform.backend.command("XRANGE", keys.OUTBOX_RECORDS, "-", "+")
        text = json.dumps(told, default=str)
        assert all(f"{task_id}" in text for task_id in ("t1", "t2", "t3", "s1"))
        archived = await desk.good("archive_session", session_id="s1")
        assert {"session.json", "tasks.json", "delegations.json", "results.json"} <= set(
            archived["files"]
        )
        tasks = json.loads((Path(archived["path"]) / "tasks.json").read_text())
        assert [one["status"] for one in tasks] == ["succeeded", "succeeded", "failed"]
        rows = await desk.good("list_session_tasks", session_id="s1", status="failed")
        assert [one["error"]["code"] for one in rows["tasks"]] == ["x"]
        listed = await desk.good("list_sessions", state="completed")
        assert [one["session_id"] for one in listed["sessions"]] == ["s1"]
        story = await desk.good("explain_task", task_id="t3")
        assert story["summary"] == "it is failed: x: no"
        assert story["run"]["status"] == "failed"
        assert {"TaskDelegated", "TaskAssigned", "TaskSettled"} <= {
            one["type"] for one in story["events"]
        }


async def test_two_clients_delegate_to_one_companion_at_the_same_instant(
    redis_url: str, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    async with desk_on(redis_url, tmp_path) as one, desk_on(redis_url, tmp_path / "other") as other:
        await session_on(one, "a")
        other.tokens = one.tokens
        answers = await asyncio.gather(
            *(
                delegated(desk, f"task {number}", companion_id=A)
                for number in range(5)
                for desk in (one, other)
            )
        )
        assert sum(answer["message_sent"] for answer in answers) == 1
        assert len({answer["task_id"] for answer in answers}) == 10
        busy = await other.call(
            "delegate_task",
            conductor_id=ME,
            companion_id=A,
            task_description="now",
            refuse_busy=True,
        )
        assert busy["error"].startswith("companion_busy")
        done = []
        for _ in range(10):
            task = await received(other, A)
            done.append(task["task_id"])
            assert (await reported(one, A, task))["error"] is None
        assert sorted(done) == sorted(answer["task_id"] for answer in answers)
        rows = await one.good("list_session_tasks", session_id="s1", limit=4)
        more = await one.good(
            "list_session_tasks", session_id="s1", limit=6, after=rows["next_after"]
        )
        assert (rows["count"], more["next_after"]) == (10, None)
        assert {row["status"] for row in (*rows["tasks"], *more["tasks"])} == {"succeeded"}


async def test_a_delegation_that_is_sent_twice_is_one_task(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk, "a")
        first = await delegated(desk, task_id="t")
        assert (await delegated(desk, task_id="t"))["task"] == first["task"]
        other = await desk.call(
            "delegate_task", conductor_id=ME, session_id="s1", task_description="x", task_id="t"
        )
        assert other["error"].startswith("task_exists")
        whose = {"session_id": "s1", "conductor_id": ME, "companion_name": "a"}
        again = await desk.good("create_companion", **whose, external=True)
        assert (again["status"], again["companion_id"]) == ("exists", A)
        assert await desk.refused("create_companion", **whose) == "companion_exists"


async def test_a_report_of_who_has_the_task_no_more_is_refused(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk, "a", "b")
        await delegated(desk, task_id="t", companion_id=A)
        mine = await received(desk, A)
        again = await received(desk, A)
        assert again == mine
        kept = await desk.good(
            "report_task_progress",
            companion_id=A,
            task_id="t",
            lease_token=mine["lease_token"],
            progress_pct=40,
        )
        assert kept["lease_seconds"] == 300
        await desk.good("redelegate_task", task_id="t", companion_id=B, reason="too slow")
        late = await reported(desk, A, mine)
        assert late["error"].startswith("task_not_yours")
        assert "companion-b has it now" in late["error"]
        theirs = await received(desk, B)
        ended = await reported(desk, B, theirs)
        assert ended["task"]["companion_id"] == B
        assert (await reported(desk, B, theirs))["error"] is None
        otherwise = await reported(desk, B, theirs, summary="something else")
        assert otherwise["error"].startswith("reported_otherwise")
        story = await desk.good("explain_task", task_id="t")
        assert [one["companion_id"] for one in story["attempts"]] == [A, B]


async def test_a_report_after_the_deadline_is_refused(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk, "a")
        for seconds in (3, 15, 75):  # a busy machine hands a task over later
            await delegated(desk, task_id=(t := f"t{seconds}"), timeout_seconds=seconds)
            answer = await desk.receive(A, wait_s=5)
            if answer["status"] == "task_received":
                break
        task = answer["task"]
        sessions = desk.platform.sessions
        deadline = (await sessions.task("s1", t)).deadline_at
        async with asyncio.timeout(100):
            while await sessions.store.now_ms() <= deadline:
                await asyncio.sleep(0.05)
        late = await reported(desk, A, task)
        assert late["error"].startswith("task_not_yours")
        # Its run ends in whole seconds after it was handed over, up to a second later.
        async with asyncio.timeout(20):
            while (await sessions.task("s1", t)).is_open:
                await sessions.tick("s1")
        row = (await desk.good("list_session_tasks", session_id="s1"))["tasks"][-1]
        assert (row["status"], row["error"]["code"]) == ("failed", "deadline_passed")


async def test_errors_name_what_there_is(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk, "billing-1")
        await desk.good(
            "update_companion_status", companion_id="companion-billing-1", specialization="billing"
        )
        await delegated(desk, task_id="refund-1")
        near = await desk.call("read_session", session_id="s2")
        assert near["error"].startswith("unknown_session")
        assert near["hint"] == "nearest: s1; list_sessions has those there are"
        wrong = await desk.call(
            "delegate_task",
            conductor_id=ME,
            session_id="s1",
            companion_id="companion-biling-1",
            task_description="x",
        )
        assert "nearest: companion-billing-1" in wrong["error"]
        wrong = await desk.call(
            "delegate_task",
            conductor_id=ME,
            session_id="s1",
            specialization="biling",
            task_description="x",
        )
        assert wrong["error"].startswith("no_companion") and "nearest: billing" in wrong["error"]
        wrong = await desk.call("cancel_task", session_id="s1", task_id="refund-2")
        assert "nearest: refund-1" in wrong["error"]
        assert wrong["hint"] == "list_session_tasks has the ids"
        wrong = await desk.call(
            "delegate_task", conductor_id="bos", session_id="s1", task_description="x"
        )
        assert wrong["error"].startswith("not_the_conductor") and "boss does" in wrong["error"]
        wrong = await desk.call(
            "report_task_result",
            companion_id="companion-billing-1",
            task_id="refund-1",
            status="succeeded",
            summary="x",
        )
        assert wrong["error"].startswith("lease_required")
        wrong = await desk.call("dismiss_companion", companion_id="companion-gone")
        assert wrong["error"].startswith("unknown_companion")


async def test_a_session_need_not_be_named_where_it_is_known(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk, "a")
        await desk.good("create_session_context", session_id="s2", conductor_id=ME)
        found = await desk.good(
            "delegate_task", conductor_id=ME, companion_id=A, task_description="x", task_id="t"
        )
        assert found["session_id"] == "s1"
        assert (await desk.good("read_task_result", task_id="t"))["session_id"] == "s1"
        again = await desk.good("update_companion_status", companion_id=A, status="error")
        assert "status:error" in again["updated_tags"]
        assert "status:busy" in again["previous_tags"]
        assert (await desk.good("dismiss_companion", companion_id=A))["session_id"] == "s1"
        await desk.good("cancel_task", task_id="t", session_id="s1")


async def test_a_broadcast_has_one_id_that_stands_for_all(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk, "a", "b")
        sent = await desk.good(
            "broadcast_task",
            conductor_id=ME,
            session_id="s1",
            task_description="look",
            mode="quorum",
            quorum=1,
            task_id="look",
        )
        assert sent["companions_assigned"] == [A, B]
        assert [one["success"] for one in sent["delegation_results"]] == [True, True]
        task = await received(desk, B)
        await reported(desk, B, task, output_data_json='"seen"')
        whole = await desk.good("read_task_result", task_id="look", session_id="s1")
        assert whole["status"] == "succeeded"
        assert whole["results"][task["task_id"]] == "seen"


async def test_a_workflow_is_delegated_and_its_run_is_seen(redis_url: str, tmp_path: Path) -> None:
    flow = {"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": 7, "End": True}}}
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk)
        sent = await desk.good(
            "delegate_workflow",
            conductor_id=ME,
            session_id="s1",
            workflow_json=json.dumps(flow),
            task_description="count",
            task_id="flow-1",
        )
        assert sent["run_id"] == "flow-1"
        run = await desk.good("read_workflow_control_plane", workflow_id="flow-1")
        assert run["meta"]["pins"]["session"] == "s1"
        wrong = {"StartAt": "B", "States": {}}
        bad = await desk.call(
            "delegate_workflow", conductor_id=ME, session_id="s1", workflow_json=json.dumps(wrong)
        )
        assert bad["error"].startswith("invalid_workflow") and bad["problems"]


async def test_lists_show_no_tokens_and_no_secrets(redis_url: str, tmp_path: Path) -> None:
    secret = "password=hunter2hunter2"
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk, "a")
        await desk.good(
            "update_session_context",
            session_id="s1",
            announcement=f"use {secret}",
            shared_data_json='{"api_key": "sk-123456789012345678901234"}',
        )
        await delegated(desk, f"log in with {secret}", task_id="t")
        task = await received(desk, A)
        assert secret in task["task"]["description"]
        await reported(desk, A, task, summary=f"used {secret}", output_data_json=f'"{secret}"')
        shown = [
            await desk.good("read_session", session_id="s1"),
            await desk.good("list_session_tasks", session_id="s1"),
            await desk.good("list_session_companions", session_id="s1"),
            await desk.good("read_task_result", task_id="t"),
            await desk.good("explain_task", task_id="t"),
            await desk.good("finalize_session", session_id="s1"),
        ]
    text = json.dumps(shown)
    assert "hunter2" not in text and "sk-1234" not in text
    assert task["lease_token"] not in text


async def test_a_server_looks_at_sessions_that_nobody_asks_for(
    redis_url: str, tmp_path: Path
) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        await session_on(desk, "a")
        await delegated(desk, task_id="t", timeout_seconds=1, companion_id=A)
        async with serving_app(create_app(desk.platform, Guard())), asyncio.timeout(20):
            while True:
                task = await desk.platform.sessions.task("s1", "t")
                if not task.is_open:
                    break
                await asyncio.sleep(0.1)
    assert task.error is not None and task.error["code"] == "deadline_passed"


async def test_sessions_are_listed_the_newest_first(redis_url: str, tmp_path: Path) -> None:
    async with desk_on(redis_url, tmp_path) as desk:
        for number in range(5):
            await desk.good("create_session_context", session_id=f"s{number}", conductor_id=ME)
        await desk.good("update_session_context", session_id="s3", state="abandoned")
        first = await desk.good("list_sessions", limit=3)
        rest = await desk.good("list_sessions", limit=3, after=first["next_after"])
        ids = [row["session_id"] for row in (*first["sessions"], *rest["sessions"])]
        assert ids == ["s4", "s3", "s2", "s1", "s0"]
        assert rest["next_after"] is None
        over = await desk.good("list_sessions", state="abandoned")
        assert [row["session_id"] for row in over["sessions"]] == ["s3"]
