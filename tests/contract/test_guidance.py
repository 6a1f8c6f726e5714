"""Guidance on a control plane: what conductors are told is changed by compare-and-set, analyses are
published once, and what they found is kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Sequence
from typing import Any

import pytest
from desks import ID, ME, Desk
from worlds import World

from control_plane import Backend, BadName, UnknownSession, keys, read_record_history, timers
from control_plane.script import Script
from dcf.advisors.strategist import (
    InvalidStrategistGuidelines,
    SkillHistory,
)
from dcf.evidence import Record
from dcf.sessions import Broadcast, NoConductor, Order, Sessions
from dcf.sessions.guidance import (
    Analysed,
    Guidance,
    History,
    OneAgentTwice,
    UnreadableGuidelines,
)
from dcf.workflow import Failed, Outcome

STRATEGIST = "strategist-1"
BAD, GOOD = "skill.shop.refund@1.0.0", "skill.shop.refund@2.0.0"


class Filled:
    """A backend whose outbox takes nothing while it is ``full``."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner
        self.command, self.close = inner.command, inner.close
        self.full = True

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        if self.full and script.name == "tell":
            return ["full", 100_000]
        return await self._inner.run(script, keys, args)


class Office(Desk):
    """A session under test whose conductor is advised."""

    def __init__(
        self, world: World, backend: Backend | None = None, *, outbox: bool = False
    ) -> None:
        super().__init__(world, Sessions(world.store(backend, outbox=outbox)))
        self.guidance = Guidance(self.sessions)

    def other(self) -> Guidance:
        """That of another process."""
        return Guidance(Sessions(self.world.store()))

    async def done(self, count: int, skill: str, outcome: Outcome | None = None) -> None:
        """Tasks with ``skill`` that the companion works at for a second each."""
        for _ in range(count):
            task = await self.delegate(skills=(skill,), task_type="refund")
            lease = await self.lease(task)
            await self.world.advance(1_000)
            await self.finish(lease, outcome)  # type: ignore[arg-type]
            await self.world.advance(10)
            await self.sit("companion-a")
            await self.sessions.tick(ID)

    async def analyse(self, **said: Any) -> Analysed:
        return await self.guidance.analyse(ID, ME, **{"by": STRATEGIST, **said})

    async def told(self, *types: str) -> list[dict[str, Any]]:
        """What the history of the conductor says."""
        records = self.guidance.records
        found = [one.event async for one in read_record_history(records, ME)]
        return [event for event in found if event["type"] in types]


@pytest.fixture
def office(world: World) -> Office:
    return Office(world)


FAILED = Failed("refused_by_bank", "the bank says no")


async def test_a_conductor_that_nobody_advised_has_the_documented_defaults(office: Office) -> None:
    guided = await office.guidance.of(ME)
    assert (guided.revision, guided.strategist_id) == (0, None)
    assert guided.guidelines.bounds.max_companions == 5
    assert guided.guidelines.to_json()["recommendations"] == []
    with pytest.raises(BadName):
        await office.guidance.of("no agent")


async def test_a_strategist_is_registered_once_and_another_takes_its_place(office: Office) -> None:
    initial = json.dumps({"skill_preferences": {"refund": GOOD}})
    first = await office.guidance.register(ME, STRATEGIST, initial_json=initial)
    again = await office.guidance.register(ME, STRATEGIST, initial_json=initial)
    assert (first.before, again.before) == (None, STRATEGIST)
    assert (first.revision, again.revision) == (1, 1)
    guided = await office.guidance.of(ME)
    assert (guided.strategist_id, guided.guidelines.skill_preferences) == (
        STRATEGIST, {"refund": GOOD}
    )  # fmt: skip
    other = await office.guidance.register(ME, "strategist-2", initial_json='{"warnings": []}')
    assert other.before == STRATEGIST
    assert "are not taken" in other.warnings[0]
    assert (await office.guidance.of(ME)).guidelines.skill_preferences == {"refund": GOOD}
    assert [one["strategist_id"] for one in await office.told("StrategistRegistered")] == [
        STRATEGIST, "strategist-2"
    ]  # fmt: skip
    with pytest.raises(OneAgentTwice):
        await office.guidance.register(ME, ME)
    with pytest.raises(InvalidStrategistGuidelines):
        await office.guidance.register("conductor-2", STRATEGIST, initial_json="{")
    assert (await office.guidance.of("conductor-2")).strategist_id is None


