"""Observations: kept once, found by words and filters, taken away without a trace in the index."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_world import Numbered, Ticking

from dcf.memory import (
    TYPES,
    Actor,
    AmbiguousObservation,
    Artifact,
    Filter,
    InvalidEntry,
    Memory,
    NewAgent,
    NewMessage,
    NewObservation,
    Observation,
    Origin,
    RollbackRefused,
    Source,
    UnknownObservation,
)
from dcf.memory.observations.rendering import details_of, rows_of, short_id
from dcf.search import count_tokens

RACE = NewObservation(
    type="bugfix",
    title="Cache reads are awaited now",
    origin=Origin("attempt", "attempt-2", 4),
    project="/work/shop",
    subtitle="A missing await gave stale prices.",
    facts=("get() returned a coroutine", "it showed under load only"),
    narrative="The price list was read from the cache before it was filled.",
    concepts=("problem-solution", "gotcha"),
    artifacts=(Artifact("file", "src/cache/reading.py", "modified"),),
    related=("dcf://observation/observation-0",),
    at=5_000,
)


async def test_all_that_is_said_is_kept(memory: Memory, by: Actor) -> None:
    (kept,) = await memory.observations.add(RACE, by=by)
    assert await memory.observations.get(kept.id) == kept
    fields = (kept.type, kept.title, kept.subtitle, kept.facts, kept.narrative, kept.concepts)
    given = (RACE.type, RACE.title, RACE.subtitle, RACE.facts, RACE.narrative, RACE.concepts)
    assert fields == given
    assert (kept.artifacts, kept.related) == (RACE.artifacts, RACE.related)
    assert (kept.origin, kept.at, kept.project) == (RACE.origin, 5_000, "/work/shop")
    assert kept.tokens == count_tokens(details_of(kept))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.text(st.characters(exclude_characters="\0\n\r", codec="utf-8"), min_size=1, max_size=120),
    st.integers(0, 10**12),
)
def test_a_row_of_the_index_costs_at_most_forty_tokens(title: str, age: int) -> None:
    known = {field: getattr(RACE, field) for field in ("subtitle", "facts", "narrative")}
    one = Observation(
        id="observation-01234567-89ab-4def-8123-456789abcdef",
        project="p",
        workflow="",
        type="discovery",
        title=title,
        concepts=(),
        artifacts=(),
        related=(),
        origin=Origin("coding_agent_transcript", "t-1", 12),
        agent_id=None,
        tokens=123_456,
        times=1,
        at=10**12 - age,
        revision=1,
        created_at=0,
        updated_at=0,
        **known,
    )
    (row,) = rows_of([one], 10**12)
    assert count_tokens(row) <= 40
    assert row.startswith("01234567 🟤 discovery: ")


@pytest.mark.parametrize(
    ("origin", "uri"),
    [
        (Origin("run", "nightly", state="Ship/Pay"), "dcf://run/nightly/state/Ship%2FPay"),
        (Origin("run", "nightly"), "dcf://run/nightly"),
        (Origin("attempt", "a-2", 4), "dcf://attempt/a-2/step/4"),
        (Origin("session", "s-1"), "dcf://session/s-1"),
        (Origin("beads_issue", "shop-a1"), "dcf://issue/shop-a1"),
        (Origin("beads_issue", "shop-a1", 2), "dcf://thread/shop-a1/turn/2"),
        (Origin("amp_thread", "T-1", 5), "dcf://thread/T-1/turn/5"),
        (Origin("amp_thread", "T-1"), "dcf://thread/T-1"),
    ],
)
async def test_what_is_kept_cites_itself_and_where_it_is_from(
    memory: Memory, by: Actor, origin: Origin, uri: str
) -> None:
    (kept,) = await memory.observations.add(replace(RACE, origin=origin), by=by)
    assert kept.origin == origin
    assert str(kept.origin.citation) == uri
    assert str(kept.citation) == f"dcf://observation/{kept.id}"


async def test_what_a_source_said_is_kept_once(memory: Memory, by: Actor) -> None:
    (first,) = await memory.observations.add(RACE, by=by)
    again = await memory.observations.add(RACE, RACE, by=by)
    assert again == (first, first)
    later = replace(RACE, origin=Origin("attempt", "attempt-2", 5))
    other = replace(RACE, origin=Origin("attempt", "attempt-2"))
    await memory.observations.add(later, other, other, by=by)
    assert len(await memory.observations.list()) == 3


async def test_each_event_leaves_its_observations_once(memory: Memory, by: Actor) -> None:
    source = Origin("run", "nightly")
    seen = replace(RACE, origin=Origin("run", "nightly", state="Pay"), note="card 4711")
    kept = await memory.observations.observe(source, "1/0", seen, by=by)
    assert kept is not None and [one.title for one in kept] == [RACE.title]
    assert await memory.observations.is_observed(source, "1/0")
    await memory.observations.forget(Filter(ids=[kept[0].id]), by=by)
    assert await memory.observations.observe(source, "1/0", seen, by=by) is None
    assert await memory.observations.list() == ()
    assert not await memory.observations.is_observed(source, "1/1")


async def test_events_are_known_for_months_after_all_later_ones_were_looked_through(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    source, day, began = Origin("run", "nightly"), 86_400_000, clock.now
    await memory.observations.observe(source, "1/0", by=by)
    for days, known in ((0, True), (80, True), (91, False)):
        clock.now = began + days * day
        await memory.observations.observe_until("run", clock.now, clock.now, by=by)
        assert await memory.observations.is_observed(source, "1/0") is known
    assert await memory.observations.observed_until("run", clock.now) == began + 91 * day


async def test_what_several_sources_say_is_one_row_with_all_of_them(
    memory: Memory, by: Actor
) -> None:
    for number in (1, 2, 3, 2):
        source = Origin("run", f"r-{number}")
        seen = replace(
            RACE, origin=replace(source, state="Pay"), note=f"n {number}", at=number, workflow="w"
        )
        await memory.observations.observe(source, f"{number}", seen, by=by)
    (one,) = await memory.observations.list()
    assert (one.times, one.at, one.origin.source_id) == (3, 3, "r-1")
    again = await memory.observations.occurrences(one.id)
    assert [(it.origin.source_id, it.note, it.at) for it in again] == [
        ("r-3", "n 3", 3),
        ("r-2", "n 2", 2),
        ("r-1", "n 1", 1),
    ]
    for name in ("r-1", "r-3"):
        found = await memory.observations.list(Filter(source_ids=[name], state="Pay"))
        assert list(found) == [one]
    assert await memory.observations.list(Filter(source_ids=["r-9"])) == ()
    other = replace(RACE, origin=source, workflow="other")
    await memory.observations.observe(source, "of another workflow", other, by=by)
    assert len(await memory.observations.list()) == 2
    assert await memory.observations.list(Filter(workflows=["w"])) == (one,)


async def test_an_observation_is_called_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    ids = iter(["ab12", "ab13"])
    by = Actor("user", "ada")
    async with Memory.open(
        Source(tmp_path / "ids.db"), clock=Ticking(), new_id=lambda kind: f"{kind}-{next(ids)}"
    ) as memory:
        first, _ = await memory.observations.add(RACE, replace(RACE, title="Other"), by=by)
        for name in ("ab12", "observation-ab12", "observation-ab12"):
            assert await memory.observations.get(name) == first
        with pytest.raises(AmbiguousObservation, match="observation-ab13"):
            await memory.observations.get("ab1")
        # As a row shows it, and as the first characters of an id in ``--json``.
        assert await memory.observations.get(short_id(first.id)) == first
        for name in ("observat", "observation-"):
            with pytest.raises(AmbiguousObservation, match="observation-ab12"):
                await memory.observations.get(name)
        for name in ("ac", "", "%"):
            with pytest.raises(UnknownObservation):
                await memory.observations.get(name)


async def test_words_of_each_part_find_it_in_its_project_only(memory: Memory, by: Actor) -> None:
    (kept,) = await memory.observations.add(RACE, by=by)
    for query in ("awaited", "stale prices", "coroutine", "filled", "reading.py", "gotcha"):
        found = await memory.search.find(query, projects=["/work/shop"])
        assert [one.ref for one in found] == [kept.id], query
        assert await memory.search.find(query, projects=["/work/other"]) == ()


async def test_agents_do_not_see_a_project_unless_they_ask_for_it(
    memory: Memory, by: Actor
) -> None:
    agent = await memory.agents.create(NewAgent("anna"), by=by)
    await memory.messages.append(agent.id, NewMessage("user", "the cache is slow"), by=by)
    await memory.observations.add(RACE, by=by)

    async def kinds(agent_ids: list[str] | None, projects: list[str] | None) -> set[str]:
        found = await memory.search.find("cache", agent_ids=agent_ids, projects=projects)
        return {one.kind for one in found}

    assert await kinds([agent.id], None) == {"message"}
    assert await kinds(None, ["/work/shop"]) == {"observation"}
    assert await kinds([agent.id], ["/work/shop"]) == {"message", "observation"}
    assert await kinds(None, None) == {"message", "observation"}
    assert await kinds([], []) == set()


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ({}, ["b", "a"]),
        ({"types": ["decision"]}, ["b"]),
        ({"concepts": ["gotcha", "pattern"]}, ["a"]),
        ({"source_types": ["attempt"]}, ["a"]),
        ({"source_ids": ["review-1"]}, ["b"]),
        ({"since": 6_000}, ["b"]),
        ({"until": 6_000}, ["a"]),
        ({"types": ["decision"], "until": 6_000}, []),
        ({"projects": ["/work/shop"]}, ["b", "a"]),
        ({"projects": ["/nowhere"]}, []),
    ],
)
async def test_filters_of_lists_and_of_search_leave_the_same(
    memory: Memory, by: Actor, which: dict[str, object], expected: list[str]
) -> None:
    decided = replace(
        RACE,
        type="decision",
        title="Prices come from one cache",
        concepts=("trade-off",),
        origin=Origin("review", "review-1"),
        at=7_000,
    )
    a, b = await memory.observations.add(RACE, decided, by=by)
    names = {a.id: "a", b.id: "b"}
    listed = await memory.observations.list(Filter(**which))  # type: ignore[arg-type]
    assert [names[one.id] for one in listed] == expected
    found = await memory.search.find("cache prices", **which)  # type: ignore[arg-type]
    assert sorted(names[one.ref] for one in found) == sorted(expected)
    newest = await memory.search.find("", **which)  # type: ignore[arg-type]
    assert [names[one.ref] for one in newest] == expected


async def test_pages_have_each_observation_once(memory: Memory, by: Actor) -> None:
    new = [replace(RACE, title=f"number {number}", at=number // 3) for number in range(20)]
    kept = {one.id for one in await memory.observations.add(*new, by=by)}
    seen: list[str] = []
    while page := await memory.observations.list(limit=7, before=seen[-1] if seen else None):
        seen += [one.id for one in page]
    assert (len(seen), set(seen)) == (20, kept)


async def test_all_that_is_wrong_is_said_at_once_and_nothing_is_kept(
    memory: Memory, by: Actor
) -> None:
    bad = replace(
        RACE,
        type="idea",  # type: ignore[arg-type]
        title="two\nlines",
        concepts=("why",),  # type: ignore[arg-type]
        facts=("",),
        artifacts=(Artifact("file", "", "moved"),),  # type: ignore[arg-type]
        origin=Origin("", "x", -1),
    )
    with pytest.raises(InvalidEntry) as caught:
        await memory.observations.add(RACE, bad, by=by)
    assert [problem.path for problem in caught.value.problems] == [
        "/1/type",
        "/1/concepts/0",
        "/1/title",
        "/1/facts/0",
        "/1/artifacts/0/action",
        "/1/artifacts/0/path",
        "/1/source_type",
        "/1/turn",
    ]
    assert await memory.observations.list() == ()


async def test_what_is_deleted_is_not_found_and_comes_back_with_a_rollback(
    memory: Memory, by: Actor
) -> None:
    (kept,) = await memory.observations.add(RACE, by=by)
    await memory.observations.forget(Filter(ids=[kept.id]), by=by)
    assert await memory.search.find("awaited") == ()
    with pytest.raises(UnknownObservation):
        await memory.observations.get(kept.id)
    (event,) = await memory.events.list(operation="deleted")
    await memory.events.undo(event.seq, by=by)
    assert [one.ref for one in await memory.search.find("awaited")] == [kept.id]
    assert await memory.check() == ()


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["add", "delete", "back"]),
            st.integers(0, 9),
            st.sampled_from(TYPES),
            st.sampled_from(["plum", "fig", "plum fig", "src/plum_tree.py"]),
        ),
        max_size=25,
    )
)
async def test_the_index_is_what_one_made_anew_would_be(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, int, str, str]],
) -> None:
    path: Path = tmp_path_factory.mktemp("memory") / "m.db"
    by = Actor("user", "ada")
    async with Memory.open(Source(path), clock=Ticking(), new_id=Numbered()) as memory:
        for step, number, kind, words in steps:
            there = await memory.observations.list()
            gone = await memory.events.list(operation="deleted")
            if step == "add":
                new = replace(RACE, title=words, type=kind, narrative=f"{words} {number}")  # type: ignore[arg-type]
                await memory.observations.add(replace(new, project=str(number % 3)), by=by)
            elif step == "delete" and there:
                which = Filter(ids=[there[number % len(there)].id])
                await memory.observations.forget(which, by=by)
            elif step == "back" and gone:
                with suppress(RollbackRefused):
                    await memory.events.undo(gone[number % len(gone)].seq, by=by)
        assert await memory.check() == ()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
