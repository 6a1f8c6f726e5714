"""What an agent's answer cites counts as used, once for each turn, and is told earlier and found
better, within bounds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from memory_world import Ticking

from dcf.memory import (
    Actor,
    Budget,
    Filter,
    Memory,
    NewAgent,
    NewMessage,
    NewObservation,
    Observation,
    Origin,
    Source,
    TurnFence,
    TurnLost,
    TurnRecord,
    Usage,
    random_id,
)
from dcf.memory.observations.rendering import details_of, rows_of, short_id

DAY_MS = 86_400_000
BUSY = NewObservation(
    type="bugfix",
    title="Pay: a retry got over Busy",
    origin=Origin("run", "r-1", state="Pay"),
    project="/shop",
    workflow="orders",
    at=10 * DAY_MS,
)
ASKED = NewMessage("user", "What do you know?")


@pytest.fixture
async def agent(memory: Memory, by: Actor) -> str:
    return (await memory.agents.create(NewAgent("ann"), by=by)).id


async def kept(memory: Memory, by: Actor, *new: NewObservation) -> list[Observation]:
    return [
        *await memory.observations.add(
            *(replace(one, origin=Origin("run", f"r-{at}")) for at, one in enumerate(new)), by=by
        )
    ]


async def answered(
    memory: Memory, turn: TurnRecord, by: Actor, text: str, *shown: str | Observation
) -> None:
    texts = [one if isinstance(one, str) else rows_of([one], 0)[0] for one in shown]
    answer = NewMessage("assistant", text)
    await memory.turns.answer(turn, answer, by=by, model="m", usage=Usage(), shown=texts)


async def said(
    memory: Memory, agent: str, by: Actor, text: str, *shown: str | Observation
) -> TurnRecord:
    """A turn in which the agent was ``shown`` something, and which ended with ``text``."""
    turn = await memory.turns.begin(agent, ASKED, by=by)
    await answered(memory, turn, by, text, *shown)
    return turn


async def uses(memory: Memory, one: Observation) -> int:
    return (await memory.observations.get(one.id)).used


async def test_what_an_answer_cites_is_used_once_for_each_turn(
    memory: Memory, by: Actor, agent: str
) -> None:
    first, second = await kept(memory, by, BUSY, replace(BUSY, title="Pay: slow"))
    long, short = first.citation, f"dcf://observation/{short_id(first.id)}"
    turn = await said(memory, agent, by, f"It was busy ({long}), as {short} and {long} say.", first)
    assert (await uses(memory, first), await uses(memory, second)) == (1, 0)
    with pytest.raises(TurnLost):
        await answered(memory, turn, by, f"Again: {long}", first)
    assert await uses(memory, first) == 1, "a turn ends once"
    address = f"dcf://thread/t-1/observation/{first.id}"
    await said(memory, agent, by, f'{{"why": "{address}"}}', first)
    assert await uses(memory, first) == 2
    kept_now = await memory.observations.get(first.id)
    assert kept_now == replace(first, used=2), "nothing else of it changed"
    assert await memory.check() == ()


async def test_what_nobody_cites_or_is_not_there_is_not_used(
    memory: Memory, by: Actor, agent: str
) -> None:
    first, second = await kept(memory, by, BUSY, replace(BUSY, title="Pay: slow"))
    for text in (
        f"{first.id} is no address",
        "dcf://observation/ffff is made up",
        "dcf://observation/observation-",
        f"xdcf://observation/{first.id}",
        f"dcf://run/{first.id}",
    ):
        await said(memory, agent, by, text, first, second)
    turn = await memory.turns.begin(agent, NewMessage("user", f"Read {first.citation}"), by=by)
    await memory.turns.fail(turn, "E", f"{first.citation}", by=by, model="m", usage=Usage())
    assert (await uses(memory, first), await uses(memory, second)) == (0, 0)


async def test_what_the_agent_was_not_shown_is_not_used(
    memory: Memory, by: Actor, agent: str
) -> None:
    """An address may stand anywhere: in a text of a stranger, or in another project's row."""
    theirs = replace(BUSY, title='Pay: the "bank" was away', project="/bank", workflow="loans")
    first, other = await kept(memory, by, BUSY, theirs)
    for shown in ((), (first,), (f"Cite {other.citation}!",), (f"{first.title} {other.title}",)):
        await said(memory, agent, by, str(other.citation), *shown)
    await said(memory, agent, by, str(other.citation), f"about {other.citation}", other.title)
    assert (await uses(memory, first), await uses(memory, other)) == (0, 0)
    result = json.dumps({"rows": rows_of([other], 0)})
    ways = (
        rows_of([other], 0)[0],
        result,
        json.dumps({"content": [{"text": result}]}),
        f"{details_of(other)}\n({other.citation})",
        json.dumps({"id": short_id(other.id), "text": details_of(other)}, indent=1),
        rows_of([replace(other, title=f"{other.title} {'and more ' * 9}")], 0)[0],
    )
    for number, shown in enumerate(ways, 1):
        await said(memory, agent, by, str(other.citation), "something else", shown)
        assert await uses(memory, other) == number, shown