async def test_fifty_writers_at_once_lose_nothing(world: World) -> None:
    office = Office(world)
    writers = [office.other() for _ in range(50)]
    await asyncio.gather(
        *(
            one.update(ME, by=f"agent-{number}",
                       skill_preferences_json=json.dumps({f"type{number}": GOOD}))
            for number, one in enumerate(writers)
        )
    )  # fmt: skip
    guided = await office.guidance.of(ME)
    assert guided.guidelines.skill_preferences == {f"type{number}": GOOD for number in range(50)}
    assert guided.revision == guided.guidelines.update_count == 50
    revisions = [one["revision"] for one in await office.told("GuidelinesUpdated")]
    assert revisions == list(range(1, 51))


async def test_all_that_is_wrong_is_said_and_nothing_of_it_is_written(office: Office) -> None:
    with pytest.raises(InvalidStrategistGuidelines) as caught:
        await office.guidance.update(
            ME, by=STRATEGIST, recommendation="Be quick.", skill_preferences_json="[1]",
            companion_scaling_json='{"min_companions": 9}', model_selection_json="{",
        )  # fmt: skip
    assert len(caught.value.problems) >= 2
    assert (await office.guidance.of(ME)).revision == 0


async def test_what_there_is_no_room_for_is_named(office: Office) -> None:
    for number in range(20):
        await office.guidance.update(ME, by="me", recommendation=f"Heed the number {number}.")
        await office.world.advance(1)
    updated = await office.guidance.update(ME, by="me", recommendation="Heed the last one.")
    assert updated.dropped == ("recommendations: Heed the number 0.",)
    kept = [one.text for one in (await office.guidance.of(ME)).guidelines.recommendations]
    assert len(kept) == 20
    assert kept[-1] == "Heed the last one."
    assert (await office.told("GuidelinesUpdated"))[-1]["dropped"] == list(updated.dropped)


async def test_nothing_said_is_nothing_written(office: Office) -> None:
    assert (await office.guidance.update(ME, by="me", recommendation=" ")).fields == ()
    assert (await office.guidance.of(ME)).revision == 0


async def test_guidelines_that_cannot_be_read_can_be_begun_anew(office: Office) -> None:
    await office.guidance.update(ME, by="me", recommendation="Be quick.")
    key = office.guidance.records.keys(ME).document
    broken = json.dumps({"skill_preferences": 7, "revision": 41})
    await office.world.backend.command("JSON.SET", key, "$.record.guidelines", broken)
    with pytest.raises(UnreadableGuidelines, match="skill_preferences"):
        await office.guidance.of(ME)
    with pytest.raises(UnreadableGuidelines):
        await office.guidance.update(ME, by="me", recommendation="Be slow.")
    await office.guidance.update(ME, by="me", clear_guidelines=True)
    guided = await office.guidance.of(ME)
    assert (guided.revision, guided.guidelines.recommendations) == (42, ())


async def test_a_failing_skill_is_warned_of_and_the_better_one_is_preferred(
    office: Office,
) -> None:
    await office.begin("a")
    for _ in range(15):
        await office.done(1, BAD, FAILED)
        await office.done(1, GOOD)
    analysed = await office.analyse(reason="on_demand")
    assert analysed.is_new
    guided = await office.guidance.of(ME)
    assert guided.guidelines.skill_preferences == {"refund": GOOD}
    [warning] = [one for one in guided.guidelines.warnings if one.advice is not None
                 and one.advice.subject.get("skill") == BAD]  # fmt: skip
    assert "refused_by_bank" in warning.text
    assert warning.evidence["observations"] == 15
    assert warning.confidence is not None and warning.confidence > 0.7
    [event] = await office.told("GuidelinesPublished")
    assert event["session_id"] == ID
    assert event["revision"] == guided.revision == 1
    assert {one["what"] for one in event["changes"]} == {"published"}
    session = await office.sessions.get(ID)
    assert (session.head.analysed, session.head.analysed_at) == (30, office.world.now_ms)
    [mark] = await office.events("SessionAnalysed")
    assert (mark["reason"], mark["tasks"], mark["revision"]) == ("on_demand", 30, 1)


async def test_advice_that_is_followed_is_held_against_what_was_before(office: Office) -> None:
    await office.begin("a")
    for _ in range(15):
        await office.done(1, BAD, FAILED)
        await office.done(1, GOOD)
    await office.analyse()
    await office.world.advance(1_000)
    await office.sit("companion-a")
    await office.done(12, GOOD)
    await office.analyse()
    guidelines = (await office.guidance.of(ME)).guidelines
    [followed] = [one.followed for one in guidelines.recommendations if one.followed is not None]
    assert (followed.before.successes, followed.before.failures) == (15, 15)
    assert (followed.now.successes, followed.now.failures, followed.offered) == (12, 0, 12)
    assert followed.verdict == "helped"


