"""Blocks of sessions: what they say, how they fit, and that no older one takes a newer one's
place."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from local_world import local_world

from control_plane import Store
from control_plane.twin import Twin
from dcf.agents.templates import template_named, templates
from dcf.memory import SYSTEM, Block, NewAgent, ReadOnlyBlock
from dcf.search import count_tokens
from dcf.sessions import (
    Attempt,
    Companion,
    Context,
    Counts,
    Draft,
    Head,
    NewCompanion,
    Session,
    Sessions,
    SessionTask,
)
from dcf.sessions.draft import PAGE
from dcf.sessions.rendering import (
    Part,
    Rendered,
    Room,
    delegation_log,
    fitted,
    put,
    session_context,
    show_guidelines,
    show_session,
    show_task,
    strategist_guidelines,
    task_context,
)

ANN = Companion("companion-ann", "ann", 1_000, "boss", succeeded=3)
WIDE = Room(10**7, 10**7)


def task(number: int, **fields: Any) -> SessionTask:
    made = SessionTask(
        f"task-{number}", "look", f"Look at {number}.", "boss", number * 1_000, 600_000
    )
    return replace(made, **fields)


def done(number: int, **fields: Any) -> SessionTask:
    finished = number * 1_000 + 2_500
    made = task(number, companion_id="companion-ann", status="succeeded", finished_at=finished)
    return replace(made, started_at=number * 1_000 + 500, **fields)


def session(*tasks: SessionTask, revision: int = 7, **fields: Any) -> Session:
    counted = [one for one in tasks if one.kind != "group"]
    closed = sum(not one.is_open for one in counted)
    head = Head("help people", ("boss",), 500, counts=Counts(len(counted), succeeded=closed))
    made = Session(
        "s1",
        revision,
        9_000,
        head,
        Context(),
        {ANN.companion_id: ANN},
        {},
        {one.task_id: one for one in tasks},
    )
    return replace(made, **fields)


def said(rendered: Rendered) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(rendered.text)
    return value


def test_the_context_says_what_the_session_is() -> None:
    context = Context({"tone": "kind"}, {"order": 4}, ({"timestamp": "t", "message": "hi"},))
    block = session_context(session(done(1), task(2), context=context))
    assert (block.label, block.limit) == ("session_context:s1", 16_000)
    assert said(block) == {
        "session_id": "s1",
        "revision": 7,
        "updated_at": "1970-01-01T00:00:09.000Z",
        "conductor_id": "boss",
        "objective": "help people",
        "created_at": "1970-01-01T00:00:00.500Z",
        "state": "active",
        "companion_count": 1,
        "active_tasks": ["task-2"],
        "completed_tasks": ["task-1"],
        "preferences": {"tone": "kind"},
        "shared_data": {"order": 4},
        "announcements": [{"timestamp": "t", "message": "hi"}],
    }


def test_the_log_says_who_did_what_and_how_it_ended() -> None:
    failed = done(
        1,
        status="failed",
        description="x" * 201,
        skills=("skill.look@1.0.0",),
        error={"code": "lost", "message": "gone"},
        selection={"tier": 1, "model": "m", "fcs": 14.0, "why": "-"},
        deadline_at=61_000,
    )
    child = task(2, group="task-9", wanted="companion-nobody", priority="high")
    group = task(9, kind="group", children=("task-2",))
    block = delegation_log(session(failed, child, group))
    first, second = said(block)["delegations"]
    assert first == {
        "task_id": "task-1",
        "companion_id": "companion-ann",
        "companion_name": "ann",
        "skills_assigned": ["skill.look@1.0.0"],
        "task_description": "x" * 199 + "…",
        "priority": "normal",
        "timeout_seconds": 60,
        "status": "completed",
        "delegated_at": "1970-01-01T00:00:01.000Z",
        "completed_at": "1970-01-01T00:00:03.500Z",
        "duration_s": 2.0,
        "result_status": "failed",
        "error_code": "lost",
        "model_selection": {"tier": 1, "model": "m", "fcs": 14.0},
    }
    assert second["status"] == "pending" and second["broadcast_id"] == "task-9"
    assert (second["companion_id"], second["companion_name"]) == ("companion-nobody", None)
    assert second["duration_s"] is second["completed_at"] is second["result_status"] is None
    assert said(block)["last_delegation_at"] == "1970-01-01T00:00:02.000Z"


def test_a_companion_sees_its_task_whole_and_what_it_did_last() -> None:
    at_hand = task(
        5,
        status="assigned",
        companion_id="companion-ann",
        input={"order": 4},
        attempts=(Attempt("companion-bob", 5_100, "lost"), Attempt("companion-ann", 5_200)),
    )
    busy = replace(ANN, status="busy", task_id="task-5")
    others = done(2, companion_id="companion-bob"), done(3, status="cancelled")
    shown = session(done(1, summary="ok"), *others, at_hand, companions={"companion-ann": busy})
    value = said(task_context(shown, "companion-ann"))
    assert value["current_task"]["task"] == {
        "description": "Look at 5.",
        "required_skills": [],
        "input": {"order": 4},
        "priority": "normal",
        "timeout_seconds": 595,
    }
    assert value["current_task"]["from_conductor"] == "boss"
    assert value["task_started_at"] == "1970-01-01T00:00:05.200Z"
    (past,) = value["task_history"]
    assert past == {
        "task": {"task_id": "task-1", "task_type": "look", "description": "Look at 1."},
        "result": {"status": "succeeded", "summary": "ok", "reference": "dcf://run/task-1"},
        "completed_at": "1970-01-01T00:00:03.500Z",
    }
    # Three were counted for it, one is known: the others are on pages.
    assert value["left_out"] == [
        {"what": "task_history", "count": 2, "where": "list_session_tasks"}
    ]


def test_an_idle_companion_has_no_task() -> None:
    value = said(task_context(session(), "companion-ann"))
    assert value["current_task"] is value["task_started_at"] is None


def test_what_is_longer_than_the_log_is_counted_and_the_oldest_goes() -> None:
    many = session(*(done(number) for number in range(1, 131)))
    head = replace(many.head, counts=replace(many.head.counts, delegated=180))
    value = said(delegation_log(replace(many, head=head), room=WIDE))
    ids = [one["task_id"] for one in value["delegations"]]
    assert ids == [f"task-{number}" for number in range(31, 131)]
    assert value["left_out"] == [
        {"what": "delegations", "count": 80, "where": "list_session_tasks"}
    ]


def test_tasks_on_pages_are_shown_too() -> None:
    closed = [done(number) for number in range(1, 4)]
    head = Head("o", ("boss",), 500, counts=Counts(5, succeeded=4))
    shown = session(done(4), task(5), head=head)
    assert [one["task_id"] for one in said(delegation_log(shown, closed))["delegations"]] == [
        "task-1", "task-2", "task-3", "task-4", "task-5",
    ]  # fmt: skip
    assert said(session_context(shown, closed))["completed_tasks"] == [
        "task-1", "task-2", "task-3", "task-4",
    ]  # fmt: skip
    assert "left_out" not in said(session_context(shown, closed))
    (left,) = said(session_context(shown))["left_out"]
    assert (left["what"], left["count"]) == ("completed_tasks", 3)


@pytest.mark.parametrize("view", ["context", "log", "task"])
def test_a_session_at_its_limits_fits_its_blocks_and_says_what_is_missing(view: str) -> None:
    text = "Überall 🙂 steht etwas, das lang ist. " * 300
    busy = replace(ANN, status="busy", task_id="task-900")
    at_hand = task(900, description=text, input={"a": text, "b": 1}, companion_id="companion-ann")
    tasks = [done(n, description=text, summary=text[:500]) for n in range(1, 120)]
    context = Context(
        {"tone": "kind"},
        {"large": text * 10, "small": 1},
        tuple({"timestamp": "t", "message": text} for _ in range(20)),
    )
    waiting = [task(number) for number in range(200, 260)]
    shown = session(*tasks, *waiting, at_hand, context=context, companions={"companion-ann": busy})
    shown = replace(shown, head=replace(shown.head, objective=text))
    block = {
        "context": lambda: session_context(shown),
        "log": lambda: delegation_log(shown),
        "task": lambda: task_context(shown, "companion-ann"),
    }[view]()
    value = said(block)
    assert len(block.text.encode()) <= block.limit
    left = {one["what"]: one["count"] for one in value["left_out"]}
    if view == "context":
        # One large member does not drive out all that is small.
        assert value["shared_data"] == {"small": 1} and left["shared_data"] == 1
        assert len(value["active_tasks"]) == 61
        assert left["characters of objective"] == len(text) - 2_000
        assert left["announcements"] + len(value["announcements"]) == 20
        assert left["completed_tasks"] + len(value["completed_tasks"]) == 119
    elif view == "log":
        kept = [one["task_id"] for one in value["delegations"]]
        assert kept[-1] == "task-900" and left["delegations"] + len(kept) == 180
        assert len(kept) >= 20
    else:
        given = value["current_task"]["task"]
        cut = left["characters of current_task.task.description"]
        assert given["description"] == text[: len(text) - cut] + "…"
        assert given["input"] == {"b": 1} and left["current_task.task.input"] == 1


NAMES = ("words", "list", "members")


@given(
    st.lists(st.text(max_size=30), max_size=12),
    st.dictionaries(st.text(max_size=5), st.text(max_size=30), max_size=6),
    st.text(max_size=60),
    st.integers(150, 900),
)
@settings(max_examples=40, deadline=None)
def test_nothing_is_lost_uncounted_whatever_the_room(
    items: list[str], members: dict[str, str], words: str, size: int
) -> None:
    document = {"id": 1, "words": words, "list": items, "members": members}
    room = Room(size + 250, size)
    parts = [Part(name, "there") for name in NAMES]
    text = fitted(document, parts, room)
    value = json.loads(text)
    assert room.holds(text) and count_tokens(text) <= room.tokens
    left = {one["what"]: one["count"] for one in value.get("left_out", [])}
    gone = left.get("list", 0)
    assert value["list"] == items[gone:]
    assert len(value["members"]) + left.get("members", 0) == len(members)
    cut = left.get("characters of words", 0)
    assert value["words"] == (words[: len(words) - cut] + "…" if cut else words)
    assert fitted(document, parts, room) == text


def test_as_much_as_fits_is_kept() -> None:
    document = {"list": ["x" * 10] * 20}
    text = fitted(document, [Part("list", "there")], Room(150, 10**6))
    kept = len(json.loads(text)["list"])
    with_one_more = json.loads(text)
    with_one_more["list"] = ["x" * 10] * (kept + 1)
    assert len(text.encode()) <= 150 < len(json.dumps(with_one_more).encode())


def test_a_room_for_nothing_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="too few"):
        fitted({"id": "x" * 50}, [], Room(20, 100))


def test_half_surrogates_of_json_do_not_reach_a_memory() -> None:
    fitted({"a": "\ud800"}, [], WIDE).encode()


def test_the_same_session_is_the_same_bytes_whatever_order_its_data_has() -> None:
    one = session(done(1), context=Context({}, {"a": 1, "b": 2}))
    other = session(done(1), context=Context({}, {"b": 2, "a": 1}))
    assert session_context(one).text == session_context(other).text


GUIDELINES: dict[str, Any] = {
    "revision": 3,
    "updated_at": "2026-01-01T00:00:00.000Z",
    "recommendations": [{"timestamp": "t", "text": f"r{number}"} for number in range(20)],
    "skill_preferences": {"look": "skill.look"},
    "warnings": [],
}


def test_guidelines_stand_there_as_they_are_where_there_is_room() -> None:
    assert said(strategist_guidelines(GUIDELINES)) == GUIDELINES


def test_of_guidelines_the_oldest_advice_goes_and_what_is_unknown_before_it() -> None:
    large = {**GUIDELINES, "warnings": [f"{n} " + "w" * 100 for n in range(100)], "more": "x" * 300}
    block = strategist_guidelines(large)
    value = said(block)
    left = {one["what"]: one["count"] for one in value["left_out"]}
    assert len(block.text.encode()) <= 8_000
    assert value["warnings"] == large["warnings"][left["warnings"] :] != []
    assert value["skill_preferences"] == {"look": "skill.look"}
    # Warnings came first, as many as there is room for; what is left over is too little for more.
    shown = value["recommendations"]
    assert shown == GUIDELINES["recommendations"][left["recommendations"] :] and len(shown) < 3
    assert value["more"] == "x" * (300 - left["characters of more"]) + "…"


async def test_a_block_is_made_closed_to_its_agent_and_written_when_it_is_out_of_date(
    tmp_path: Path,
) -> None:
    async with local_world(tmp_path) as world:
        agent = await world.runtime.create(NewAgent(name="boss"), by=SYSTEM)
        older, newer = session(task(1), revision=7), session(done(1), revision=8)
        assert await put(world.runtime, agent.id, session_context(older))
        assert not await put(world.runtime, agent.id, session_context(older))
        assert await put(world.runtime, agent.id, session_context(newer))
        assert not await put(world.runtime, agent.id, session_context(older))
        block = await world.runtime.block(agent.id, "session_context:s1")
        assert json.loads(block.value)["revision"] == 8
        assert (block.revision, block.hard_limit) == (2, 16_000)
        with pytest.raises(ReadOnlyBlock):
            await world.runtime.write_block(agent.id, block.label, "mine", by=SYSTEM)


async def test_of_many_that_write_at_once_the_newest_stays(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        agent = await world.runtime.create(NewAgent(name="boss"), by=SYSTEM)
        views = [delegation_log(session(task(1), revision=number)) for number in range(1, 21)]
        order = [*views[10:], *views[:10]]
        await asyncio.gather(*(put(world.runtime, agent.id, view) for view in order))
        block = await world.runtime.block(agent.id, "delegation_log")
        assert json.loads(block.value)["revision"] == 20


async def test_who_read_the_block_before_a_newer_one_came_does_not_undo_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with local_world(tmp_path) as world:
        runtime = world.runtime
        agent = await runtime.create(NewAgent(name="boss"), by=SYSTEM)
        old, slow, newest = (delegation_log(session(revision=number)) for number in (1, 2, 3))
        assert await put(runtime, agent.id, old)
        read = runtime.block

        async def overtaken(agent_id: str, label: str) -> Block:
            found = await read(agent_id, label)
            monkeypatch.setattr(runtime, "block", read)
            assert await put(runtime, agent_id, newest)
            return found

        monkeypatch.setattr(runtime, "block", overtaken)
        assert not await put(runtime, agent.id, slow)
        assert json.loads((await read(agent.id, "delegation_log")).value)["revision"] == 3


async def test_the_log_follows_its_agent_into_the_next_session(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        agent = await world.runtime.create(NewAgent(name="boss"), by=SYSTEM)
        before = session(task(1), revision=40)
        after = session(revision=1, session_id="s2", updated_at=9_001)
        assert await put(world.runtime, agent.id, delegation_log(before))
        assert await put(world.runtime, agent.id, delegation_log(after))
        assert not await put(world.runtime, agent.id, delegation_log(before))


async def test_blocks_of_templates_take_what_is_rendered(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        made = {}
        for name in ("conductor", "companion"):
            template = template_named(name)
            made[name] = await world.runtime.create(
                template.new_agent(name), template.blocks, by=SYSTEM
            )
        view = task_context(session(), "companion-ann")
        assert await put(world.runtime, made["companion"].id, view)
        assert await show_guidelines(world.runtime, made["conductor"].id, GUIDELINES) == (
            "strategist_guidelines",
        )
        assert await show_guidelines(world.runtime, made["conductor"].id, GUIDELINES) == ()


class Elsewhere:
    """The same agents, as of a runtime that is not DCF's own."""

    def __init__(self, runtime: Any) -> None:
        self._runtime = runtime

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runtime, name)


