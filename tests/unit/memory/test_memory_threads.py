"""Threads: kept once, brought up to date, cited by turn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcf.memory import (
    Actor,
    InvalidEntry,
    Memory,
    NewThread,
    NewTurn,
    ToolUse,
    UnknownThread,
    UnknownTurn,
)

SHIPS = NewThread(
    "amp_thread",
    "T-1",
    (
        NewTurn("user", "Sort the ships.", at=5),
        NewTurn("assistant", "They are sorted.", (ToolUse("sort", {"by": "tons"}, "2 ships"),)),
    ),
    project="/work/harbour",
    title="Ships",
    started_at=4,
)


async def test_a_thread_is_kept_once_and_gets_only_what_is_new(memory: Memory, by: Actor) -> None:
    first = await memory.threads.sync(SHIPS, by=by)
    assert (first.new_turns, first.thread.turns, first.thread.status) == ((1, 2), 2, "active")
    assert (await memory.threads.sync(SHIPS, by=by)).new_turns == ()
    longer = replace(SHIPS, turns=(*SHIPS.turns, NewTurn("user", "Thanks.")), status="completed")
    grown = await memory.threads.sync(longer, by=by)
    assert (grown.thread.id, grown.new_turns) == (first.thread.id, (3,))
    assert grown.thread.completed_at is not None
    assert await memory.threads.list(project="/work/harbour") == (grown.thread,)
    assert await memory.threads.list(project="/work/other") == ()


async def test_what_was_cited_stays_though_the_source_lost_it(memory: Memory, by: Actor) -> None:
    await memory.threads.sync(SHIPS, by=by)
    cut = replace(SHIPS, turns=(NewTurn("user", "Something else."),))
    kept = await memory.threads.sync(cut, by=by)
    assert (kept.thread.turns, kept.new_turns) == (2, ())
    turn = await memory.threads.turn("T-1", 1)
    assert (turn.role, turn.text, turn.tools, turn.at) == ("user", "Sort the ships.", (), 5)
    assert (await memory.threads.turn("T-1", 2)).tools == SHIPS.turns[1].tools


async def test_a_thread_is_called_by_its_own_id_or_that_of_its_source(
    memory: Memory, by: Actor
) -> None:
    kept = (await memory.threads.sync(SHIPS, by=by)).thread
    assert await memory.threads.get("T-1") == await memory.threads.get(kept.id) == kept
    with pytest.raises(UnknownThread):
        await memory.threads.get("T-2")
    with pytest.raises(UnknownTurn, match="it has 2"):
        await memory.threads.turn("T-1", 3)


async def test_all_that_is_wrong_with_a_thread_is_said(memory: Memory, by: Actor) -> None:
    turn = NewTurn("", "a\0b", (ToolUse("", {"a": "\ud800"}, "\0"),))
    bad = replace(SHIPS, source_id=" ", status="lost", turns=(turn,))  # type: ignore[arg-type]
    with pytest.raises(InvalidEntry) as caught:
        await memory.threads.sync(bad, by=by)
    paths = [problem.path for problem in caught.value.problems]
    of_tool = [f"/turns/0/tools/0/{name}" for name in ("name", "input", "output")]
    assert paths == ["/source_id", "/status", "/turns/0/role", "/turns/0/text", *of_tool]