async def test_advice_that_has_expired_is_not_read_and_then_taken_back(office: Office) -> None:
    await office.begin("a")
    for _ in range(10):
        await office.done(1, BAD, FAILED)
        await office.done(1, GOOD)
    await office.analyse()
    assert (await office.guidance.of(ME)).guidelines.skill_preferences == {"refund": GOOD}
    await office.world.advance(30 * 86_400_000)
    guided = await office.guidance.of(ME)
    assert guided.guidelines.skill_preferences == {}
    assert guided.guidelines.remarks == ()
    other = await office.sessions.create("s2", ME, "another time")
    analysed = await office.guidance.analyse(other.session_id, ME, by=STRATEGIST)
    assert {one.what for one in analysed.changes} == {"expired"}
    assert (await office.told("GuidelinesPublished"))[-1]["session_id"] == "s2"


async def test_what_was_analysed_is_not_published_twice(office: Office) -> None:
    await office.begin("a")
    for _ in range(10):
        await office.done(1, BAD, FAILED)
        await office.done(1, GOOD)
    others = [office.other() for _ in range(4)]
    found = await asyncio.gather(*(one.analyse(ID, ME, by=STRATEGIST) for one in others))
    assert sorted(one.is_new for one in found) == [False, False, False, True]
    assert {one.revision for one in found} == {1}
    assert len(await office.told("GuidelinesPublished")) == 1
    assert len(await office.events("SessionAnalysed")) == 1
    again = await office.analyse()
    assert (again.is_new, again.changes) == (False, ())


async def test_who_dies_after_publishing_leaves_the_mark_to_the_next(office: Office) -> None:
    await office.begin("a")
    for _ in range(10):
        await office.done(1, BAD, FAILED)
        await office.done(1, GOOD)
    mortal = office.other()

    async def dies(*_: Any, **__: Any) -> None:
        raise OSError

    mortal._mark = dies  # type: ignore[method-assign]
    with pytest.raises(OSError):
        await mortal.analyse(ID, ME, by=STRATEGIST)
    assert (await office.sessions.get(ID)).head.analysed == 0
    later = await office.analyse()
    assert not later.is_new
    assert (await office.sessions.get(ID)).head.analysed == 20
    assert len(await office.told("GuidelinesPublished")) == 1


async def test_only_who_conducts_a_session_is_advised_on_it(office: Office) -> None:
    await office.begin()
    with pytest.raises(NoConductor, match="conductor-1 does"):
        await office.guidance.analyse(ID, "conductor-2", by="me")
    with pytest.raises(UnknownSession):
        await office.guidance.analyse("s2", ME, by="me")
    with pytest.raises(UnknownSession):
        await office.guidance.activity("s2")


async def test_a_session_without_tasks_says_nothing(office: Office) -> None:
    await office.begin("a")
    analysed = await office.analyse()
    assert (analysed.changes, analysed.patterns, analysed.revision) == ((), (), 0)
    assert analysed.analysis.health.state == "quiet"


async def test_a_session_that_is_over_can_still_be_analysed(office: Office) -> None:
    await office.begin("a")
    await office.done(2, GOOD)
    await office.sessions.end(ID, by=ME)
    analysed = await office.analyse(reason="milestone")
    assert analysed.analysis.outcomes == 2
    session = await office.sessions.get(ID)
    assert (session.state, session.head.analysed) == ("completed", 2)


async def test_what_waits_for_another_task_waits_for_no_companion(office: Office) -> None:
    await office.begin("a")
    first = await office.delegate(task_type="look")
    second = await office.delegate(task_type="write", after=(first.task_id,))
    counted = (await office.guidance.activity(ID)).counted
    assert [task.task_id for task in counted.tasks] == [first.task_id]
    await office.world.advance(3_000)
    await office.do(first)
    counted = (await office.guidance.activity(ID)).counted
    due = {task.task_id: task.delegated_at for task in counted.tasks}
    done = await office.sessions.task(ID, first.task_id)
    assert due == {first.task_id: first.delegated_at, second.task_id: done.finished_at}


async def test_what_a_companion_was_specialised_in_then_counts(office: Office) -> None:
    await office.begin("a", specialization="billing")
    task = await office.do(await office.delegate())
    await office.sessions.describe(ID, "companion-a", specialization="shipping")
    [counted] = (await office.guidance.activity(ID)).counted.tasks
    assert (counted.task_id, counted.specialization) == (task.task_id, "billing")
    assert counted.is_outcome


