"""Observations that people change: forgotten by a filter, in one transaction, and back again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcf.memory import (
    Actor,
    Budget,
    Filter,
    InvalidEntry,
    Memory,
    NewAgent,
    NewMessage,
    NewObservation,
    NothingChosen,
    Observation,
    Origin,
    Pack,
    RollbackRefused,
    SameObservation,
    Texts,
    TurnFence,
    UnknownObservation,
    Usage,
)
from dcf.memory.observations.rendering import details_of, rows_of, short_id
from dcf.search import count_tokens

BUSY = NewObservation(
    type="bugfix",
    title="Pay: a retry got over Busy",
    origin=Origin("run", "r-1", state="Pay"),
    project="/shop",
    workflow="orders",
    concepts=("problem-solution",),
    at=1_000,
    note="card 4711",
)
NOT_PAID = replace(
    BUSY,
    type="discovery",
    title="Sorry ended the run with NotPaid",
    origin=Origin("run", "r-2", state="Sorry"),
    concepts=("gotcha",),
    at=2_000,
)
BACK = replace(
    BUSY, title="Return: busy at first", workflow="returns", origin=Origin("run", "r-3"), at=3_000
)
SEEN = (BUSY, NOT_PAID, BACK, replace(BUSY, origin=Origin("run", "r-4"), at=500))


@pytest.fixture
async def seen(memory: Memory, by: Actor) -> dict[str, Observation]:
    """Three observations by the first word of their titles; one of them was seen twice."""
    for one in SEEN:
        await memory.observations.observe(one.origin, "1", one, by=by)
    return {word(one): one for one in await memory.observations.list()}


def word(one: Observation) -> str:
    return one.title.split()[0].rstrip(":")


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ({"types": ["bugfix"]}, ["Return", "Pay"]),
        ({"concepts": ["gotcha"]}, ["Sorry"]),
        ({"source_types": ["run"], "source_ids": ["r-4"]}, ["Pay"]),
        ({"workflows": ["returns"]}, ["Return"]),
        ({"projects": ["/shop"], "until": 1_500}, ["Pay"]),
        ({"since": 2_000}, ["Return", "Sorry"]),
        ({"topic": "busy"}, ["Return", "Pay"]),
        ({"topic": "the busy, retry"}, ["Pay"]),
        ({"topic": "gotcha"}, ["Sorry"]),
        ({"topic": "busy", "workflows": ["returns"]}, ["Return"]),
        ({"topic": "nobody said this"}, []),
        ({"workflows": ["nowhere"]}, []),
    ],
)
async def test_what_a_filter_leaves_is_forgotten_and_nothing_else(
    memory: Memory,
    by: Actor,
    seen: dict[str, Observation],
    which: dict[str, object],
    expected: list[str],
) -> None:
    chosen = Filter(**which)  # type: ignore[arg-type]
    tried = await memory.observations.forget(chosen, by=by, dry_run=True)
    assert ([word(one) for one in tried.observations], tried.events) == (expected, ())
    assert len(await memory.observations.list()) == 3
    done = await memory.observations.forget(chosen, by=by)
    assert done.observations == tried.observations
    rest = seen.keys() - set(expected)
    assert {word(one) for one in await memory.observations.list()} == rest
    assert {word(one) for one in await memory.observations.around(2_000)} == rest
    found = [await memory.search.find(query) for query in ("busy retry sorry return", "")]
    refs = {one.id for name, one in seen.items() if name in rest}
    assert [{one.ref for one in texts} for texts in found] == [refs, refs]
    told = await memory.contexts.observed(Filter())
    assert len(told.items) == len(rest)
    assert await memory.check() == ()


async def test_what_was_forgotten_comes_back_with_each_time_that_it_was_seen(
    memory: Memory, by: Actor, seen: dict[str, Observation]
) -> None:
    pay = seen["Pay"]
    before = await memory.observations.occurrences(pay.id)
    assert [one.note for one in before] == ["card 4711", "card 4711"]
    done = await memory.observations.forget(Filter(types=["bugfix"]), by=by)
    assert list(done.events) == list(range(done.events[0], done.events[-1] + 1))
    back = await memory.events.undo(*done.events, by=by)
    again = await memory.observations.get(pay.id)
    assert replace(again, revision=1, updated_at=pay.updated_at) == pay
    assert await memory.observations.occurrences(pay.id) == before
    assert (await memory.search.find("retry"))[0].ref == pay.id
    assert list(await memory.observations.list(Filter(source_ids=["r-4"]))) == [again]
    # The way back has a way back.
    await memory.events.undo(*(one.seq for one in back), by=by)
    assert [word(one) for one in await memory.observations.list()] == ["Sorry"]
    assert await memory.check() == ()


async def test_who_used_it_comes_back_too_and_counts_once(
    memory: Memory, by: Actor, seen: dict[str, Observation]
) -> None:
    pay = seen["Pay"]
    agent = (await memory.agents.create(NewAgent("ann"), by=by)).id

    async def cite(holder: str) -> int:
        asked, said = NewMessage("user", "What?"), NewMessage("assistant", str(pay.citation))
        fence = TurnFence(holder, 1)
        turn = await memory.turns.begin(agent, asked, by=by, fence=fence)
        shown = rows_of([pay], 0)
        await memory.turns.answer(turn, said, by=by, model="m", usage=Usage(), shown=shown)
        return (await memory.observations.get(pay.id)).used

    assert [await cite("run/A/1"), await cite("run/B/1")] == [1, 2]
    done = await memory.observations.forget(Filter(ids=[pay.id]), by=by)
    back = await memory.events.undo(*done.events, by=by)
    assert [await cite("run/A/1"), await cite("run/C/1")] == [2, 3]
    # What was used, and seen, since it came back is no hindrance to take it away again.
    ((again),) = await seen_in("r-77", memory, by) or ()
    assert again.id == pay.id
    gone = await memory.events.undo(*(one.seq for one in back), by=by)
    await memory.events.undo(*(one.seq for one in gone), by=by)
    assert [await cite("run/C/1"), await cite("run/D/1")] == [3, 4]
    assert len(await memory.observations.occurrences(pay.id)) == 3
    assert await memory.check() == ()


async def seen_in(run: str, memory: Memory, by: Actor) -> tuple[Observation, ...] | None:
    new = replace(BUSY, origin=Origin("run", run))
    return await memory.observations.observe(new.origin, "1", new, by=by)


async def test_however_often_it_was_seen_two_events_say_that_it_is_forgotten(
    memory: Memory, by: Actor, seen: dict[str, Observation]
) -> None:
    for number in range(40):
        await seen_in(f"more-{number}", memory, by)
    pay = seen["Pay"].id
    assert len(await memory.observations.occurrences(pay, limit=99)) == 42
    done = await memory.observations.forget(Filter(ids=[pay]), by=by)
    assert len(done.events) == 2
    await memory.events.undo(*done.events, by=by)
    assert len(await memory.observations.occurrences(pay, limit=99)) == 42


async def test_a_run_that_was_observed_does_not_bring_it_back_and_another_one_may(
    memory: Memory, by: Actor, seen: dict[str, Observation]
) -> None:
    done = await memory.observations.forget(Filter(topic="retry"), by=by)
    for one in SEEN:
        assert await memory.observations.observe(one.origin, "1", one, by=by) is None
    assert "Pay" not in {word(one) for one in await memory.observations.list()}
    again = replace(BUSY, origin=Origin("run", "r-5"))
    ((new),) = await memory.observations.observe(again.origin, "1", again, by=by) or ()
    assert (new.times, new.id != seen["Pay"].id) == (1, True)
    with pytest.raises(RollbackRefused, match=new.id):
        await memory.events.undo(*done.events, by=by)


async def test_nothing_is_forgotten_where_one_is_unknown_or_all_would_go(
    memory: Memory, by: Actor, seen: dict[str, Observation]
) -> None:
    there = seen["Pay"].id
    for dry_run in (True, False):
        with pytest.raises(UnknownObservation, match="observation-gone"):
            which = Filter(ids=[there, "observation-gone"])
            await memory.observations.forget(which, by=by, dry_run=dry_run)
        for nothing in (Filter(), Filter(projects=[], types=[], concepts=[])):
            with pytest.raises(NothingChosen, match="all of them"):
                await memory.observations.forget(nothing, by=by, dry_run=dry_run)
        with pytest.raises(InvalidEntry, match=r"'…!' has no word"):
            await memory.observations.forget(Filter(topic="…!"), by=by, dry_run=dry_run)
    assert len(await memory.observations.list()) == 3


def told(pack: Pack, seen: dict[str, Observation]) -> list[str]:
    """The first words of what a context tells, in order, and which of them it calls pinned."""
    names = {short_id(one.id): name for name, one in seen.items()}
    return [
        names[one.offer.uri.rpartition("/")[2]] + "*" * one.offer.why.startswith("pinned, ")
        for one in pack.items
    ]


async def test_what_is_pinned_is_told_first_however_old_it_is_and_within_the_budget(
    memory: Memory, by: Actor, seen: dict[str, Observation]
) -> None:
    contexts = memory.contexts
    recent = Filter(projects=["/shop"], since=2_500)
    assert told(await contexts.observed(recent), seen) == ["Return"]
    (pinned,) = await memory.observations.pin(seen["Pay"].id, by=by)
    assert pinned.pinned and not seen["Pay"].pinned
    assert await memory.observations.get(pinned.id) == pinned
    assert told(await contexts.observed(recent), seen) == ["Pay*", "Return"]
    # Not in a context of another scope.
    assert told(await contexts.observed(Filter(workflows=["returns"])), seen) == ["Return"]
    assert told(await contexts.observed(replace(recent, projects=["/x"])), seen) == []
    # Before what was seen in the state that the context is for, and of the same budget.
    here = await contexts.observed(Filter(), state="Sorry")
    assert told(here, seen) == ["Pay*", "Sorry", "Return"]
    one_row = await contexts.observed(Filter(), Budget(0, 800, 1), state="Sorry")
    assert told(one_row, seen) == ["Pay*"]
    small = await contexts.observed(Filter(), Budget(0, 70, 50))
    assert small.tokens <= 70 and told(small, seen) == ["Pay*"]
    assert list(await memory.observations.list(Filter(pinned=True))) == [pinned]
    await memory.observations.unpin(pinned.id, by=by)
    assert told(await contexts.observed(recent), seen) == ["Return"]


async def test_a_pin_is_in_the_history_and_can_be_taken_back(
    memory: Memory, by: Actor, seen: dict[str, Observation]
) -> None:
    before = await memory.events.last()
    pay, sorry = seen["Pay"].id, seen["Sorry"].id
    await memory.observations.pin(pay, sorry, by=by)
    events = await memory.events.list(limit=2)
    assert [(one.seq, one.entity_id) for one in events] == [(before + 2, sorry), (before + 1, pay)]
    again = await memory.observations.pin(pay, by=by)
    assert await memory.events.last() == before + 2, "no change is no event"
    assert again == (await memory.observations.get(pay),)
    # Seen again meanwhile: it stays pinned, and the pin can be taken back.
    later = replace(BUSY, origin=Origin("run", "r-9"), at=9_000)
    ((seen_again),) = await memory.observations.observe(later.origin, "1", later, by=by) or ()
    assert (seen_again.pinned, seen_again.times) == (True, 3)
    await memory.events.undo(before + 1, by=by)
    now = await memory.observations.get(pay)
    assert (now.pinned, now.times, now.at) == (False, 3, 9_000)
    with pytest.raises(UnknownObservation):
        await memory.observations.pin(pay, "observation-gone", by=by)
    assert not (await memory.observations.get(pay)).pinned
    assert await memory.check() == ()


async def test_filters_forget_nothing_that_is_pinned_and_ids_do(
    memory: Memory, by: Actor, seen: dict[str, Observation]
) -> None:
    pay = seen["Pay"].id
    await memory.observations.pin(pay, by=by)
    for dry_run in (True, False):
        done = await memory.observations.forget(Filter(types=["bugfix"]), by=by, dry_run=dry_run)
        assert ([word(one) for one in done.observations], done.pinned) == (["Return"], 1)
    done = await memory.observations.forget(Filter(ids=[pay]), by=by)
    assert ([one.id for one in done.observations], done.pinned) == ([pay], 0)
    await memory.events.undo(*done.events, by=by)
    assert (await memory.observations.get(pay)).pinned


async def test_what_is_edited_is_told_found_priced_and_known_by_its_sources(
    memory: Memory, by: Actor, seen: dict[str, Observation]
) -> None:
    pay = seen["Pay"]
    texts = Texts("Pay: walrus", "a line", ("one", "two"), "what happened")
    now = await memory.observations.edit(pay.id, texts, by=by)
    said = replace(
        pay, title="Pay: walrus", subtitle="a line", facts=("one", "two"), narrative="what happened"
    )
    kept = replace(said, tokens=count_tokens(details_of(said)), revision=pay.revision + 1)
    assert replace(now, updated_at=pay.updated_at) == kept
    assert await memory.observations.get(pay.id) == now
    found = [await memory.observations.list(Filter(topic=word)) for word in ("walrus", "retry")]
    assert [list(one) for one in found] == [[now], []]
    assert (await memory.search.find("walrus"))[0].ref == pay.id
    assert "Pay: walrus" in (await memory.contexts.observed(Filter())).text
    # A later run that shows the old words is counted with it, and does not bring them back.
    later = replace(BUSY, origin=Origin("run", "r-9"))
    ((again),) = await memory.observations.observe(later.origin, "1", later, by=by) or ()
    assert (again.id, again.title, again.times) == (pay.id, "Pay: walrus", 3)
    # And so is one that shows the new ones.
    told = {"title": "Pay: walrus", "subtitle": "a line", "facts": ("one", "two")}
    same = replace(BUSY, **told, narrative="what happened", origin=Origin("run", "r-10"))
    ((new),) = await memory.observations.observe(same.origin, "1", same, by=by) or ()
    assert (new.id, new.times) == (pay.id, 4)
    assert await memory.check() == ()


async def test_an_edit_is_in_the_history_and_can_be_taken_back(
    memory: Memory, by: Actor, seen: dict[str, Observation]
) -> None:
    pay = seen["Pay"]
    await memory.observations.edit(pay.id, Texts(title="Pay: walrus"), by=by)
    (event,) = await memory.events.list(limit=1)
    assert event.change["changed"]["title"] == [pay.title, "Pay: walrus"]
    assert await memory.observations.edit(pay.id, Texts(title="Pay: walrus"), by=by)
    assert await memory.events.last() == event.seq, "no change is no event"
    await memory.events.undo(event.seq, by=by)
    back = await memory.observations.get(pay.id)
    assert replace(back, revision=pay.revision, updated_at=pay.updated_at) == pay
    assert await memory.observations.list(Filter(topic="walrus")) == ()
    assert await memory.check() == ()


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (Texts(), "memory_observation_edit"),
        (Texts(title="two\nlines"), "memory_observation_title"),
        (Texts(title=" "), "memory_text_empty"),
        (Texts(facts=("",)), "memory_text_empty"),
        (Texts(narrative="x" * 20_001), "memory_observation_text"),
    ],
)
async def test_an_edit_that_cannot_be_kept_is_refused(
    memory: Memory, by: Actor, seen: dict[str, Observation], texts: Texts, code: str
) -> None:
    with pytest.raises(InvalidEntry) as refused:
        await memory.observations.edit(seen["Pay"].id, texts, by=by)
    assert [one.code for one in refused.value.problems] == [code]
    assert await memory.observations.get(seen["Pay"].id) == seen["Pay"]


async def test_no_two_observations_of_a_scope_are_made_the_same(
    memory: Memory, by: Actor, seen: dict[str, Observation]
) -> None:
    other = replace(BUSY, title="Ship: walrus", origin=Origin("run", "r-7"))
    ((ship),) = await memory.observations.observe(other.origin, "1", other, by=by) or ()
    with pytest.raises(SameObservation, match=seen["Pay"].id):
        await memory.observations.edit(ship.id, Texts(title=BUSY.title), by=by)
    # Another workflow may say the same.
    await memory.observations.edit(seen["Return"].id, Texts(title=BUSY.title), by=by)
    with pytest.raises(UnknownObservation):
        await memory.observations.edit("observation-gone", Texts(title="x"), by=by)


def test_a_topic_of_more_than_some_words_is_refused() -> None:
    with pytest.raises(InvalidEntry, match="the topic has 12,000 characters, more than 10,000"):
        Filter(topic="plum " * 2_400).condition()
