"""The conductor by rule in a running session."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from contract.worlds import World, open_world
from integration.sessions.conducting import FAIL, ID, ME, PASS, Stage, fired, rules

from dcf.advisors.strategist import Advice, Remark
from dcf.sessions import NewCompanion, NoConductor, NotOpen, TooMany
from dcf.sessions.conductor import BadRequest
from dcf.sessions.guidance import Guidance, Guided

A, B = "companion-a", "companion-b"

THREE = """\
Please do the following:
1. Check the delivery order_id=ORD-1004
2. Look up the customer
3. Write an answer after 1 and 2
"""


@pytest.fixture
async def world(redis_server: str) -> AsyncIterator[World]:
    created = await open_world(redis_server)
    yield created
    await created.close()


@pytest.fixture
async def stage(world: World) -> Stage:
    """A session with two companions that are served."""
    stage = Stage(world)
    await stage.begin(shared_data={"customer": "anna"}, preferences={"tone": "kind"})
    for name in ("a", "b"):
        await stage.sessions.employ(ID, NewCompanion(ME, name=name))
    await stage.sit()
    return stage


async def test_two_of_three_tasks_run_at_once_and_the_third_follows_them(stage: Stage) -> None:
    reply = await stage.say(THREE, "q1")
    first, second, third = reply.task_ids
    assert [row.status for row in reply.rows] == ["assigned", "assigned", "queued"]
    assert {row.companion_id for row in reply.rows[:2]} == {"companion-a", "companion-b"}
    task = await stage.task(first)
    assert task.input == {"customer": "anna", "tone": "kind", "order_id": "ORD-1004"}
    assert (task.request, task.by) == ("q1", ME)
    assert (await stage.task(third)).after == (first, second)

    await stage.do(first)
    [news] = await stage.attend()
    assert [(row.number, row.status) for row in news.rows] == [(1, "succeeded")]
    assert not news.is_last
    assert await stage.conductor.answer(ID, "q1") is None
    await stage.do(second)
    assert (await stage.task(third)).input["results_before"] == {  # type: ignore[index,call-overload]
        "1": f"dcf://run/{first}", "2": f"dcf://run/{second}"
    }  # fmt: skip
    states = await stage.sessions.store.states(third, ["task"])
    given = await stage.sessions.store.value(third, states["task"].raw["input"])
    assert given["results_before"] == {"1": {"n": 1}, "2": {"n": 1}}
    await stage.do(third)
    [last] = await stage.attend()
    assert last.is_last
    assert "All 3 tasks are done." in last.text
    assert "| 3 | Write an answer |" in last.text
    assert [row.status for row in last.rows] == ["succeeded"] * 3
    assert await stage.conductor.answer(ID, "q1") == last
    assert await stage.attend() == []
    said = [(event["role"], event["request"]) for event in await stage.events("Said")]
    assert said == [("user", "q1"), *[("conductor", "q1")] * 3]


async def test_the_same_turn_again_has_the_same_answer(stage: Stage) -> None:
    reply = await stage.say("Check the delivery", "q1")
    revision = (await stage.session()).revision
    assert await stage.conductor.turn(ID, "Check the delivery", request_id="q1") == reply
    assert (await stage.session()).revision == revision


async def test_a_follow_up_is_given_to_a_companion_that_is_there(stage: Stage) -> None:
    reply = await stage.say("Check the delivery")
    await stage.do(reply.task_ids[0])
    follow_up = await stage.say("Check it once more")
    assert follow_up.rows[0].number == 2
    await stage.do(follow_up.task_ids[0])
    assert set((await stage.session()).companions) == {"companion-a", "companion-b"}
    replies = await stage.attend()
    assert [reply.is_last for reply in replies] == [True, True]


async def test_companions_are_made_when_there_are_none(world: World) -> None:
    stage = Stage(world)
    await stage.begin()
    reply = await stage.say("for billing: Refund the order order_id=7")
    session = await stage.session()
    assert sorted(one.specialization for one in session.companions.values()) == [
        "billing", "generalist",
    ]  # fmt: skip
    assert {"first-companions", "specialist"} <= set(fired(reply))
    task = await stage.task(reply.task_ids[0])
    assert session.companions[task.companion_id or ""].specialization == "billing"


async def test_a_failure_is_tried_elsewhere_then_the_user_is_asked(stage: Stage) -> None:
    reply = await stage.say("Open the door", "q1")
    task = await stage.fail(reply.task_ids[0])
    [news] = await stage.attend()
    assert fired(news) == ["passing-trouble"]
    [again] = news.task_ids
    assert again == f"{reply.task_ids[0]}-r1"
    other = await stage.task(again)
    assert {task.companion_id, other.companion_id} == {"companion-a", "companion-b"}
    assert "the door is locked" in news.text

    await stage.fail(again)
    [asked] = await stage.attend()
    assert fired(asked) == ["same-error-again"]
    assert asked.questions == ("1: no_access: the door is locked: `retry` or `drop it`?",)
    assert (asked.task_ids, asked.is_last) == ((), False)
    assert await stage.attend() == []

    answered = await stage.say("retry key=brass")
    [third] = answered.task_ids
    assert (await stage.task(third)).input == {
        "customer": "anna", "tone": "kind", "key": "brass"
    }  # fmt: skip
    await stage.do(third)
    [last] = await stage.attend()
    assert (last.request, last.is_last, last.rows[0].tries) == ("q1", True, 3)
    kinds = [event["type"] for event in await stage.events("Asked", "Answered")]
    assert kinds == ["Asked", "Answered"]


async def test_no_more_tries_than_the_rules_say(world: World) -> None:
    stage = Stage(world, rules=rules(limits={"tries": 2}))
    await stage.begin()
    reply = await stage.say("Open the door")
    await stage.fail(reply.task_ids[0], "one")
    [news] = await stage.attend()
    await stage.fail(news.task_ids[0], "two")
    [asked] = await stage.attend()
    assert fired(asked) == ["tries"]
    [no] = [await stage.say("no")]
    assert no.rows[0].status == "cancelled"
    [last] = await stage.attend()
    assert last.text.startswith("Task 1 was cancelled.")


async def test_what_is_too_hard_goes_to_a_higher_tier(stage: Stage) -> None:
    reply = await stage.say("Think about it")
    await stage.fail(reply.task_ids[0], "too_hard")
    [news] = await stage.attend()
    assert fired(news) == ["too-hard"]
    assert (await stage.task(news.task_ids[0])).tier == 1


async def test_what_followed_a_failure_goes_out_when_that_does(stage: Stage) -> None:
    reply = await stage.say("- Open the door\n- then go in\n- then sit down")
    await stage.fail(reply.task_ids[0], "missing_input")
    [asked] = await stage.attend()
    assert [row.number for row in asked.rows if row.status == "asked"] == [1]
    session = await stage.session()
    assert not session.open_tasks
    answered = await stage.say("retry")
    assert [row.number for row in answered.rows] == [1, 2, 3]
    for row in answered.rows:
        await stage.do(row.task_id or "")
    [last] = await stage.attend()
    assert "All 3 tasks are done." in last.text


async def test_what_followed_something_that_is_dropped_is_not_done(stage: Stage) -> None:
    reply = await stage.say("- Open the door\n- then go in")
    await stage.fail(reply.task_ids[0], "missing_input")
    await stage.attend()
    await stage.say("drop it")
    [last] = await stage.attend()
    assert last.text.startswith("0 of 2 tasks are done; not done: task 1 (cancelled), task 2 (")
    again = await stage.say("retry 1")
    assert [row.number for row in again.rows] == [1, 2]
    for task_id in again.task_ids:
        await stage.do(task_id)
    [last] = await stage.attend()
    assert "All 2 tasks are done." in last.text


async def test_a_workflow_is_a_task_and_its_failure_is_talked_about(stage: Stage) -> None:
    stage.flows["stock"] = FAIL
    reply = await stage.say("- workflow:stock item=7\n- then Tell the customer")
    flow, follows = reply.task_ids
    assert (await stage.task(flow)).kind == "workflow"
    await stage.do(flow)
    assert (await stage.task(follows)).status == "failed"
    [asked] = await stage.attend()
    assert fired(asked) == ["workflow-failed"]
    assert asked.questions == ("1: NoStock: it is empty: `retry` or `drop it`?",)
    stage.flows["stock"] = PASS
    again = await stage.say("yes")
    flow, follows = again.task_ids
    await stage.do(flow)
    await stage.do(follows)
    [last] = await stage.attend()
    assert "All 2 tasks are done." in last.text


async def test_a_workflow_that_is_not_there_is_asked_about(stage: Stage) -> None:
    reply = await stage.say("workflow:stok")
    assert (reply.task_ids, reply.rows[0].status) == ((), "asked")
    assert "the workflow stok cannot be read" in reply.questions[0]
    answered = await stage.say("workflow:stock")
    assert (await stage.task(answered.task_ids[0])).kind == "workflow"


async def test_a_skill_is_discovered_or_asked_for(world: World) -> None:
    stage = Stage(world)
    stage.conductor = stage.conduct(discover=stage.discover)
    stage.found = {"Check": [("skill.check@1", 0.7), ("skill.look@1", 0.4)], "Sing": [("x", 0.1)]}
    await stage.begin()
    reply = await stage.say("- Check the delivery\n- Sing a song")
    assert (await stage.task(reply.task_ids[0])).skills == ("skill.check@1",)
    assert len(reply.task_ids) == 1
    assert "the nearest is x (0.10)" in reply.questions[0]
    answered = await stage.say("skill:voice")
    assert (await stage.task(answered.task_ids[0])).skills == ("voice",)
    reply = await stage.say("Sing again")
    answered = await stage.say("yes")
    assert (await stage.task(answered.task_ids[0])).skills == ()


async def test_of_skills_that_score_alike_the_one_suits_that_suits_the_objective(
    world: World,
) -> None:
    stage = Stage(world)
    stage.conductor = stage.conduct(discover=stage.discover)
    stage.found = {
        "Check": [("skill.line@1", 0.9), ("skill.delivery@1", 0.88), ("skill.far@1", 0.6)],
        "Check it (help people)": [("skill.far@1", 0.9), ("skill.delivery@1", 0.8)],
    }
    await stage.begin()
    reply = await stage.say("Check it")
    assert (await stage.task(reply.task_ids[0])).skills == ("skill.delivery@1",)
    assert "suits the objective better" in reply.fired[1].why


async def test_guidelines_change_the_next_delegation_and_the_trace_says_so(world: World) -> None:
    stage = Stage(world)
    stage.conductor = stage.conduct(discover=stage.discover)
    stage.found = {"Check": [("skill.check@1", 0.7)]}
    await stage.begin()
    before = await stage.say("Check the delivery")
    await stage.do(before.task_ids[0])
    await stage.guidance.update(
        ME,
        by="strategist",
        skill_preferences_json=json.dumps({"check": "skill.check@2"}),
        companion_preferences_json=json.dumps({"check": "delivery"}),
        model_selection_json=json.dumps({"skill_tier_overrides": {"skill.check@2": 2}}),
    )
    after = await stage.say("Check the delivery")
    task = await stage.task(after.task_ids[0])
    assert (task.skills, task.specialization, task.tier) == (("skill.check@2",), "delivery", 2)
    told = [event for event in await stage.events("RuleFired") if event.get("revision")]
    assert [event["rule"] for event in told] == [
        "guidelines.skill_preferences", "guidelines.model_selection",
        "guidelines.companion_preferences",
    ]  # fmt: skip
    assert {event["revision"] for event in told} == {1}
    assert {event["task"] for event in told} == {2}


class Warned(Guidance):
    """Guidance that warns of a skill and a companion."""

    async def of(self, conductor_id: str) -> Guided:
        found = await super().of(conductor_id)
        warnings = (
            Remark("it fails", advice=Advice("failing_skill", {"skill": "skill.check@1"}, None)),
            Remark("so it does", advice=Advice("failing_companion", {"companion_id": A}, None)),
        )
        return replace(found, guidelines=replace(found.guidelines, warnings=warnings), revision=7)


async def test_what_the_guidelines_warn_of_is_avoided_where_there_is_something_else(
    stage: Stage,
) -> None:
    stage.guidance = Warned(stage.sessions)
    stage.conductor = stage.conduct(discover=stage.discover)
    stage.found = {"Check": [("skill.check@1", 0.7), ("skill.look@1", 0.6)]}
    reply = await stage.say("Check the delivery")
    task = await stage.task(reply.task_ids[0])
    assert (task.skills, task.companion_id) == (("skill.look@1",), B)
    told = [one for one in reply.fired if one.revision == 7]
    assert [(one.rule, one.why) for one in told] == [
        ("guidelines.warnings", "it fails"), ("guidelines.warnings", "so it does")
    ]  # fmt: skip
    # What is only somehow like it may do what nobody asked for: the user decides.
    stage.found = {"Check": [("skill.check@1", 0.7), ("skill.look@1", 0.55)]}
    asked = await stage.say("Check it")
    assert asked.task_ids == () and "it fails" in asked.questions[0]
    answered = await stage.say("skill:skill.check@1")
    task = await stage.task(answered.task_ids[0])
    assert (task.skills, task.companion_id, task.wanted) == (("skill.check@1",), A, None)


async def test_who_does_not_conduct_a_session_is_refused(stage: Stage) -> None:
    await stage.say("one")
    stranger = stage.conduct("stranger")
    with pytest.raises(NoConductor):
        await stranger.turn(ID, "two")
    await stage.do((await stage.session()).open_tasks[0].task_id)
    with pytest.raises(NoConductor):
        await stranger.attend(ID)


async def test_the_pool_grows_when_all_are_busy_and_shrinks_when_idle(world: World) -> None:
    stage = Stage(world)
    await stage.begin()
    await stage.say("\n".join(f"- Task {number}" for number in range(8)))
    for count in (2, 3, 4):
        await stage.attend()
        assert len((await stage.session()).companions) == count
    await stage.attend()
    # Five are at work, and three wait: no more than the threshold.
    await stage.attend()
    assert len((await stage.session()).companions) == 5
    while open_tasks := (await stage.session()).open_tasks:
        for task in open_tasks:
            if task.status == "assigned":
                await stage.do(task.task_id)
    await stage.attend()
    for left in (4, 3, 2, 2):
        await stage.world.advance(6 * 60_000)
        await stage.sit()
        await stage.attend()
        assert len((await stage.session()).companions) == left


async def test_attending_writes_nothing_while_nothing_happens(stage: Stage) -> None:
    await stage.say("- one\n- two\n- three")
    await stage.attend()
    revision = (await stage.session()).revision
    for _ in range(3):
        assert await stage.conductor.attend(ID) == []
    assert (await stage.session()).revision == revision


async def test_companions_that_are_lost_are_replaced_but_not_those_from_outside(
    world: World,
) -> None:
    stage = Stage(world)
    await stage.begin()
    for name, external in (("inside", False), ("outside", True)):
        await stage.sessions.employ(ID, NewCompanion(ME, name=name, external=external))
        await stage.sit()
    await world.advance(60_000)
    await stage.say("one")
    assert len((await stage.session()).companions) == 2
    await stage.sessions.dismiss(ID, "companion-outside", by=ME)
    await world.advance(60_000)
    await stage.conductor.attend(ID)
    session = await stage.session()
    assert session.companions["companion-inside"].status == "lost"
    assert len(session.companions) == 2


async def test_the_session_is_analysed_after_some_tasks_and_after_failures(stage: Stage) -> None:
    reply = await stage.say("- one\n- two\n- three\n- four")
    for task_id in reply.task_ids:
        await stage.do(task_id)
    await stage.attend()
    assert (await stage.session()).head.analysed == 4
    reply = await stage.say("- five\n- six")
    for task_id in reply.task_ids:
        await stage.fail(task_id, "missing_input")
    await stage.attend()
    assert (await stage.session()).head.analysed == 6
    told = [one["why"] for one in await stage.events("RuleFired") if one["rule"] == "analysis"]
    assert told == [
        "4 tasks ended since the last analysis", "2 tasks failed one after the other"
    ]  # fmt: skip


async def test_a_finalize_while_tasks_run_waits_for_them(stage: Stage) -> None:
    reply = await stage.say("- one\n- two\n- three")
    await stage.fail(reply.task_ids[0], "missing_input")
    await stage.attend()
    ending = await stage.conductor.finalize(ID)
    assert not ending.is_last
    assert "completing" in ending.text
    with pytest.raises(NotOpen):
        await stage.say("four")
    await stage.fail(reply.task_ids[1])
    await stage.do(reply.task_ids[2])
    *_, last, end = await stage.attend()
    assert last.text.startswith("1 of 3 tasks are done; not done: task 1 (failed), task 2 (")
    told = "1 of 3 tasks are done; delegations: 1 succeeded, 2 failed."
    assert end.text.startswith(f"The session is completed: {told}")
    assert end.is_last
    head = (await stage.session()).head
    assert head.analysed == head.counts.closed == 3
    assert await stage.attend() == []
    assert (await stage.conductor.finalize(ID)).is_last


async def test_a_finalize_that_cancels_is_over_at_once(stage: Stage) -> None:
    await stage.say("- one\n- two")
    ending = await stage.conductor.finalize(ID, cancel=True)
    assert ending.is_last
    assert ending.text.count("cancelled") >= 2
    assert (await stage.session()).state == "completed"


async def test_commands_say_how_it_stands_and_cancel(stage: Stage) -> None:
    await stage.say("- one\n- two\n- three")
    status = await stage.say("What is going on?")
    assert [row.number for row in status.rows] == [1, 2, 3]
    assert "3 open" in status.text
    assert "cancelled" in (await stage.say("cancel 3")).text
    assert (await stage.session()).open_tasks[-1].description == "two"
    assert "There is no task 9" in (await stage.say("cancel 9")).text
    assert "workflow:NAME" in (await stage.say("help")).text
    assert (await stage.say("hello")).task_ids == ()
    assert "not asked" in (await stage.say("yes")).text


async def test_two_conductors_at_once_do_no_harm(stage: Stage) -> None:
    reply = await stage.say("- one\n- two\n- three\n- four\n- five")
    await stage.fail(reply.task_ids[0])
    await stage.do(reply.task_ids[1])
    two = [stage.conduct() for _ in range(4)]
    told = await asyncio.gather(*(one.attend(ID) for one in two))
    assert sorted(map(len, told)) == [0, 0, 0, 1]
    session = await stage.session()
    assert [one for one in session.tasks if one.endswith("-r1")] == [f"{reply.task_ids[0]}-r1"]
    same = await asyncio.gather(*(one.turn(ID, "six", request_id="q6") for one in two))
    assert all(one == same[0] for one in same)
    assert session.head.counts.delegated + 1 == (await stage.session()).head.counts.delegated


async def test_bad_messages_are_refused_before_anything_is_written(stage: Stage) -> None:
    revision = (await stage.session()).revision
    for text in (
        " ",
        "x" * 70_000,
        "\n".join("- t" for _ in range(21)),
        "1. a after 2\n2. b after 1",
    ):
        with pytest.raises(BadRequest):
            await stage.conductor.turn(ID, text)
    with pytest.raises(BadRequest, match="request id"):
        await stage.conductor.turn(ID, "hello", request_id="a b")
    assert (await stage.session()).revision == revision


async def test_what_waits_for_answers_is_bounded_and_closed_requests_leave(world: World) -> None:
    stage = Stage(world, rules=rules(limits={"requests": 1}))
    await stage.begin()
    await stage.say("one", "q1")
    with pytest.raises(TooMany, match="open requests"):
        await stage.say("two")
    await stage.sessions.cancel(ID, (await stage.session()).open_tasks[0].task_id, by=ME)
    [last] = await stage.attend()
    for _ in range(25):
        await stage.say("hello")
    kept = (await stage.session()).requests
    assert len(kept["requests"]) == 20
    recalled = await stage.conductor.turn(ID, "one", request_id="q1")
    assert recalled.text == last.text


async def test_secrets_do_not_stand_in_what_was_said(stage: Stage) -> None:
    await stage.say("Log in with password=hunter22secret")
    assert "hunter22" not in json.dumps(await stage.events("Said"))


async def test_tasks_that_went_to_pages_before_anybody_looked_are_told(world: World) -> None:
    stage = Stage(world, rules=rules(limits={"tasks": 99}, companions={"scale": False}))
    await stage.begin()
    reply = await stage.say("\n".join(f"- Task {number}" for number in range(52)))
    while open_tasks := (await stage.session()).open_tasks:
        await stage.do(min(task.task_id for task in open_tasks))
    await stage.sessions.tick(ID)
    await stage.sessions.tick(ID)
    session = await stage.session()
    assert (session.head.pages, len(session.tasks)) == (1, 2)
    last, *_ = await stage.attend()
    assert last.is_last
    assert {row.task_id for row in last.rows} == set(reply.task_ids)
    assert "All 52 tasks are done." in last.text
