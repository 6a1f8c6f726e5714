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
    Outline,
    ToolUse,
    UnknownThread,
    UnknownTurn,
)

SHIPS = NewThread(
    "amp_thread",
    Outline("T-1", project="/work/harbour", title="Ships", started_at=4),
    (
        NewTurn("user", "Sort the ships.", at=5),
        NewTurn("assistant", "They are sorted.", (ToolUse("sort", {"by": "tons"}, "2 ships"),)),
    ),
)


async def test_a_thread_is_kept_once_and_gets_only_what_is_new(memory: Memory, by: Actor) -> None:
    first = await memory.threads.sync(SHIPS, by=by)
    assert (first.new_turns, first.thread.turns, first.thread.status) == ((1, 2), 2, "active")
    assert (await memory.threads.sync(SHIPS, by=by)).new_turns == ()
    over = replace(SHIPS.outline, status="completed")
    longer = NewThread("amp_thread", over, (*SHIPS.turns, NewTurn("user", "Thanks.")))
    grown = await memory.threads.sync(longer, by=by)
    assert (grown.thread.id, grown.new_turns) == (first.thread.id, (3,))
    assert grown.thread.completed_at is not None
    assert await memory.threads.list(project="/work/harbour") == (grown.thread,)
    assert await memory.threads.list(project="/work/other") == ()


async def standings(memory: Memory) -> list[tuple[int, str, str, int | None]]:
    """Number, text, standing and place of all turns."""
    turns = await memory.threads.turns("T-1", all=True)
    return [(turn.number, turn.text, turn.standing, turn.place) for turn in turns]


async def test_what_was_cited_stays_though_the_source_lost_it(memory: Memory, by: Actor) -> None:
    await memory.threads.sync(SHIPS, by=by)
    cut = replace(SHIPS, turns=(NewTurn("user", "Something else."),))
    kept = await memory.threads.sync(cut, by=by)
    assert (kept.new_turns, kept.passed) == ((3,), (1, 2))
    assert (kept.thread.turns, kept.thread.current) == (3, 1)
    turn = await memory.threads.turn("T-1", 1)
    assert (turn.role, turn.text, turn.tools, turn.at) == ("user", "Sort the ships.", (), 5)
    assert (turn.standing, turn.place) == ("gone", None)
    assert (await memory.threads.turn("T-1", 2)).tools == SHIPS.turns[1].tools
    assert [turn.number for turn in await memory.threads.turns("T-1")] == [3]


async def test_an_inserted_an_edited_and_a_rewound_turn_are_followed(
    memory: Memory, by: Actor
) -> None:
    def thread(*turns: tuple[str, str, bool]) -> NewThread:
        said = (NewTurn("user", text, key=key, rewound=left) for key, text, left in turns)
        return replace(SHIPS, turns=tuple(said))

    await memory.threads.sync(thread(("a", "A", False), ("c", "C", False)), by=by)
    await memory.threads.sync(
        thread(("a", "A", False), ("b", "B", False), ("c", "C2", False)), by=by
    )
    assert await standings(memory) == [
        (1, "A", "current", 1),
        (2, "C", "edited", None),
        (3, "B", "current", 2),
        (4, "C2", "current", 3),
    ]
    back = await memory.threads.sync(
        thread(("a", "A", False), ("b", "B", True), ("c", "C", True), ("d", "D", False)), by=by
    )
    assert (back.new_turns, back.passed) == ((5,), (2, 3, 4))
    assert await standings(memory) == [
        (1, "A", "current", 1),
        (2, "C", "rewound", 3),
        (3, "B", "rewound", 2),
        (4, "C2", "edited", None),
        (5, "D", "current", 4),
    ]
    assert [turn.text for turn in await memory.threads.turns("T-1")] == ["A", "D"]


async def test_turns_that_say_the_same_are_told_apart_by_their_neighbours(
    memory: Memory, by: Actor
) -> None:
    def thread(*texts: str) -> NewThread:
        return replace(SHIPS, turns=tuple(NewTurn("user", text) for text in texts))

    await memory.threads.sync(thread("Ship it?", "yes", "Pay it?", "yes"), by=by)
    await memory.threads.sync(thread("Sure?", "yes", "Ship it?", "yes", "Pay it?", "yes"), by=by)
    numbers = [turn.number for turn in await memory.threads.turns("T-1")]
    assert numbers == [5, 6, 1, 2, 3, 4]


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
    outline = replace(SHIPS.outline, source_id=" ", status="lost")  # type: ignore[arg-type]
    bad = replace(SHIPS, outline=outline, turns=(turn,))
    with pytest.raises(InvalidEntry) as caught:
        await memory.threads.sync(bad, by=by)
    paths = [problem.path for problem in caught.value.problems]
    of_tool = [f"/turns/0/tools/0/{name}" for name in ("name", "input", "output")]
    assert paths == [
        "/outline/source_id",
        "/outline/status",
        "/turns/0/role",
        "/turns/0/text",
        *of_tool,
    ]