async def test_a_task_that_nobody_began_says_nothing_of_its_companion(office: Office) -> None:
    await office.begin("a")
    task = await office.delegate(timeout_s=5)
    await office.world.advance(8_000)
    # Its run is there and timed out, although the companion never looked at it.
    await timers.tick(office.sessions.store, task.task_id)
    await office.sit("companion-a")
    await office.sessions.tick(ID)
    [counted] = (await office.guidance.activity(ID)).counted.tasks
    assert (counted.task_id, counted.status, counted.started_at) == (task.task_id, "failed", None)
    assert not counted.is_outcome


async def test_a_broadcast_counts_by_its_children(office: Office) -> None:
    await office.begin("a", "b")
    group = await office.sessions.broadcast(ID, Broadcast(Order("Vote.", ME), "all", most=2))
    activity = await office.guidance.activity(ID)
    assert sorted(task.task_id for task in activity.tasks) == sorted(group.children)


async def test_a_long_session_is_read_page_by_page(office: Office) -> None:
    await office.begin("a")
    await office.done(60, GOOD)
    session = await office.sessions.tick(ID)
    assert session.head.pages == 1
    for _ in range(2):
        activity = await office.guidance.activity(ID)
        assert len(activity.tasks) == 60
        assert activity.to_json()["left_out"] == 10
    assert activity.to_json()["metrics"]["completed_tasks"] == 60


class Known:
    """Somebody who remembers, or does not answer."""

    def __init__(self, *, answers: bool = True) -> None:
        self.asked: list[tuple[str, tuple[str, ...], int]] = []
        self._answers = answers

    async def of(self, session_id: str, task_types: Collection[str], *, before: int) -> History:
        self.asked.append((session_id, tuple(task_types), before))
        if not self._answers:
            raise ConnectionError("the graph is away")
        return History((SkillHistory("refund", GOOD, Record(80, 20, 100)),))


async def test_other_sessions_are_asked_once_and_for_what_was_before(office: Office) -> None:
    known = Known()
    office.guidance = Guidance(office.sessions, past=known)
    session = await office.begin("a")
    await office.done(5, GOOD)
    for _ in range(2):
        analysed = await office.analyse(reason="on_demand")
    [track] = analysed.analysis.skills
    # 80 of 100 before, 5 of 5 here, and what is believed of what nobody has seen.
    assert track.expected == pytest.approx(86 / 107, abs=0.01)
    assert known.asked == [(ID, ("refund",), session.head.created_at)]


async def test_a_graph_that_is_away_is_said_and_asked_again_later(office: Office) -> None:
    known = Known(answers=False)
    office.guidance = Guidance(office.sessions, past=known)
    await office.begin("a")
    await office.done(5, GOOD)
    first, second = await office.analyse(), await office.analyse()
    assert "the graph is away" in first.warnings[0]
    assert "no answer lately" in second.warnings[0]
    assert len(known.asked) == 1


async def test_what_was_found_waits_for_the_graph_once(world: World) -> None:
    office = Office(world, outbox=True)
    await office.begin("a")
    for _ in range(10):
        await office.done(1, BAD, FAILED)
        await office.done(1, GOOD)
    await office.analyse()
    found = await records(world)
    metrics = [data for kind, data in found if kind == "skill_metric"]
    rates = {
        one["skill"]: one["values"]["success_rate"]
        for one in metrics
        if one["task_type"] == "refund"
    }
    assert rates == {BAD: 0.0, GOOD: 1.0}
    kinds = {kind for kind, _ in found}
    assert {"session_pattern", "companion_pattern", "insight"} <= kinds
    await office.analyse(reason="on_demand")
    assert len(await records(world)) == len(found)


async def test_where_too_much_waits_the_next_analysis_keeps_the_rest(world: World) -> None:
    filled = Filled(world.backend)
    office = Office(world, filled, outbox=True)
    await office.begin("a")
    await office.done(6, GOOD)
    assert "not all that was found is kept" in (await office.analyse()).warnings[0]
    assert await records(world) == []
    filled.full = False
    assert (await office.analyse(reason="milestone")).warnings == ()
    assert {kind for kind, _ in await records(world)} == {
        "session_pattern", "skill_metric", "companion_pattern"
    }  # fmt: skip


async def records(world: World) -> list[tuple[str, dict[str, Any]]]:
    """What waits for the graph: kind and data."""
    entries = await world.backend.command("XRANGE", keys.OUTBOX_RECORDS, "-", "+")
    found = [dict(zip(fields[::2], fields[1::2], strict=True)) for _, fields in entries]
    return [(one["kind"], json.loads(one["data"])) for one in found]