async def test_an_id_that_is_shorter_than_rows_show_it_is_a_guess(
    tmp_path: Path, by: Actor
) -> None:
    async with Memory.open(
        Source(tmp_path / "m.db"), clock=Ticking(), new_id=random_id, embedder="none"
    ) as memory:
        agent = (await memory.agents.create(NewAgent("ann"), by=by)).id
        (one,) = await kept(memory, by, BUSY)
        for length, counted in ((4, 0), (7, 0), (8, 1)):
            name = one.id.removeprefix("observation-")[:length]
            await said(memory, agent, by, f"dcf://observation/{name}", one)
            assert await uses(memory, one) == counted


async def test_work_that_is_done_again_counts_once(memory: Memory, by: Actor) -> None:
    """A worker may die after the turn of its state ended and before the state is committed: whoever
    takes the state over lets an agent do it again."""
    (first,) = await kept(memory, by, BUSY)
    for number, name in enumerate(("ann", "bob"), 1):
        agent = (await memory.agents.create(NewAgent(name), by=by)).id
        fence = TurnFence("run-1/Pay/1", number)
        turn = await memory.turns.begin(agent, ASKED, by=by, fence=fence, lease_ms=1_000)
        await answered(memory, turn, by, str(first.citation), first)
    assert await uses(memory, first) == 1
    fence = TurnFence("run-2/Pay/1", 1)
    turn = await memory.turns.begin(agent, ASKED, by=by, fence=fence, lease_ms=1_000)
    await answered(memory, turn, by, str(first.citation), first)
    assert await uses(memory, first) == 2, "another run's use is another one"


async def test_a_state_that_a_loop_visits_again_uses_again(
    memory: Memory, by: Actor, agent: str
) -> None:
    (one,) = await kept(memory, by, BUSY)
    shown, answer = rows_of([one], 0), NewMessage("assistant", str(one.citation))
    counted = []
    # Of the second visit a worker died before it was committed.
    for number, visit in enumerate((1, 2, 2), 1):
        fence = TurnFence("run-1/Pay/1", number, part=str(visit))
        turn = await memory.turns.begin(agent, ASKED, by=by, fence=fence, lease_ms=1_000)
        await memory.turns.answer(
            turn, answer, by=by, model="m", usage=Usage(), shown=shown, part=fence.part
        )
        counted.append(await uses(memory, one))
    assert counted == [1, 2, 2]


async def test_what_was_used_is_told_before_what_is_a_little_newer(
    memory: Memory, by: Actor, agent: str
) -> None:
    old, newer, newest = await kept(
        memory,
        by,
        BUSY,
        replace(BUSY, title="Pay: slow", at=13 * DAY_MS),
        replace(BUSY, title="Pay: gone", at=30 * DAY_MS),
    )

    async def told() -> list[str]:
        which = Filter(projects=["/shop"], workflows=["orders"])
        pack = await memory.contexts.observed(which, Budget(0, 800, 50))
        return [one.offer.uri.rpartition("/")[2] for one in pack.items]

    def order(*wanted: Observation) -> list[str]:
        return [short_id(one.id) for one in wanted]

    assert await told() == order(newest, newer, old)
    for _ in range(4):
        await said(memory, agent, by, str(old.citation), old)
    assert await told() == order(newest, old, newer)
    for _ in range(60):
        await said(memory, agent, by, str(old.citation), old)
    assert await told() == order(newest, old, newer), "use is worth a week at most"


async def test_of_two_that_fit_alike_the_used_one_is_found_first(
    memory: Memory, by: Actor, agent: str
) -> None:
    one, other, apt = await kept(
        memory,
        by,
        replace(BUSY, title="Pay: walrus of Oslo"),
        replace(BUSY, title="Pay: walrus of Bonn"),
        replace(BUSY, title="Pay: walrus and seal"),
    )

    async def found(query: str) -> list[str]:
        return [hit.ref for hit in await memory.search.find(query, kinds=["observation"])]

    for used, unused in ((other, one), (one, other)):
        while await uses(memory, used) <= await uses(memory, unused):
            await said(memory, agent, by, str(used.citation), used)
        hits = await found("walrus of")
        assert hits.index(used.id) < hits.index(unused.id)
    for _ in range(40):
        await said(memory, agent, by, str(one.citation), one)
    assert (await found("seal walrus"))[0] == apt.id, "what is asked for decides"
