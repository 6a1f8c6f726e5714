"""The history is a chain; finalization seals it, once."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, linear, seed
from interleaved import Breaking
from test_gc import failed_run
from workers import audit, lease_of, put_away, run_to_end
from worlds import World

from control_plane import CorruptHistory, Refusal, Store, UnknownRun, history

pytestmark = settled(*CONTRACT)


async def finished(world: World) -> Store:
    """A run that is over."""
    await seed(world.store(), linear("A", "B"))
    await run_to_end(world, linear("A", "B"))
    return world.store()


async def read(store: Store) -> list[history.HistoryEvent]:
    return [event async for event in history.read(store, RUN)]


async def test_the_events_of_a_run_in_their_order(world: World) -> None:
    store = await finished(world)
    events = await read(store)
    assert [(e.event["type"], e.event.get("path")) for e in events] == [
        ("RunStarted", None),
        ("LeaseAcquired", "A"),
        ("StateDone", "A"),
        ("StateDone", "B"),
        ("RunEnded", None),
    ]
    assert {event.at for event in events} == {world.now_ms}


async def test_each_digest_covers_the_one_before(world: World) -> None:
    store = await finished(world)
    entries = await world.backend.command("XRANGE", store.keys(RUN).history, "-", "+")
    digest = ""
    for _, (_, at, _, event, _, kept) in entries:
        digest = hashlib.sha1(f"{digest}\n{at}\n{event}".encode()).hexdigest()
        assert kept == digest
    assert await world.backend.command("HGET", store.keys(RUN).chain, "digest") == digest


async def test_the_seal_covers_every_digest(world: World) -> None:
    store = await finished(world)
    digests = [event.digest for event in await read(store)]
    expected = hashlib.sha256("".join(f"{digest}\n" for digest in digests).encode())
    assert await history.seal(store, RUN) == history.Seal(expected.hexdigest(), digests[-1], 5)


async def test_reading_may_go_on_behind_an_entry(world: World) -> None:
    store = await finished(world)
    events = await read(store)
    later = [event async for event in history.read(store, RUN, after=events[1].entry)]
    assert later == events[2:]


@pytest.mark.parametrize("removed", range(5))
async def test_a_removed_event_is_found(world: World, removed: int) -> None:
    store = await finished(world)
    events = await read(store)
    await world.backend.command("XDEL", store.keys(RUN).history, events[removed].entry)
    with pytest.raises(CorruptHistory):
        await history.seal(store, RUN)


@pytest.mark.parametrize("changed", range(5))
@pytest.mark.parametrize("field", ["at", "event", "digest"])
async def test_a_changed_event_is_found(world: World, changed: int, field: str) -> None:
    store = await finished(world)
    key = store.keys(RUN).history
    entries = await world.backend.command("XRANGE", key, "-", "+")
    await world.backend.command("DEL", key)
    for number, (entry, fields) in enumerate(entries):
        named = dict(zip(fields[::2], fields[1::2], strict=True))
        if number == changed:
            named[field] = {"at": "1", "event": '{"type":"RunStarted"}', "digest": "0" * 40}[field]
        flat = [part for pair in named.items() for part in pair]
        await world.backend.command("XADD", key, entry, *flat)
    with pytest.raises(CorruptHistory):
        await history.seal(store, RUN)


async def test_a_history_of_thousands_is_read_in_batches(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    for _ in range(600):
        await store.release(await lease_of(store, "A"))
    assert (await history.seal(store, RUN)).events == 1_201


async def test_a_run_that_is_removed_while_it_is_sealed_is_gone_and_not_corrupt(
    world: World,
) -> None:
    store = await finished(world)
    await put_away(store)
    command = world.backend.command

    class Removing(Breaking):
        async def command(self, *args: str | int) -> Any:
            if args[0] == "XRANGE":
                assert await store.remove(RUN) is None
            return await command(*args)

    with pytest.raises(UnknownRun):
        await history.seal(world.store(Removing(world.backend, None)), RUN)


async def test_a_run_is_finalized_once(world: World) -> None:
    store = await finished(world)
    assert await put_away(store) is None
    sealed = await history.seal(store, RUN)
    record = audit("succeeded")
    answer = await store.finalize(RUN, digest=sealed.head, paths=0, by="y", audit=record, cost={})
    assert answer == Refusal("already_finalized")
    kept = (await world.dump())[store.keys(RUN).audit]
    assert kept == {**record, "finalized_at": world.now_ms}
    assert (await store.run(RUN)).finalized_at == world.now_ms


@pytest.mark.parametrize("texts", [("{no JSON", "{}"), ('{"new":1}', "{no JSON")])
async def test_what_cannot_be_stored_seals_nothing_and_leaves_the_audit_of_an_earlier_end(
    world: World, texts: tuple[str, str]
) -> None:
    store = await failed_run(world)
    await put_away(store)
    assert await store.redrive(RUN, again=[], resume=["M"]) is None
    await store.cancel(RUN, by="x")
    sealed, before = await history.seal(store, RUN), await world.dump()
    about = {"digest": sealed.head, "by": "x", "call": "c1"}
    answer = await store.call("finalize", RUN, about, *texts)
    assert answer[0] == "bad_document"
    assert await world.dump() == before
    assert store.keys(RUN).audit in before


async def test_a_run_that_moved_meanwhile_is_not_finalized(world: World) -> None:
    store = await finished(world)
    answer = await store.finalize(
        RUN, digest="0" * 40, paths=0, by="x", audit=audit("failed"), cost={}
    )
    assert answer == Refusal("history_moved")
    assert store.keys(RUN).audit not in await world.keys()


async def test_a_running_run_is_not_finalized_closed_or_retired(world: World) -> None:
    store = world.store()
    await seed(store, linear("A"))
    before = await world.dump()
    answer = await store.finalize(RUN, digest="", paths=0, by="x", audit=audit("failed"), cost={})
    assert answer == Refusal("still_running", ("running",))
    assert await store.close(RUN) == 0
    await store.retire(RUN)
    assert await world.dump() == before


@pytest.mark.parametrize("call", ["cancel", "close", "finalize", "redrive"])
async def test_what_concerns_a_run_that_does_not_exist_says_so(world: World, call: str) -> None:
    store = world.store()
    calls = {
        "cancel": lambda: store.cancel(RUN, by="x"),
        "close": lambda: store.close(RUN),
        "finalize": lambda: store.finalize(RUN, digest="", paths=0, by="x", audit={}, cost={}),
        "redrive": lambda: store.redrive(RUN, again=[], resume=[]),
    }
    with pytest.raises(UnknownRun):
        await calls[call]()
    assert await world.keys() == []