async def test_a_runtime_elsewhere_gets_blocks_that_it_lets_be_written(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        agent = await world.runtime.create(NewAgent(name="boss"), by=SYSTEM)
        runtime: Any = Elsewhere(world.runtime)
        assert await put(runtime, agent.id, session_context(session(revision=1)))
        assert await put(runtime, agent.id, session_context(session(revision=2)))
        assert not await put(runtime, agent.id, session_context(session(revision=1)))
        block = await world.runtime.block(agent.id, "session_context:s1")
        assert not block.read_only and json.loads(block.value)["revision"] == 2


async def test_agents_are_shown_the_session_with_the_last_of_its_pages(tmp_path: Path) -> None:
    sessions = Sessions(Store(Twin(lambda: 1_790_000_000_000_000, strict_keys=False)))
    await sessions.create("s1", "boss", "help people")
    await sessions.employ("s1", NewCompanion("boss", name="ann"))

    def fill(draft: Draft) -> None:
        for number in range(1, 3 * PAGE + 2):
            draft.put(done(number, told=True))
            draft.count(delegated=1, succeeded=1)

    _, filled = await sessions.change("s1", fill)
    assert (filled.head.pages, len(filled.tasks)) == (3, 1)
    async with local_world(tmp_path) as world:
        runtime = world.runtime
        agent = await runtime.create(NewAgent(name="boss"), by=SYSTEM)
        labels = ("session_context:s1", "delegation_log")
        assert await show_session(sessions, "s1", runtime, agent.id) == labels
        assert await show_session(sessions, "s1", runtime, agent.id) == ()
        log = json.loads((await runtime.block(agent.id, "delegation_log")).value)
        shown = [one["task_id"] for one in log["delegations"]]
        last = 3 * PAGE + 1
        assert shown == [f"task-{n}" for n in range(last + 1 - len(shown), last + 1)]
        (left,) = log["left_out"]
        assert left["count"] + len(shown) == last
        other = await runtime.create(NewAgent(name="ann"), by=SYSTEM)
        assert await show_task(sessions, "s1", "companion-ann", runtime, other.id) == (
            "session_context:s1",
            "task_context",
        )
        mine = json.loads((await runtime.block(other.id, "task_context")).value)
        assert mine["task_history"][-1]["task"]["task_id"] == f"task-{last}"


def test_templates_and_rendering_agree_on_labels_and_limits() -> None:
    rendered = {
        one.label: one.limit
        for one in (
            delegation_log(session()),
            task_context(session(), "companion-ann"),
            strategist_guidelines(GUIDELINES),
        )
    }
    held = {
        (block.label, block.hard_limit)
        for template in templates().values()
        for block in template.blocks
        if block.label in rendered
    }
    assert held == set(rendered.items())
