"""What a conductor by rule says, and what of it people can rely on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from contract.worlds import World, open_world
from integration.sessions.conducting import ID, ME, PASS, Stage

from control_plane import Lease
from dcf.sessions import NewCompanion, inbox_of
from dcf.tools import ApprovalRequest
from dcf.workflow import AwaitingApproval, Succeeded

STRICT = {
    "workflow_name": "strict",
    "workflow_input_schema": {
        "type": "object",
        "properties": {"item": {"type": "integer"}, "shop": {"type": "string"}},
        "required": ["item", "shop"],
        "additionalProperties": False,
    },
    "asl": PASS,
}


@pytest.fixture
async def world(redis_server: str) -> AsyncIterator[World]:
    created = await open_world(redis_server)
    yield created
    await created.close()


@pytest.fixture
async def stage(world: World) -> Stage:
    stage = Stage(world)
    await stage.begin(shared_data={"customer": "anna"})
    await stage.sessions.employ(ID, NewCompanion(ME, name="a"))
    await stage.sit()
    return stage


async def test_the_answer_shows_what_was_found(stage: Stage) -> None:
    reply = await stage.say("Where is it?")
    output = {"track_shipment": {"shipment_status": "lost", "days_late": 12, "steps": [{}, {}]}}
    await stage.do(reply.task_ids[0], Succeeded(output, "called 1 tool"))
    [last] = await stage.attend()
    [row] = last.rows
    assert (row.result, row.data) == (
        "called 1 tool", "shipment_status: lost, days_late: 12, steps: 2 entries"
    )  # fmt: skip
    assert "called 1 tool: shipment_status: lost, days_late: 12" in last.text
    assert last.text.startswith("Task 1 is done.")
    assert f"dcf://run/{reply.task_ids[0]}" in last.text
    assert (await stage.conductor.answer(ID, last.request)) == last


async def test_what_waits_says_for_what(stage: Stage) -> None:
    reply = await stage.say("1. Open\n2. Look after 1")
    assert "not begun: it waits for 1" in reply.text
    other = await stage.say("Sing")
    assert "no companion is free for it (companion-a busy)" in other.text
    assert other.rows[0].why == "no companion is free for it (companion-a busy)"


async def test_a_task_that_waits_for_an_approval_says_so(stage: Stage) -> None:
    [task_id] = (await stage.say("Refund it")).task_ids
    task = await stage.task(task_id)
    store = stage.sessions.store_of(inbox_of(ID, task.companion_id or ""))
    lease = await store.acquire(task_id, task.state, owner=task.companion_id or "")
    assert isinstance(lease, Lease)
    asked = ApprovalRequest("bank", "refund", {}, "d", ("s",), "high", "it is dear", "boss")
    await stage.external.finish(task_id, lease.path, lease.token, AwaitingApproval(asked))
    status = await stage.say("status")
    assert status.rows[0].why == "it waits till boss approves bank:refund: `dcf approvals` shows it"
    assert "dcf approvals" in status.text


async def test_a_try_after_a_failure_says_what_runs_now(stage: Stage) -> None:
    reply = await stage.say("Open")
    await stage.fail(reply.task_ids[0])
    await stage.attend()
    status = await stage.say("status")
    assert "under way (try 2, after no_access: the door is locked)" in status.text
    assert "0 of 1 tasks are done; delegations: 1 failed, 1 open." in status.text


async def test_numbers_are_those_of_the_session_but_where_the_user_numbered_the_lines(
    stage: Stage,
) -> None:
    first = await stage.say("Open")
    plain = await stage.say("- Look\n- Sing after 1")
    assert (await stage.task(plain.task_ids[1])).after == first.task_ids
    numbered = await stage.say("1. Look\n2. Sing after 1")
    assert (await stage.task(numbered.task_ids[1])).after == numbered.task_ids[:1]


async def test_a_workflow_gets_what_its_line_says_and_all_that_is_wrong_is_asked(
    stage: Stage,
) -> None:
    stage.flows["strict"] = STRICT
    asked = await stage.say("workflow:strict item=desk")
    assert asked.task_ids == ()
    assert "`shop`" in asked.questions[0] and "'desk'" in asked.questions[0]
    still = await stage.say("item=7")
    assert still.task_ids == () and "`shop`" in still.questions[0]
    reply = await stage.say("shop=north")
    task = await stage.task(reply.task_ids[0])
    assert task.input == {"item": 7, "shop": "north"}
    assert (await stage.do(reply.task_ids[0])).status == "succeeded"


async def test_a_workflow_is_no_answer_to_another_question(stage: Stage) -> None:
    asked = await stage.say("@nobody Open the door")
    assert asked.questions
    reply = await stage.say("workflow:stock")
    assert [(row.number, row.kind) for row in reply.rows] == [(2, "workflow")]
    again = await stage.say("key=brass")
    assert again.task_ids == () and "nobody" in again.questions[0]


async def test_what_should_follow_something_that_is_not_there_is_not_begun_by_inputs(
    stage: Stage,
) -> None:
    asked = await stage.say("Open the door after 9")
    assert "There is no task 9" in asked.questions[0]
    still = await stage.say("key=brass")
    assert still.task_ids == () and "There is no task 9" in still.questions[0]
    reply = await stage.say("yes")
    assert (await stage.task(reply.task_ids[0])).input == {"customer": "anna", "key": "brass"}


async def test_cancelling_all_is_told_once(stage: Stage) -> None:
    for text in ("Open", "Look", "Sing"):
        await stage.say(text, text)
    assert (await stage.say("cancel all")).text.startswith("Cancelled: 1, 2, 3.")
    [told] = await stage.attend()
    assert told.text == "Cancelled: tasks 1, 2, 3."
    last = await stage.conductor.answer(ID, "Look")
    assert last is not None and last.text.startswith("Task 2 was cancelled.")
    assert await stage.attend() == []


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("thanks", "You are welcome."),
        ("Hello, are you there?", "Hello."),
        ("bye", "Goodbye."),
    ],
)
async def test_small_talk_is_no_task(stage: Stage, said: str, answer: str) -> None:
    reply = await stage.say(said)
    assert reply.text.startswith(answer) and reply.rows == ()


async def test_small_talk_in_a_session_that_is_over_says_that_it_is(stage: Stage) -> None:
    await stage.conductor.finalize(ID)
    reply = await stage.say("hello")
    assert reply.text.startswith("The session is completed")
