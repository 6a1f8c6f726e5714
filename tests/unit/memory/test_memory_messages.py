"""Messages: numbered without gaps, never changed, archived and summarised."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from memory_world import Ticking

from dcf.memory import (
    Actor,
    Agent,
    InvalidEntry,
    Memory,
    NewAgent,
    NewBlock,
    NewMessage,
    Source,
    UnknownAgent,
    UnknownMessage,
    Usage,
    random_id,
)
from dcf.search import count_tokens

CALL = {"kind": "call", "id": "c1", "tool": "add", "arguments": {"a": 1}}
RETURN = {"kind": "return", "id": "c1", "tool": "add", "content": "2", "is_error": False}


@pytest.fixture
async def agent(memory: Memory, by: Actor) -> AsyncIterator[Agent]:
    yield await memory.agents.create(NewAgent("anna"), by=by)


async def test_messages_are_kept_as_they_were_said(memory: Memory, agent: Agent, by: Actor) -> None:
    new = NewMessage("assistant", "adding", (CALL,), "s", "r", "anna", "c")
    (kept,) = await memory.messages.append(agent.id, new, by=by)
    assert await memory.messages.get(agent.id, 1) == kept
    assert (kept.seq, kept.role, kept.content, kept.parts) == (1, "assistant", "adding", (CALL,))
    assert (kept.session_id, kept.run_id, kept.sender, kept.correlation_id) == (
        "s",
        "r",
        "anna",
        "c",
    )
    assert kept.tokens > count_tokens("adding"), "the call has its price too"


async def test_numbers_go_on_from_the_last_for_each_agent(
    memory: Memory, agent: Agent, by: Actor
) -> None:
    other = await memory.agents.create(NewAgent("bea"), by=by)
    await memory.messages.append(agent.id, NewMessage("user", "a"), NewMessage("user", "b"), by=by)
    (first,) = await memory.messages.append(other.id, NewMessage("user", "c"), by=by)
    (third,) = await memory.messages.append(agent.id, NewMessage("user", "d"), by=by)
    assert (first.seq, third.seq) == (1, 3)
    assert await memory.messages.count(agent.id) == 3


@pytest.mark.parametrize("way", ["append", "begin", "answer"])
async def test_nobody_waits_to_write_while_the_tokens_of_a_message_are_counted(
    memory: Memory, by: Actor, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    agent = await memory.agents.create(NewAgent("cleo"), by=by, blocks=[NewBlock("notes")])
    turn = await memory.turns.begin(agent.id, NewMessage("user", "Well?"), by=by)
    counting, written = threading.Event(), threading.Event()

    def count(_text: str) -> int:
        counting.set()
        assert written.wait(20), "the write beside it waits for the count"
        return 1_000_000

    monkeypatch.setattr("dcf.memory.messages.pricing.count_tokens", count)
    large = NewMessage("user", "a text of many megabytes")
    adding = asyncio.ensure_future(
        memory.messages.append(agent.id, large, by=by)
        if way == "append"
        else memory.turns.begin(agent.id, large, by=by)
        if way == "begin"
        else memory.turns.answer(turn, large, by=by, model="", usage=Usage())
    )
    await asyncio.to_thread(counting.wait, 20)
    await memory.blocks.append(agent.id, "notes", "written meanwhile", by=by)
    written.set()
    await adding
    (*_, last) = await memory.messages.list(agent.id)
    assert last.tokens > 1_000_000


async def test_writers_at_once_leave_no_gap_and_no_number_twice(
    tmp_path: Path, clock: Ticking, by: Actor
) -> None:
    source = Source(tmp_path / "m.db")
    async with (
        Memory.open(source, clock=clock, new_id=random_id) as one,
        Memory.open(source, clock=clock, new_id=random_id) as other,
    ):
        agent = await one.agents.create(NewAgent("anna"), by=by)
        await asyncio.gather(
            *(
                memory.messages.append(
                    agent.id, NewMessage("user", "a"), NewMessage("user", "b"), by=by
                )
                for memory in (one, other) * 10
            )
        )
        listed = await one.messages.list(agent.id)
    assert [message.seq for message in listed] == list(range(1, 41))
    assert [message.content for message in listed] == ["a", "b"] * 20


async def test_a_page_is_of_the_oldest_or_the_newest_in_order(
    memory: Memory, agent: Agent, by: Actor
) -> None:
    said = [NewMessage("user", str(n), session_id="odd" if n % 2 else "even") for n in range(1, 9)]
    await memory.messages.append(agent.id, *said, by=by)

    async def seqs(**page: object) -> list[int]:
        found = await memory.messages.list(agent.id, **page)  # type: ignore[arg-type]
        return [message.seq for message in found]

    assert await seqs(limit=3) == [1, 2, 3]
    assert await seqs(limit=3, newest=True) == [6, 7, 8]
    assert await seqs(after=2, before=6) == [3, 4, 5]
    assert await seqs(session_id="odd", newest=True, limit=2) == [5, 7]


async def test_archived_messages_leave_the_context_and_stay_in_the_list(
    memory: Memory, agent: Agent, by: Actor
) -> None:
    await memory.messages.append(
        agent.id, *(NewMessage("user", text) for text in ("plums", "pears", "figs")), by=by
    )
    assert await memory.messages.archive(agent.id, 1, 2, by=by) == 2
    assert await memory.messages.archive(agent.id, 1, 2, by=by) == 0
    context = await memory.contexts.assemble(agent.id)
    assert [message.content for message in context.messages] == ["figs"]
    assert len(await memory.messages.list(agent.id)) == 3
    assert [m.seq for m in await memory.messages.list(agent.id, archived=True)] == [1, 2]
    found = await memory.search.find("plums", agent_ids=[agent.id])
    assert found[0].seq == 1


async def test_all_that_is_wrong_is_said_at_once_and_nothing_is_added(
    memory: Memory, agent: Agent, by: Actor
) -> None:
    wrong = (
        NewMessage("user", "fine"),
        NewMessage("boss", "a\0b"),  # type: ignore[arg-type]
        NewMessage("summary", "of nothing"),
        NewMessage("assistant", "", ({"kind": "thought"},)),
    )
    with pytest.raises(InvalidEntry) as refused:
        await memory.messages.append(agent.id, *wrong, by=by)
    assert [problem.path for problem in refused.value.problems] == [
        "/1/role",
        "/1/content",
        "/2/replaces",
        "/3/parts/0/kind",
    ]
    assert await memory.messages.count(agent.id) == 0


async def test_unknown_agents_and_messages_are_errors(
    memory: Memory, agent: Agent, by: Actor
) -> None:
    with pytest.raises(UnknownAgent):
        await memory.messages.append("agent-9", NewMessage("user", "a"), by=by)
    with pytest.raises(UnknownAgent):
        await memory.messages.list("agent-9")
    with pytest.raises(UnknownMessage):
        await memory.messages.get(agent.id, 1)


@pytest.mark.parametrize(
    ("replaces", "code"),
    [
        ((0, 2), "memory_summary_range"),
        ((2, 1), "memory_summary_range"),
        ((1, 10), "memory_summary_range"),
        ((6, 9), "memory_summary_overlap"),
        ((3, 3), "memory_summary_torn"),
    ],
)
async def test_a_summary_stands_for_whole_things(
    memory: Memory, agent: Agent, by: Actor, replaces: tuple[int, int], code: str
) -> None:
    await memory.messages.append(
        agent.id,
        NewMessage("user", "1"),
        NewMessage("user", "2"),
        NewMessage("assistant", "3", (CALL,)),
        NewMessage("tool", "4", (RETURN,)),
        *(NewMessage("user", text) for text in "5678"),
        by=by,
    )
    await memory.messages.append(agent.id, NewMessage("summary", "5-8", replaces=(5, 8)), by=by)
    with pytest.raises(InvalidEntry) as refused:
        await memory.messages.append(agent.id, NewMessage("summary", "s", replaces=replaces), by=by)
    assert [problem.code for problem in refused.value.problems] == [code]


async def test_an_agents_messages_go_with_it_and_come_back_with_it(
    memory: Memory, agent: Agent, by: Actor
) -> None:
    await memory.messages.append(agent.id, NewMessage("user", "a ripe plum"), by=by)
    kept = await memory.messages.list(agent.id)
    before = (await memory.events.list(limit=1))[0].seq
    await memory.agents.delete(agent.id, by=by)
    assert await memory.search.find("plum") == ()
    await memory.events.roll_back_agent(agent.id, before, by=by)
    assert await memory.messages.list(agent.id) == kept
    assert [found.ref for found in await memory.search.find("plum")] == [kept[0].id]
