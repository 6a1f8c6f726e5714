"""Turns of threads are searched: those that stand at their source, with what stands beside them."""

from __future__ import annotations

import pytest

from dcf.memory import Actor, Memory, NewThread, NewTurn, Outline, ToolUse, quote


def thread(name: str, *turns: NewTurn, project: str = "shop") -> NewThread:
    return NewThread("chatgpt", Outline(name, project=project), turns)


def say(*texts: str) -> list[NewTurn]:
    return [NewTurn("user", text, at=number) for number, text in enumerate(texts, 1)]


async def found(memory: Memory, query: str, **more: object) -> list[str]:
    hits = await memory.search.find(query, **more)  # type: ignore[arg-type]
    by_words = [hit for hit in hits if hit.words > 0 or not query]
    return [hit.text for hit in by_words if hit.kind == "thread"]


async def test_what_was_said_and_what_tools_put_out_is_found(memory: Memory, by: Actor) -> None:
    tool = ToolUse("grep", {"pattern": "harbour"}, "three lines of tide.csv")
    turn = NewTurn("assistant", "The tides are in a file.", (tool,))
    await memory.threads.sync(thread("t1", *say("Where are the tides?"), turn), by=by)

    (best, *_) = await memory.search.find("harbour", kinds=("thread",))
    stored = await memory.threads.list()

    assert (best.seq, best.role, best.project) == (2, "assistant", "shop")
    assert best.ref == f"{stored[0].id}/2"
    assert (await found(memory, "three lines"))[0].splitlines() == [
        "The tides are in a file.",
        "grep",
        "harbour",
        "three lines of tide.csv",
    ]


async def test_what_stands_no_more_at_its_source_is_not_found(memory: Memory, by: Actor) -> None:
    await memory.threads.sync(thread("t1", *say("A plum.", "A fig.")), by=by)
    await memory.threads.sync(thread("t1", *say("A plum.", "A pear.")), by=by)

    assert await found(memory, "fig") == []
    assert await found(memory, "pear", kinds=("thread",)) == ["A pear.", "A plum."]

    await memory.threads.sync(thread("t1", *say("A plum.", "A fig.")), by=by)
    assert (await found(memory, "fig"))[0] == "A fig."
    assert await found(memory, "pear") == []


async def test_only_threads_of_a_project_that_is_asked_for_are_found(
    memory: Memory, by: Actor
) -> None:
    await memory.threads.sync(thread("t1", *say("A plum."), project="shop"), by=by)
    await memory.threads.sync(thread("t2", *say("A plum, too."), project="other"), by=by)

    assert await found(memory, "plum", projects=["shop"]) == ["A plum."]
    assert await found(memory, "", projects=["other"]) == ["A plum, too."]
    assert await found(memory, "plum", agent_ids=["agent-1"]) == []
    # A thread that moves is found where it is now.
    await memory.threads.sync(thread("t1", *say("A plum."), project="other"), by=by)
    assert await found(memory, "plum", projects=["shop"]) == []
    assert len(await found(memory, "plum", projects=["other"])) == 2


async def test_neighbours_are_those_of_the_same_thread(memory: Memory, by: Actor) -> None:
    """A message near a hit is found, too; the first turn of another thread is not near."""
    await memory.threads.sync(thread("t1", *say("It was blue.", "The plum?")), by=by)
    await memory.threads.sync(thread("t2", *say("Something else.", "More of it.")), by=by)
    await memory.threads.sync(thread("t1", *say("It was blue.", "The plum?", "Yes.")), by=by)

    assert sorted(await found(memory, "plum", kinds=("thread",))) == ["It was blue.", "The plum?"]


@pytest.mark.parametrize("since", [2, 3])
async def test_turns_are_found_by_their_time(memory: Memory, by: Actor, since: int) -> None:
    await memory.threads.sync(thread("t1", *say("Plum.", "Plums.", "A plum.")), by=by)

    assert len(await found(memory, "plum", since=since)) == 4 - since


async def test_turns_are_quoted_under_their_thread(memory: Memory, by: Actor) -> None:
    await memory.threads.sync(thread("t1", *say("A plum.", "Another plum.")), by=by)
    (stored,) = await memory.threads.list()
    hits = await memory.search.find("another plum", kinds=("thread",))

    pack = quote(hits, 200)

    assert [one.offer.uri for one in pack.items] == [
        f"dcf://thread/{stored.id}/turn/2",
        f"dcf://thread/{stored.id}/turn/1",
    ]
    assert pack.text.splitlines()[-2:] == ["1 user: A plum.", "2 user: Another plum."]
