"""What a conductor by rule does not do by itself: what may do harm, or what nobody asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from contract.worlds import World, open_world
from integration.sessions.conducting import ID, ME, Stage, fired

from dcf.sessions import NewCompanion, Sessions
from dcf.skills import SkillCatalog

CATALOG = SkillCatalog.load(Path(__file__).parents[3] / "generated")
DELIVERY = "skill.support.check_delivery@1.0.0"
CUSTOMER = "skill.support.know_customer@1.0.0"
SHIP = "skill.orders.ship_order@1.0.0"
NOTIFY = "skill.orders.notify_customer@1.0.0"


@pytest.fixture
async def world(redis_server: str) -> AsyncIterator[World]:
    created = await open_world(redis_server)
    yield created
    await created.close()


@pytest.fixture
async def stage(world: World) -> Stage:
    """A session with the skills of this repository and two companions that are served."""

    async def catalog() -> SkillCatalog:
        return CATALOG

    stage = Stage(world, Sessions(world.store(), catalog=catalog))
    stage.conductor = stage.conduct(discover=stage.discover)
    await stage.begin(shared_data={"order_id": "ORD-1004"})
    for name in ("a", "b"):
        await stage.sessions.employ(ID, NewCompanion(ME, name=name))
    await stage.sit()
    return stage


async def test_what_may_have_changed_something_is_not_tried_again_by_itself(stage: Stage) -> None:
    reply = await stage.say("Refund it skill:support.refund_order")
    [task_id] = reply.task_ids
    await stage.call(
        task_id, "payments:refund_payment", risk="high", skills=["support.refund_order"]
    )
    await stage.fail(task_id)
    [asked] = await stage.attend()
    assert (asked.task_ids, fired(asked)) == ((), ["may-have-had-effect"])
    assert "it called payments:refund_payment" in asked.questions[0]
    assert "`retry`" in asked.questions[0]
    assert (await stage.session()).head.counts.delegated == 1
    # The user knows, and decides.
    again = await stage.say("retry")
    assert again.task_ids == (f"{task_id}-r1",)


@pytest.mark.parametrize(
    ("tool", "about", "rule"),
    [
        ("shipping:track_shipment", {"risk": "low", "skills": [DELIVERY]}, "passing-trouble"),
        # Of little risk, but what it did stays done.
        ("shipping:notify_customer", {"risk": "low", "skills": [NOTIFY]}, "may-have-had-effect"),
        ("shipping:track_shipment", {"risk": "low", "skills": ["gone"]}, "may-have-had-effect"),
        ("shipping:track_shipment", {"risk": "low", "skills": []}, "may-have-had-effect"),
    ],
)
async def test_what_only_looked_something_up_is_tried_again(
    stage: Stage, tool: str, about: dict[str, object], rule: str
) -> None:
    reply = await stage.say("Where is it skill:support.check_delivery")
    await stage.call(reply.task_ids[0], tool, **about)
    await stage.fail(reply.task_ids[0])
    [news] = await stage.attend()
    assert fired(news) == [rule]


async def test_calls_of_somebody_outside_count_where_nothing_else_is_known(stage: Stage) -> None:
    from dcf.workflow import Failed

    reply = await stage.say("Refund it skill:support.refund_order")
    await stage.do(reply.task_ids[0], Failed("no_access", "shut", metrics={"tool_calls": 2}))
    [asked] = await stage.attend()
    assert fired(asked) == ["may-have-had-effect"]


async def test_who_waited_for_an_approval_in_vain_is_not_sent_again(stage: Stage) -> None:
    reply = await stage.say("Refund it skill:support.refund_order")
    await stage.call(reply.task_ids[0], "payments:refund_payment", verdict="ask", risk="high")
    await stage.fail(reply.task_ids[0], "deadline_passed")
    [asked] = await stage.attend()
    assert fired(asked) == ["nobody-decided"]
    assert "dcf approvals" in asked.questions[0]


async def test_a_question_gets_no_skill_that_changes_something(stage: Stage) -> None:
    stage.found = {
        "where": [(SHIP, 0.9), (DELIVERY, 0.87)],
        "what": [(NOTIFY, 0.9), (CUSTOMER, 0.5)],
    }
    reply = await stage.say("where is my parcel? order_id=ORD-1001")
    assert (await stage.task(reply.task_ids[0])).skills == (DELIVERY,)
    assert "support.check_delivery" in reply.text
    asked = await stage.say("what happened to the customer?")
    assert asked.task_ids == ()
    assert "`skill:orders.notify_customer@1.0.0`" in asked.questions[0]
    order = await stage.say("skill:orders.notify_customer")
    assert (await stage.task(order.task_ids[0])).skills == (NOTIFY,)


async def test_the_objective_never_speaks_for_more_risk(stage: Stage) -> None:
    found = [(DELIVERY, 0.9), (SHIP, 0.9)]
    stage.found = {"Look": found, "Look after it (help people)": [(SHIP, 1.0), (DELIVERY, 0.1)]}
    reply = await stage.say("Look after it")
    assert (await stage.task(reply.task_ids[0])).skills == (DELIVERY,)
    stage.found |= {"Look": [(SHIP, 0.9), (DELIVERY, 0.9)]}
    reply = await stage.say("Look after it")
    assert (await stage.task(reply.task_ids[0])).skills == (SHIP,)


async def test_what_may_do_harm_must_be_meant_more_surely(stage: Stage) -> None:
    stage.found = {"Open": [(SHIP, 0.5)], "Look": [(DELIVERY, 0.5)]}
    assert (await stage.say("Open it")).task_ids == ()
    assert (await stage.say("Look for it")).task_ids != ()


async def test_the_text_says_inputs_without_their_names(stage: Stage) -> None:
    stage.found = {"where": [(DELIVERY, 0.9)]}
    reply = await stage.say("where is the parcel of ORD-1001?")
    task = await stage.task(reply.task_ids[0])
    # What the text says wins over what the session shares.
    assert task.input == {"order_id": "ORD-1001"}
    reply = await stage.say("where is it?")
    assert (await stage.task(reply.task_ids[0])).input == {"order_id": "ORD-1004"}
    asked = await stage.say("where is it, ORD-1001 or ORD-1002?")
    assert asked.task_ids == () and "ORD-1001 or ORD-1002" in asked.questions[0]
    still = await stage.say("yes")
    assert still.task_ids == ()
    reply = await stage.say("order_id=ORD-1002")
    assert (await stage.task(reply.task_ids[0])).input == {"order_id": "ORD-1002"}


async def test_inputs_are_no_answer_to_what_skill_is_meant(stage: Stage) -> None:
    stage.found = {"Sing": [(DELIVERY, 0.1)]}
    asked = await stage.say("Sing a song")
    assert asked.questions
    still = await stage.say("order_id=ORD-1001")
    assert still.task_ids == () and "I know no skill" in still.questions[0]
    reply = await stage.say("skill:support.check_delivery")
    task = await stage.task(reply.task_ids[0])
    assert (task.skills, task.input) == ((DELIVERY,), {"order_id": "ORD-1001"})
