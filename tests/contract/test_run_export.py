"""An exported run is the whole run: what is restored from its file is what was removed."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

import pytest
from campaigns import CONTRACT, settled
from flows import DEFINITION, RUN, Flow, TaskFailed, linear, seed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interleaved import Breaking, Interleaved
from test_gc import ended_run
from workers import run_to_end
from worlds import World, open_world

from control_plane import (
    DONE,
    BadRunFile,
    DamagedRun,
    Disconnected,
    Lease,
    NotExportable,
    RunExists,
    Store,
    UnknownRun,
    WrongType,
    export_run,
    history,
    pack,
    payload,
    restore_run,
    run_export,
    run_file,
    timers,
    unpack,
)
from control_plane.run_export import RestoreLost
from control_plane.script import Script
from dcf.workflow import finalize

pytestmark = settled(*CONTRACT)


async def sealed_run(world: World) -> tuple[Store, bytes]:
    """A run with documents of every kind, redriven once, and its file."""
    store = await ended_run(world)
    await store.put_blob(RUN, DEFINITION)
    assert await store.redrive(RUN, again=["M"], resume=[]) is None
    await store.cancel(RUN, by="x")
    await finalize(store, RUN, by="test")
    return store, pack(await export_run(store, RUN))


async def stored(world: World) -> dict[str, Any]:
    """Every document as Redis gives its text, and everything else; the run's approval is no part of
    it."""
    found = await world.dump()
    for key in found:
        if await world.backend.command("TYPE", key) == "ReJSON-RL":
            found[key] = await world.backend.command("JSON.GET", key)
        elif key.endswith(":history"):
            found[key] = await world.backend.command("XRANGE", key, "-", "+")
    return {key: value for key, value in found.items() if key != "cp:approvals"}


async def test_what_is_restored_is_byte_for_byte_what_was_removed(world: World) -> None:
    store, data = await sealed_run(world)
    before = await stored(world)
    assert await store.remove(RUN) is None
    await restore_run(store, unpack(data))
    assert await stored(world) == before
    assert pack(await export_run(store, RUN)) == data
    assert (await history.seal(store, RUN)).events > 10


async def test_a_state_that_made_thousands_of_calls_is_restored(world: World) -> None:
    store, _ = await sealed_run(world)
    calls = [text for number in range(5_000) for text in (f"1 {number}", "{}")]
    await world.backend.command("HSET", store.keys(RUN).calls("A"), *calls)
    before, export = await stored(world), await export_run(store, RUN)
    await store.remove(RUN)
    await restore_run(store, export)
    assert await stored(world) == before


async def test_a_run_that_lacks_a_large_value_is_not_exported(world: World) -> None:
    """Whatever refers to it: here nothing that the file would be checked for."""
    store, _ = await sealed_run(world)
    blob = payload.encode("y" * 300_000).digest
    await world.backend.command("DEL", store.keys(RUN).blob(blob))
    with pytest.raises(NotExportable, match=f"is damaged .blob {blob} is missing"):
        await export_run(store, RUN)


class RemovedMeanwhile(Interleaved):
    """Somebody begins to remove the run after the first call of its restore."""

    def __init__(self, world: World) -> None:
        super().__init__(world.backend, "restore")
        self.store = world.store()

    async def meanwhile(self) -> None:
        born = str((await self.store.run(RUN)).raw["ctl"]["born"])
        about = {"born": born, "paths": [], "blobs": [], "mark": True}
        await self.store.call("gc", RUN, about, extra=[DONE])


async def test_a_run_that_is_removed_while_it_is_restored_is_not_half_there(world: World) -> None:
    store, data = await sealed_run(world)
    await store.remove(RUN)
    with pytest.raises(RestoreLost):
        await restore_run(world.store(RemovedMeanwhile(world)), unpack(data))
    assert (await store.run(RUN)).removing
    await store.remove(RUN)
    assert not await store.run_many([RUN])


class Recording(Interleaved):
    """Keeps what was said to ``restore``."""

    def __init__(self, world: World) -> None:
        super().__init__(world.backend, "")
        self.said: list[tuple[Script, Sequence[str], Sequence[str | int]]] = []

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        self.said += [(script, keys, args)] if script.name == "restore" else []
        return await super().run(script, keys, args)


@pytest.mark.parametrize("damaged", ["paths", "calls", "blobs", "history", "chain", "agents"])
async def test_a_call_of_a_restore_that_broke_off_does_not_count_and_may_be_said_again(
    world: World, damaged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_export, "_MOST_PARTS", 12)
    store, _ = await sealed_run(world)
    # One call holds enough of each that something was written before it breaks off.
    run_keys, command = store.keys(RUN), world.backend.command
    await command("HSET", run_keys.calls("M[0]/T"), "1 1", "{}")
    await command("HSET", run_keys.agents, "M[0]/T", "ada")
    before, export = await stored(world), await export_run(store, RUN)
    recording = Recording(world)
    await store.remove(RUN)
    await restore_run(world.store(recording), export)
    await store.remove(RUN)

    key = run_keys.calls("M[0]/T") if damaged == "calls" else getattr(run_keys, damaged)
    await command("SET", key, "damage")
    answers = [await _answer(world, call) for call in recording.said]
    broke = answers.index("wrong_type")
    assert 0 < broke < len(answers) - 1
    assert answers == ["ok"] * broke + ["wrong_type"] + ["gone"] * (len(answers) - broke - 1)
    assert (await store.run(RUN)).removing
    assert await command("ZSCORE", DONE, RUN) is None

    await command("DEL", key)
    assert {await _answer(world, call) for call in recording.said} == {"ok"}
    assert await stored(world) == before


async def test_a_restore_that_broke_off_is_swept_away(world: World) -> None:
    store, data = await sealed_run(world)
    await store.remove(RUN)
    chain = store.keys(RUN).chain
    await world.backend.command("SET", chain, "damage")
    with pytest.raises(DamagedRun, match="chain holds a string, and should hold a hash"):
        await restore_run(store, unpack(data))
    with pytest.raises(NotExportable, match="is being removed"):
        await export_run(store, RUN)
    await world.advance(60_000)
    assert (await timers.sweep(store)).removing == [RUN]
    assert await store.remove(RUN) is None
    assert [key for key in await world.keys() if RUN in key] == []


async def _answer(world: World, call: tuple[Script, Any, Any]) -> str:
    try:
        return str((await world.backend.run(*call))[0])
    except WrongType as error:
        return error.code


_ITEMS = st.lists(
    st.one_of(st.integers(-(2**53), 2**53), st.text(max_size=5), st.none()), min_size=1, max_size=3
)


@st.composite
def any_flow(draw: st.DrawFn, depth: int = 1) -> Flow:
    """States one after the other, some of which fan out, fail, are tried again or caught."""
    names = ["A", "B", "C"][: draw(st.integers(1, 3))]
    states: dict[str, dict[str, Any]] = {}
    for name, following in zip(names, [*names[1:], None], strict=True):
        kinds = ["task", "fail", "pass", *(["map", "parallel"] if depth else [])]
        match draw(st.sampled_from(kinds)):
            case "task":
                states[name] = {"task": name, "retry": draw(st.integers(0, 1))}
            case "fail":
                states[name] = {"fail": "E.wanted"}
            case "map":
                states[name] = {"map": draw(any_flow(depth - 1)), "tolerate": 1}
            case "parallel":
                states[name] = {"parallel": [draw(any_flow(depth - 1)) for _ in range(2)]}
            case _:
                states[name] = {"assign": {name: draw(st.integers())}}
        if following is not None:
            states[name] |= {"next": following, "catch": following}
    return {"start": "A", "states": states}


async def every_second_time(lease: Lease) -> Any:
    """Work whose first try fails; what it answers is a list, that a Map may follow it."""
    if lease.try_ == 1:
        raise TaskFailed("E.first")
    return [lease.path, lease.input]


@given(flow=any_flow(), items=_ITEMS, again=st.booleans())
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_run_is_the_same_after_export_removal_and_restore(
    backend_url: str | None, flow: Flow, items: list[Any], again: bool
) -> None:
    async def there_and_back() -> None:
        world = await open_world(backend_url)
        store = world.store()
        await seed(store, flow, items)
        await store.put_blob(RUN, DEFINITION)
        ended = await run_to_end(world, flow, every_second_time)
        await finalize(store, RUN, by="test")
        if again and ended.exit is not None and ended.status == "failed":
            assert await store.redrive(RUN, again=[ended.exit], resume=[]) is None
            await run_to_end(world, flow, every_second_time)
            await finalize(store, RUN, by="test")
        data, before = pack(await export_run(store, RUN)), await stored(world)
        assert await store.remove(RUN) is None
        assert [key for key in await world.keys() if RUN in key] == []
        await restore_run(store, unpack(data))
        assert await stored(world) == before
        assert pack(await export_run(store, RUN)) == data
        await world.close()

    asyncio.run(there_and_back())


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_restore_that_died_anywhere_is_removed_by_a_sweep_and_may_be_repeated(
    world: World, when: Literal["before", "after"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_export, "_MOST_PARTS", 12)
    store, data = await sealed_run(world)
    before = await stored(world)
    fatal, broke = 0, True
    while broke:
        await store.remove(RUN)
        fatal += 1
        breaking = Breaking(world.backend, fatal, when)
        with suppress(Disconnected):
            await restore_run(world.store(breaking), unpack(data))
        broke = breaking.broken
        await world.advance(60_000)
        for workflow_id in (await timers.sweep(store)).removing:
            await store.remove(workflow_id)
        if broke and await store.run_many([RUN]) == []:
            assert [key for key in await world.keys() if RUN in key] == []
            await restore_run(store, unpack(data))
        now = await stored(world)
        assert {**now, "cp:wf:done": 0} == {**before, "cp:wf:done": 0}
    assert fatal > 4


async def test_nothing_is_restored_over_a_run_and_the_run_stays_as_it_is(world: World) -> None:
    store, data = await sealed_run(world)
    before = await stored(world)
    with pytest.raises(RunExists):
        await restore_run(store, unpack(data))
    assert await stored(world) == before
    await store.remove(RUN)
    await seed(store, linear("A"))
    with pytest.raises(RunExists):
        await restore_run(store, unpack(data))
    assert (await run_to_end(world, linear("A"))).status == "succeeded"


async def test_a_restored_run_may_be_redriven(world: World) -> None:
    store, data = await sealed_run(world)
    await store.remove(RUN)
    await restore_run(store, unpack(data))
    assert await store.redrive(RUN, again=["M"], resume=[]) is None
    assert (await store.run(RUN)).status == "running"
    assert (await history.seal(store, RUN)).events > 10


async def test_only_a_sealed_run_is_exported(world: World) -> None:
    store = world.store()
    with pytest.raises(UnknownRun):
        await export_run(store, RUN)
    await seed(store, linear("A"))
    with pytest.raises(NotExportable, match="is running"):
        await export_run(store, RUN)
    await run_to_end(world, linear("A"))
    with pytest.raises(NotExportable, match="not sealed"):
        await export_run(store, RUN)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (["XTRIM", "cp:wf:{run}:history", "MAXLEN", "1"], "does not match its digest"),
        (["JSON.DEL", "dp:wf:{run}:audit:finalize"], "audit: it is missing"),
        (["SET", "dp:wf:{run}:blob:{blob}", "other"], "does not match its digest"),
    ],
    ids=["history", "audit", "blob"],
)
async def test_what_a_restore_would_refuse_is_not_exported(
    world: World, damage: list[str], said: str
) -> None:
    store, _ = await sealed_run(world)
    blob = min(await world.backend.command("SMEMBERS", store.keys(RUN).blobs))
    done = await world.backend.command(*(one.format(run=RUN, blob=blob) for one in damage))
    assert done
    export = await export_run(store, RUN)
    with pytest.raises(NotExportable, match=said):
        pack(export)


@pytest.fixture(scope="module")
def file() -> bytes:
    """A file that is good."""
    from worlds import TwinWorld

    return asyncio.run(sealed_run(TwinWorld()))[1]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_file_of_which_one_byte_is_changed_or_the_end_is_missing_is_refused(
    file: bytes, data: st.DataObject
) -> None:
    at = data.draw(st.integers(10, len(file) - 1))
    with pytest.raises(BadRunFile):
        unpack(file[:at])
    changed = bytearray(file)
    changed[at] ^= data.draw(st.integers(1, 255))
    if _content(bytes(changed)) == _content(file):
        # Some bits of a compressed file say nothing, such as the length of a code of no use.
        assert unpack(bytes(changed)) == unpack(file)
    else:
        with pytest.raises(BadRunFile):
            unpack(bytes(changed))


def _content(file: bytes) -> bytes | None:
    """What gzip finds in it; None where it is damaged."""
    try:
        return gzip.decompress(file)
    except (OSError, EOFError, zlib.error):
        return None


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "damaged"),
        (b"PK\x03\x04", "not an exported run"),
        (gzip.compress(b"hello\n"), "not an exported run"),
        (gzip.compress(b'{"format":"dcf-run","version":9}\n{}\n{}\n{}\n'), "format 9"),
    ],
    # gzip writes the time down: what is compressed anew has another name each second.
    ids=["empty", "a zip", "a word", "a later format"],
)
def test_a_foreign_file_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(BadRunFile, match=said):
        unpack(data)


def test_a_small_file_with_a_huge_content_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_file, "LARGEST", 1_000_000)
    with pytest.raises(BadRunFile, match="more than 1,000,000 bytes"):
        unpack(gzip.compress(b" " * 2_000_000))
