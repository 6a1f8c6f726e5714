"""What delegating, assigning and settling do to a session, without any server."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.sessions import (
    BadValue,
    Broadcast,
    CompanionBusy,
    Context,
    DelegationCycle,
    Draft,
    Head,
    NewCompanion,
    NoConductor,
    NoSuchSpecialization,
    NotOpen,
    Order,
    SessionTask,
    Settled,
    TaskExists,
    TooLarge,
    UnknownCompanion,
    UnknownTask,
)
from dcf.sessions.assigning import assign
from dcf.sessions.broadcasting import broadcast
from dcf.sessions.delegating import delegate, redelegate
from dcf.sessions.draft import PAGE, new_record
from dcf.sessions.settling import close, take_away
from dcf.sessions.staffing import describe, dismiss, employ, lose, take_seat
from dcf.sessions.stating import begin_end, end_if_done, pause, resume

ME = "conductor-1"


def begun() -> Draft:
    return Draft("s1", new_record(Head("help people", (ME,), 1_000), Context()), now=1_000)


def with_companions(draft: Draft, *names: str, specialization: str = "generalist") -> None:
    """Companions that somebody serves."""
    for name in names:
        made = employ(draft, NewCompanion(ME, specialization, name=name), "0" * 16)
        take_seat(draft, made.companion_id)


def order(**fields: Any) -> Order:
    return replace(Order("Look the order up.", ME), **fields)


def given_to(draft: Draft) -> dict[str, str | None]:
    return {task.task_id: task.companion_id for task in assign(draft)}


def test_the_oldest_of_the_most_urgent_goes_to_the_one_that_is_idle_for_longest() -> None:
    draft = begun()
    with_companions(draft, "a")
    draft.now += 1
    with_companions(draft, "b")
    for number, priority in enumerate(("low", "normal", "urgent", "high", "urgent")):
        draft.now += 1
        delegate(draft, order(priority=priority), f"t{number}")
    assert given_to(draft) == {"t2": "companion-a", "t4": "companion-b"}
    assert {one.status for one in draft.companions.values()} == {"busy"}
    close(draft, draft.tasks["t2"], Settled("succeeded"))
    assert given_to(draft) == {"t3": "companion-a"}


def test_a_companion_made_for_the_skills_comes_first() -> None:
    draft = begun()
    with_companions(draft, "a", "b")
    draft.seat(replace(draft.companions["companion-b"], skills=("skill.pay@1.0.0",)))
    delegate(draft, order(skills=("skill.pay@1.0.0",)), "t")
    assert given_to(draft) == {"t": "companion-b"}


def test_nobody_gets_a_task_whom_nobody_serves() -> None:
    draft = begun()
    employ(draft, NewCompanion(ME, name="a"), "0")
    delegate(draft, order(), "t")
    assert given_to(draft) == {}
    take_seat(draft, "companion-a")
    assert given_to(draft) == {"t": "companion-a"}


def test_a_named_companion_is_waited_for_and_others_stay_idle() -> None:
    draft = begun()
    with_companions(draft, "a", "b")
    delegate(draft, order(companion_id="companion-a"), "t1")
    assert given_to(draft) == {"t1": "companion-a"}
    delegate(draft, order(companion_id="companion-a"), "t2")
    assert given_to(draft) == {}
    with pytest.raises(CompanionBusy, match="busy with t1"):
        delegate(draft, order(companion_id="companion-a", refuse_busy=True), "t3")


def test_only_those_with_the_specialization_get_it() -> None:
    draft = begun()
    with_companions(draft, "a")
    with_companions(draft, "b", specialization="billing")
    delegate(draft, order(specialization="billing"), "t")
    assert given_to(draft) == {"t": "companion-b"}
    with pytest.raises(NoSuchSpecialization, match="nearest: billing") as refused:
        delegate(draft, order(specialization="biling"), "t2")
    assert "billing, generalist" in refused.value.hint


def test_dependencies_wait_and_fail_with_what_they_wait_for() -> None:
    draft = begun()
    with_companions(draft, "a", "b")
    delegate(draft, order(), "t1")
    delegate(draft, order(after=("t1",)), "t2")
    delegate(draft, order(after=("t2",)), "t3")
    assert given_to(draft) == {"t1": "companion-a"}
    close(draft, draft.tasks["t1"], Settled("partial"))
    assert set(given_to(draft)) == {"t2"}
    close(draft, draft.tasks["t2"], Settled.failed("boom", "it broke"))
    assert given_to(draft) == {}
    t3 = draft.tasks["t3"]
    assert t3.status == "failed"
    assert t3.error == {"code": "dependency_failed", "message": "it was to follow t2 (failed)"}
    counts = draft.head.counts
    assert (counts.delegated, counts.partial, counts.failed, counts.succeeded) == (3, 1, 2, 0)


def test_a_task_said_twice_is_one_task() -> None:
    draft = begun()
    first = delegate(draft, order(), "t")
    assert delegate(draft, order(), "t") == first
    assert draft.head.counts.delegated == 1
    with pytest.raises(TaskExists):
        delegate(draft, order(description="Something else."), "t")


def test_a_task_of_one_that_goes_keeps_its_specialization() -> None:
    for goes in (
        lambda draft: dismiss(draft, "companion-a", by=ME),
        lambda draft: describe(draft, "companion-a", status="error"),
        lambda draft: lose(draft, "companion-a", "nobody serves it"),
    ):
        draft = begun()
        with_companions(draft, "a", specialization="billing")
        with_companions(draft, "b", specialization="cooking")
        delegate(draft, order(companion_id="companion-a"), "t")
        assert given_to(draft) == {"t": "companion-a"}
        goes(draft)
        assert given_to(draft) == {}
        assert draft.tasks["t"].specialization == "billing"


def test_a_task_that_is_taken_away_goes_to_another_if_there_is_one() -> None:
    draft = begun()
    with_companions(draft, "a", "b")
    draft.seat(replace(draft.companions["companion-a"], skills=("skill.pay@1.0.0",)))
    delegate(draft, order(skills=("skill.pay@1.0.0",)), "t")
    assert given_to(draft) == {"t": "companion-a"}
    redelegate(draft, "t", None, by=ME)
    assert given_to(draft) == {"t": "companion-b"}
    dismiss(draft, "companion-a", by=ME)
    redelegate(draft, "t", None, by=ME)
    assert given_to(draft) == {"t": "companion-b"}


def test_what_is_no_companion_s_task_is_not_given_to_one() -> None:
    draft = begun()
    with_companions(draft, "a", "b")
    broadcast(draft, Broadcast(order(), "all", most=2), "g")
    with pytest.raises(BadValue, match="Task g is a broadcast") as refused:
        redelegate(draft, "g", "companion-a", by=ME)
    assert "g_1, g_2" in refused.value.hint
    delegate(draft, order(workflow={"States": {}}), "w")
    with pytest.raises(BadValue, match="Task w is a workflow"):
        redelegate(draft, "w", None, by=ME)


def test_a_broadcast_that_is_decided_tells_what_it_cancels() -> None:
    draft = begun()
    with_companions(draft, "a", "b", "c")
    broadcast(draft, Broadcast(order(), "quorum", most=3), "g")
    for child in ("g_1", "g_3"):
        close(draft, draft.tasks[child], Settled("succeeded"))
    told = [event for event in draft.events if event["type"] == "TaskCancelled"]
    assert [(one["task_id"], one["by"]) for one in told] == [("g_2", "dcf")]


def test_what_cannot_be_ordered_is_refused_with_the_names_there_are() -> None:
    draft = begun()
    with_companions(draft, "billing-1")
    with pytest.raises(UnknownCompanion, match="nearest: companion-billing-1") as unknown:
        delegate(draft, order(companion_id="companion-biling-1"), "t")
    assert "companion-billing-1" in unknown.value.hint
    with pytest.raises(DelegationCycle):
        draft.head = replace(draft.head, conductors=(ME, "companion-billing-1"))
        delegate(draft, order(by="companion-billing-1", companion_id="companion-billing-1"), "t")
    with pytest.raises(NoConductor, match="conductor-1 or companion-billing-1"):
        delegate(draft, order(by="somebody"), "t")
    with pytest.raises(UnknownTask):
        delegate(draft, order(after=("nothing",)), "t")
    with pytest.raises(BadValue, match="priority"):
        delegate(draft, order(priority="soon"), "t")
    with pytest.raises(BadValue, match="timeout_seconds"):
        delegate(draft, order(timeout_s=0), "t")
    with pytest.raises(BadValue, match="timeout_seconds"):
        delegate(draft, order(timeout_s=float("nan")), "t")
    with pytest.raises(BadValue, match="description"):
        delegate(draft, order(description=" "), "t")
    with pytest.raises(TooLarge, match="input"):
        delegate(draft, order(input="x" * 300_000), "t")
    assert draft.tasks == {}
    assert draft.head.counts.delegated == 0


def test_a_broadcast_to_all_has_a_task_each_and_one_that_stands_for_them() -> None:
    draft = begun()
    with_companions(draft, "a", "b", "c")
    group = broadcast(draft, Broadcast(order(), "all", most=2), "g")
    assert group.children == ("g_1", "g_2")
    assert given_to(draft) == {"g_1": "companion-a", "g_2": "companion-b"}
    close(draft, draft.tasks["g_1"], Settled("succeeded"))
    assert draft.tasks["g"].is_open
    close(draft, draft.tasks["g_2"], Settled.failed("boom", "no"))
    assert draft.tasks["g"].status == "partial"
    assert draft.head.counts.delegated == 2


def test_a_quorum_is_enough_and_the_rest_is_to_be_cancelled() -> None:
    draft = begun()
    with_companions(draft, "a", "b", "c")
    group = broadcast(draft, Broadcast(order(), "quorum", most=3), "g")
    assert group.need == 2
    assign(draft)
    close(draft, draft.tasks["g_1"], Settled("succeeded"))
    close(draft, draft.tasks["g_2"], Settled("succeeded"))
    assert draft.tasks["g"].status == "succeeded"
    assert draft.tasks["g_3"].is_open
    assert draft.tasks["g_3"].cancelled_by == "dcf"
    with pytest.raises(BadValue, match="quorum is 4, not 1 to 3"):
        broadcast(draft, Broadcast(order(), "quorum", most=3, need=4), "g2")


def test_a_broadcast_that_is_cancelled_is_cancelled_with_its_last_child() -> None:
    draft = begun()
    with_companions(draft, "a", "b")
    group = broadcast(draft, Broadcast(order(), "all", most=2), "g")
    for task_id in ("g", *group.children):
        draft.put(replace(draft.tasks[task_id], cancelled_by=ME, reason="enough"))
    close(draft, draft.tasks["g_1"], Settled("cancelled"))
    close(draft, draft.tasks["g_2"], Settled("cancelled"))
    ended = draft.tasks["g"]
    assert (ended.status, ended.error) == ("cancelled", {"code": "cancelled", "message": "enough"})


def test_a_broadcast_to_the_first_idle_one_is_its_task() -> None:
    draft = begun()
    with_companions(draft, "a", "b")
    task = broadcast(draft, Broadcast(order()), "t")
    assert (task.task_id, task.kind, task.children) == ("t", "companion", ())
    assert given_to(draft) == {"t": "companion-a"}


def test_a_lost_companion_s_task_goes_to_another_that_can_do_it_too() -> None:
    draft = begun()
    with_companions(draft, "a", "b", specialization="billing")
    with_companions(draft, "c")
    delegate(draft, order(companion_id="companion-a"), "t")
    assign(draft)
    lose(draft, "companion-a", "nobody serves it")
    assert draft.tasks["t"].status == "queued"
    assert given_to(draft) == {"t": "companion-b"}
    attempts = draft.tasks["t"].attempts
    assert [(one.companion_id, one.why) for one in attempts] == [
        ("companion-a", "nobody serves it"),
        ("companion-b", None),
    ]
    assert draft.companions["companion-a"].status == "lost"
    take_seat(draft, "companion-a")
    assert draft.companions["companion-a"].status == "idle"


def test_the_model_and_tier_of_the_first_one_that_has_it_stay_with_the_task() -> None:
    draft = begun()
    with_companions(draft, "a", "b")
    draft.seat(replace(draft.companions["companion-a"], tier=2, model="m"))
    delegate(draft, order(tier=1), "t")
    assign(draft)
    lose(draft, "companion-a", "gone")
    assign(draft)
    assert (draft.tasks["t"].companion_id, draft.tasks["t"].tier) == ("companion-b", 2)
    assert draft.tasks["t"].model == "m"


def test_a_dismissed_companion_leaves_its_task_to_others() -> None:
    draft = begun()
    with_companions(draft, "a", "b")
    delegate(draft, order(companion_id="companion-a"), "t1")
    delegate(draft, order(companion_id="companion-a"), "t2")
    assign(draft)
    dismiss(draft, "companion-a", by=ME)
    assert "companion-a" in draft.former
    assert given_to(draft) == {"t1": "companion-b"}
    close(draft, draft.tasks["t1"], Settled("succeeded"))
    assert given_to(draft) == {"t2": "companion-b"}
    with pytest.raises(UnknownCompanion):
        dismiss(draft, "companion-a", by=ME)


def test_a_companion_out_of_order_gets_nothing_till_it_is_back() -> None:
    draft = begun()
    with_companions(draft, "a")
    delegate(draft, order(), "t")
    assign(draft)
    with pytest.raises(BadValue, match="busy: it has task t"):
        describe(draft, "companion-a", status="idle")
    with pytest.raises(BadValue, match="idle or error"):
        describe(draft, "companion-a", status="tired")
    describe(draft, "companion-a", status="error", reason="no disk")
    assert draft.tasks["t"].status == "queued"
    assert given_to(draft) == {}
    describe(draft, "companion-a", status="idle")
    assert given_to(draft) == {"t": "companion-a"}


def test_a_paused_session_gives_nothing_away_and_one_that_ends_takes_nothing() -> None:
    draft = begun()
    with_companions(draft, "a")
    pause(draft, by=ME)
    delegate(draft, order(), "t")
    assert given_to(draft) == {}
    resume(draft, by=ME)
    assert set(given_to(draft)) == {"t"}
    begin_end(draft, "completed", by=ME)
    with pytest.raises(NotOpen, match="completing: delegating"):
        delegate(draft, order(), "t2")
    with pytest.raises(NotOpen):
        pause(draft, by=ME)
    assert not end_if_done(draft)
    close(draft, draft.tasks["t"], Settled("succeeded"))
    assert end_if_done(draft)
    assert draft.head.state == "completed"
    assert draft.companions == {}
    assert set(draft.former) == {"companion-a"}


def test_a_task_that_is_over_stays_as_it_is() -> None:
    draft = begun()
    with_companions(draft, "a")
    delegate(draft, order(), "t")
    assign(draft)
    close(draft, draft.tasks["t"], Settled("succeeded", summary="done"))
    close(draft, draft.tasks["t"], Settled.failed("late", "too late"))
    assert draft.tasks["t"].status == "succeeded"
    assert draft.head.counts.failed == 0


def test_pages_are_turned_when_tasks_are_told_and_nobody_waits_for_them() -> None:
    draft = begun()
    for number in range(2 * PAGE + 10):
        task = delegate(draft, order(), f"t{number:03}")
        close(draft, task, Settled("succeeded"))
        if number != 7:
            draft.put(replace(draft.tasks[task.task_id], told=True))
    delegate(draft, order(after=("t003",)), "last")
    changed = draft.changed()
    assert {"done_0", "done_1"} <= set(changed)
    assert len(changed["done_0"]) == PAGE
    assert {"t003", "t007", "last"} <= set(draft.tasks)
    paged = {name: changed[name] for name in ("done_0", "done_1")}
    there = {task_id for page in paged.values() for task_id in page} | set(draft.tasks)
    assert len(there) == 2 * PAGE + 11
    assert draft.head.pages == 2


def test_what_is_stored_reads_back_as_it_was() -> None:
    draft = begun()
    with_companions(draft, "a", "b")
    broadcast(draft, Broadcast(order(input={"n": [1]}), "all", most=2), "g")
    assign(draft)
    close(draft, draft.tasks["g_1"], Settled("succeeded", summary="é", finished_at=5))
    record = {**new_record(draft.head, draft.context), **draft.changed()}
    read = Draft("s1", record, now=draft.now)
    assert (read.head, read.companions, read.tasks) == (draft.head, draft.companions, draft.tasks)
    assert read.changed() == {}
    newer = {**record["session"], "invented_later": 1}
    assert Draft("s1", {**record, "session": newer}, now=1).head == draft.head


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["delegate", "after", "broadcast", "assign", "succeed", "fail", "cancel", "lose",
             "seat", "dismiss", "employ", "away", "error", "pause", "resume"]
        ),
        st.integers(0, 7),
    ),
    max_size=40,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_whatever_happens_a_companion_has_one_task_and_nothing_is_lost(
    steps: list[tuple[str, int]],
) -> None:
    draft = begun()
    with_companions(draft, "a", "b")
    closed: dict[str, SessionTask] = {}
    for number, (what, choice) in enumerate(steps):
        draft.now += 1
        _do(draft, what, choice, number)
        _check(draft)
        for task_id, task in closed.items():
            assert draft.tasks[task_id] == task, "what is over never changes"
        closed = {one.task_id: one for one in draft.tasks.values() if not one.is_open}


def _do(draft: Draft, what: str, choice: int, number: int) -> None:
    companions, tasks = list(draft.companions), list(draft.tasks.values())
    name = companions[choice % len(companions)] if companions else None
    running = [task for task in tasks if task.is_open and task.kind == "companion"]
    task = running[choice % len(running)] if running else None
    match what:
        case "delegate":
            delegate(draft, order(companion_id=name if choice % 2 else None), f"t{number}")
        case "after" if task is not None:
            delegate(draft, order(after=(task.task_id,)), f"t{number}")
        case "broadcast" if any(one.status != "error" for one in draft.companions.values()):
            broadcast(draft, Broadcast(order(), "quorum", most=1 + choice), f"t{number}")
        case "assign":
            assign(draft)
        case "succeed" if task is not None and task.status == "assigned":
            close(draft, task, Settled("succeeded"))
        case "fail" if task is not None and task.status == "assigned":
            close(draft, task, Settled.failed("x", "y"))
        case "cancel" if task is not None:
            close(draft, task, Settled("cancelled"))
        case "lose" if name is not None:
            lose(draft, name, "gone")
        case "seat" if name is not None:
            take_seat(draft, name)
        case "dismiss" if name is not None:
            dismiss(draft, name, by=ME)
        case "employ":
            with_companions(draft, f"n{number}")
        case "away" if task is not None:
            take_away(draft, task, "elsewhere", to=name)
        case "error" if name is not None:
            describe(draft, name, status="error")
        case "pause":
            pause(draft, by=ME)
        case "resume":
            resume(draft, by=ME)


def _at_work(draft: Draft) -> set[str]:
    return {one.companion_id for one in draft.companions.values() if one.status == "busy"}


def _check(draft: Draft) -> None:
    held = [task for task in draft.tasks.values() if task.status == "assigned"]
    holders = [task.companion_id for task in held]
    assert len(set(holders)) == len(holders), "one task a companion"
    for task in held:
        assert task.companion_id is not None
        if task.cancelled_by is not None and task.companion_id not in _at_work(draft):
            continue  # Its run is to be ended; whoever had it is lost or dismissed.
        companion = draft.companions[task.companion_id]
        assert (companion.task_id, companion.status) == (task.task_id, "busy")
    for companion in draft.companions.values():
        assert (companion.task_id is not None) == (companion.status == "busy")
    counts = draft.head.counts
    single = [task for task in draft.tasks.values() if task.kind != "group"]
    assert counts.delegated == len(single)
    assert counts.closed == sum(not task.is_open for task in single)
