"""Records of every kind: what holds for agents (see test_agents) holds for the others, each with
its own keys, errors, names of events and history."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from campaigns import CONTRACT, settled
from worlds import World

from control_plane import (
    AgentStore,
    BadName,
    ConductorExists,
    ConductorStore,
    CorruptHistory,
    NameTaken,
    RecordBusy,
    RecordChange,
    RecordConflict,
    RecordDocument,
    RecordExists,
    RecordStore,
    RecordTail,
    RedisBackend,
    SessionBusy,
    SessionDocument,
    SessionExists,
    SessionFull,
    SessionStore,
    UnknownConductor,
    UnknownRecord,
    UnknownSession,
    check_session_id,
    read_record_history,
)
from control_plane.twin import Twin

pytestmark = settled(*CONTRACT)

ANY = RecordStore[Any]


@pytest.fixture(params=[SessionStore, ConductorStore])
async def records(request: pytest.FixtureRequest, world: World) -> AsyncIterator[ANY]:
    yield request.param(world.backend, tokens=world.token)


@pytest.fixture
async def sessions(world: World) -> AsyncIterator[SessionStore]:
    yield SessionStore(world.backend, tokens=world.token)


async def told(records: ANY, record_id: str) -> list[str]:
    return [entry.event["type"] async for entry in read_record_history(records, record_id)]


def said(*types: str, closing: bool = False) -> RecordChange:
    return RecordChange([{"type": type_} for type_ in types], closing=closing)


async def test_a_record_is_made_changed_found_listed_and_deleted(
    records: ANY, world: World
) -> None:
    noun = records.kind.noun.capitalize()
    made = await records.create("s1", "One", tags=["x"], record={"a": 1, "b": []})
    await records.create("s2", "Two")
    assert await records.read("s1") == made
    assert await records.find("One") == "s1"
    changed = await records.change(made, RecordChange([{"type": "X"}], {"a": 2**70}))
    assert isinstance(changed, RecordDocument)
    assert (changed.id, changed.revision, changed.record) == ("s1", 2, {"a": 2**70, "b": []})
    assert await records.change(made, said("Y")) == RecordConflict(2)
    assert (await records.read("s1", ["a"])).record == {"a": 2**70}
    page = await records.page(limit=1)
    assert [one.id for one in page.records] == ["s1"]
    page = await records.page(limit=5, after=page.after)
    assert [one.id for one in page.records] == ["s2"]
    assert await records.count() == 2
    await records.delete(changed, by="me", keep=["b"])
    assert await records.get("s1") is None
    assert await told(records, "s1") == [f"{noun}Created", "X", f"{noun}Deleted"]
    assert (await records.create("s1", "One")).record == {"b": []}


async def test_each_kind_has_its_own_keys_and_errors(world: World) -> None:
    sessions = SessionStore(world.backend, tokens=world.token)
    conductors = ConductorStore(world.backend, tokens=world.token)
    made = await sessions.create("s", "One")
    assert (made.session_id, made.id) == ("s", "s")
    assert (await conductors.create("s", "One")).conductor_id == "s"
    assert (await AgentStore(world.backend, tokens=world.token).create("s", "One")).agent_id == "s"
    assert await world.keys() == [
        "cp:agent:s", "cp:agent:s:history", "cp:agents:index", "cp:agents:names",
        "cp:conductor:s", "cp:conductor:s:history", "cp:conductors:index", "cp:conductors:names",
        "cp:sess:s:doc", "cp:sess:s:history", "cp:sessions:index", "cp:sessions:names",
    ]  # fmt: skip
    with pytest.raises(SessionExists, match="session s"):
        await sessions.create("s", "Two")
    with pytest.raises(ConductorExists):
        await conductors.create("s", "Two")
    with pytest.raises(NameTaken, match="belongs to session s"):
        await sessions.create("t", "One")
    with pytest.raises(UnknownSession, match="session none"):
        await sessions.read("none")
    with pytest.raises(UnknownConductor):
        await conductors.update("none", lambda _: said("X"))
    await sessions.delete(made)
    with pytest.raises(UnknownSession):
        await sessions.note(made, [{"type": "X"}])
    assert issubclass(SessionExists, RecordExists)
    assert issubclass(UnknownSession, UnknownRecord)
    assert issubclass(SessionBusy, RecordBusy)


@pytest.mark.parametrize("bad", ["", "a.b", "..", "a:b", "a/b", "-a", "_a", "a" * 65, "a\n", "ä"])
def test_a_session_is_named_so_that_it_can_be_a_folder_and_half_of_a_seat(bad: str) -> None:
    with pytest.raises(BadName, match="session id"):
        check_session_id(bad)


class Short(SessionStore):
    """Sessions whose history holds five events."""

    kind = replace(SessionStore.kind, most=5)


async def test_nothing_of_a_session_is_ever_dropped_and_a_full_one_takes_only_its_end(
    world: World,
) -> None:
    sessions = Short(world.backend, tokens=world.token)
    made = await sessions.create("s", "S")
    await sessions.note(made, [{"type": f"N{number}"} for number in range(3)])
    before = await world.dump()
    for full in (
        sessions.note(made, [{"type": "X"}, {"type": "Y"}]),
        sessions.update("s", lambda _: RecordChange([{"type": "X"}] * 2, {"a": 1})),
    ):
        with pytest.raises(SessionFull, match=r"s has 5 events.*finalize"):
            await full
    assert await world.dump() == before
    await sessions.note(made, [{"type": "Last"}])
    with pytest.raises(SessionFull):
        await sessions.note(made, [{"type": "X"}])
    changed = await sessions.update("s", lambda _: RecordChange(members={"a": 1}))
    assert changed.record == {"a": 1}, "without events it is changed as ever"
    ended = await sessions.update("s", lambda _: said("SessionCompleted", closing=True))
    await sessions.delete(ended)
    assert await told(sessions, "s") == [
        "SessionCreated", "N0", "N1", "N2", "Last", "SessionCompleted", "SessionDeleted"
    ]  # fmt: skip
    with pytest.raises(SessionFull):
        await sessions.create("s", "S")
    assert await sessions.find("S") is None


async def test_notes_leave_room_for_what_changes_a_session(world: World) -> None:
    sessions = Short(world.backend, tokens=world.token)
    sessions.kind = replace(Short.kind, notes=3)
    made = await sessions.create("s", "S")
    await sessions.note(made, [{"type": "N"}] * 2)
    with pytest.raises(SessionFull):
        await sessions.note(made, [{"type": "N"}])
    await sessions.update("s", lambda _: RecordChange([{"type": "X"}] * 2))
    assert await told(sessions, "s") == ["SessionCreated", "N", "N", "X", "X"]


def test_a_session_holds_a_hundred_thousand_events() -> None:
    assert (SessionStore.kind.most, SessionStore.kind.newest) == (100_000, None)
    assert SessionStore.kind.notes == 80_000


async def test_more_events_than_are_kept_of_an_agent_stay_with_a_session(
    sessions: SessionStore,
) -> None:
    made = await sessions.create("s", "S")
    for _ in range(11):
        await sessions.note(made, [{"type": "N"}] * 500)
    assert len(await told(sessions, "s")) == 5_501


async def test_the_first_event_of_a_session_that_is_gone_is_missed(sessions: SessionStore) -> None:
    made = await sessions.create("s", "S")
    await sessions.note(made, [{"type": "A"}, {"type": "B"}])
    (first,) = await sessions.events("s", count=1)
    await sessions.backend.command("XDEL", "cp:sess:s:history", first.entry)
    with pytest.raises(CorruptHistory):
        await told(sessions, "s")


async def test_events_are_read_page_by_page(records: ANY) -> None:
    made = await records.create("s", "S")
    await records.note(made, [{"type": "N", "n": number} for number in range(5)])
    seen, after = [], "-"
    while page := await records.events("s", after=after, count=4):
        seen += [event.event.get("n") for event in page]
        after = page[-1].entry
    assert seen == [None, 0, 1, 2, 3, 4]
    assert await records.events("none") == []


async def test_a_tail_shows_what_comes_and_waits_for_it(sessions: SessionStore) -> None:
    made = await sessions.create("s", "S")
    tail = RecordTail(sessions, "s", reads=sessions.backend)
    await tail.begin()
    await sessions.note(made, [{"type": "A"}, {"type": "B"}])
    assert [event.event["type"] for event in await tail.read(block_ms=1)] == ["A", "B"]
    waits = asyncio.create_task(tail.read(block_ms=5_000))
    await asyncio.sleep(0.05)
    assert not waits.done()
    await sessions.delete(made)
    async with asyncio.timeout(2):
        assert [event.event["type"] for event in await waits] == ["SessionDeleted"]
    assert await tail.read(block_ms=1) == []


async def test_a_tail_goes_on_where_it_was_left_or_told_to(sessions: SessionStore) -> None:
    made = await sessions.create("s", "S")
    await sessions.note(made, [{"type": "A"}])
    tail = RecordTail(sessions, "s", reads=sessions.backend, after="0-0")
    seen = []
    async for event in tail:
        seen.append(event.event["type"])
        if len(seen) == 2:
            break
    assert seen == ["SessionCreated", "A"]
    waits = asyncio.create_task(tail.read(block_ms=5_000))
    await asyncio.sleep(0.02)
    waits.cancel()
    await asyncio.gather(waits, return_exceptions=True)
    await sessions.note(made, [{"type": "B"}])
    assert [event.event["type"] for event in await tail.read(block_ms=1)] == ["B"]
    early = RecordTail(sessions, "later", reads=sessions.backend)
    await early.begin()
    await sessions.create("later", "Later")
    assert [event.event["type"] for event in await early.read(block_ms=1)] == ["SessionCreated"]


async def test_a_tail_tells_that_somebody_wrote_past_the_scripts(sessions: SessionStore) -> None:
    made = await sessions.create("s", "S")
    tail = RecordTail(sessions, "s", reads=sessions.backend, after="0-0")
    await sessions.backend.command(
        "XADD", "cp:sess:s:history", "*", "at", 1, "event", '{"type":"Forged"}', "digest", "0" * 40
    )
    await sessions.note(made, [{"type": "A"}])
    with pytest.raises(CorruptHistory):
        await tail.read(block_ms=1)


class Counting(SessionStore):
    """Counts how often its last update tried to write."""

    tries = 0

    async def change(
        self, document: SessionDocument, change: RecordChange, *, call: str | None = None
    ) -> SessionDocument | RecordConflict:
        self.tries += 1
        return await super().change(document, change, call=call)


async def test_fifty_writers_that_know_nothing_of_each_other_lose_nothing(redis_url: str) -> None:
    """Each has a store of its own, as in fifty processes. An update may try 200 times; a pause of
    random length after each lost one keeps it far from that."""
    backend = RedisBackend.from_url(redis_url)
    await SessionStore(backend).create("s", "S", record={"count": 0})
    worst = 0

    def plan(session: SessionDocument) -> RecordChange:
        count = session.record["count"] + 1
        return RecordChange([{"type": "Raised", "to": count}], {"count": count})

    async def write() -> None:
        nonlocal worst
        store = Counting(backend)
        for _ in range(10):
            store.tries = 0
            await store.update("s", plan, ["count"])
            worst = max(worst, store.tries)

    await asyncio.gather(*(write() for _ in range(50)))
    store = SessionStore(backend)
    found = await store.read("s")
    assert (found.record["count"], found.revision) == (500, 501)
    raised = [entry.event.get("to") async for entry in read_record_history(store, "s")]
    assert raised == [None, *range(1, 501)]
    assert worst < 100
    await backend.close()


@pytest.mark.parametrize(
    ("took_s", "ms"),
    [
        (0.0, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 32.0]),
        # A server that is slow to answer: up to sixteen times what an attempt takes.
        (0.01, [5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0]),
        # And never more than two seconds, of which half is waited here.
        (0.5, [250.0, 500.0, 750.0, 1000.0, 1000.0, 1000.0, 1000.0, 1000.0]),
    ],
)
async def test_pauses_grow_and_are_of_random_length(
    took_s: float, ms: list[float], sessions: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = count(step=took_s)
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    class Late(SessionStore):
        async def change(self, *args: Any, **options: Any) -> RecordConflict:
            return RecordConflict(9)

    await sessions.create("s", "S")
    monkeypatch.setattr("control_plane.records.asyncio.sleep", sleep)
    with pytest.raises(SessionBusy, match="200 times"):
        late = Late(sessions.backend, jitter=lambda: 0.5, clock_s=lambda: next(moments))
        await late.update("s", lambda _: said("X"))
    assert [round(pause * 1000, 1) for pause in pauses[:8]] == ms
    assert round(max(pauses), 3) == {0.0: 0.032, 0.01: 0.08, 0.5: 1.0}[took_s]
    assert len(pauses) == 199


async def test_every_script_of_every_kind_declares_its_keys() -> None:
    """A strict twin refuses any other; so would a cluster."""
    for store in (SessionStore, ConductorStore):
        for cluster in (False, True):
            records: ANY = store(Twin(lambda: 1_790_000_000_000_000), cluster=cluster)
            made = await records.create("s", "S")
            await records.change(made, RecordChange([{"type": "X"}], {"x": 1}, name="T"))
            await records.delete(made, keep=["x"])
            assert (await records.create("s", "S")).record == {"x": 1}
