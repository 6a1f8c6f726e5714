"""A run whose document is broken is removed when it is asked for, with all that belongs to it, and
nothing else is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Literal

import pytest
from campaigns import CONTRACT, settled
from flows import RUN, end, linear, seed
from interleaved import Breaking, Interleaved
from test_gc import ended_run, left
from workers import lease_of, put_away, run_to_end
from worlds import World

from control_plane import (
    BrokenRun,
    Disconnected,
    Refusal,
    Store,
    UnknownRun,
    export_run,
    keys,
    payload,
    remove_broken,
    restore_run,
    run_lists,
    timers,
)

pytestmark = settled(*CONTRACT)

Damage = Callable[[World, str], Awaitable[Any]]


def _member(path: str, value: str) -> Damage:
    return lambda world, key: world.backend.command("JSON.SET", key, path, value)


async def _of_another_type(world: World, key: str) -> None:
    await world.backend.command("DEL", key)
    await world.backend.command("HSET", key, "status", "succeeded")


DAMAGES: dict[str, tuple[Damage, str]] = {
    "no object": (_member("$", "[1]"), "it has no control record"),
    "no control": (_member("$.ctl", "7"), "it has no control record"),
    "no status": (_member("$.ctl", "{}"), "ctl.status is none"),
    "nothing said": (_member("$.ctl.said", "7"), "ctl.said is none"),
    "no birth": (_member("$.ctl.born", '"x"'), "ctl.born is none"),
    "a text for a time": (_member("$.finished_at", '"today"'), "finished_at is none"),
    "pins": (_member("$.pins", "7"), "pins is none"),
    "another's": (_member("$.workflow_id", '"other"'), "'other', that of another run"),
    "a hash": (_of_another_type, "it is of the type hash"),
}


async def broken_run(world: World, damage: Damage = DAMAGES["no control"][0]) -> Store:
    """A finished run with documents of every kind, whose own was damaged."""
    store = await ended_run(world)
    await damage(world, store.keys(RUN).meta)
    return store


@pytest.mark.parametrize("name", DAMAGES)
async def test_what_is_broken_is_told_and_goes_with_all_its_keys(world: World, name: str) -> None:
    damage, why = DAMAGES[name]
    store = await broken_run(world, damage)
    await seed(store, linear("A"), run="other")
    with pytest.raises(BrokenRun, match=why) as told:
        await store.run(RUN)
    assert told.value.hint.startswith(f"`dcf runs remove {RUN} --broken`")
    assert f"run {RUN} is broken" in str(told.value)
    assert await remove_broken(store, RUN)
    assert await left(world) == []
    with pytest.raises(UnknownRun):
        await remove_broken(store, RUN)
    assert (await store.run("other")).status == "running"


async def test_a_run_that_is_whole_is_left_as_it_is(world: World) -> None:
    store = await ended_run(world)
    before = await world.dump()
    assert not await remove_broken(store, RUN)
    assert await world.dump() == before


class Mended(Breaking):
    """Somebody mends the document after it was read."""

    def __init__(self, world: World, whole: str) -> None:
        super().__init__(world.backend, None)
        self._meta, self._whole = world.store().keys(RUN).meta, whole

    async def command(self, *args: str | int) -> Any:
        answer = await super().command(*args)
        if args == ("JSON.GET", self._meta):
            await self._inner.command("JSON.SET", self._meta, "$", self._whole)
        return answer


async def test_a_run_that_is_mended_meanwhile_stays(world: World) -> None:
    store = await ended_run(world)
    meta = store.keys(RUN).meta
    whole, before = await world.backend.command("JSON.GET", meta), await world.dump()
    await world.backend.command("JSON.SET", meta, "$.ctl", "7")
    assert not await remove_broken(world.store(Mended(world, whole)), RUN)
    assert await world.dump() == before


async def test_who_works_on_it_commits_nothing_any_more(world: World) -> None:
    store, flow = world.store(), linear("A", "B")
    await seed(store, flow)
    lease = await lease_of(store, "A")
    await world.backend.command("JSON.SET", store.keys(RUN).meta, "$.states", "5")

    class Dying(Interleaved):
        async def meanwhile(self) -> None:
            raise Disconnected("died after condemn")

    with pytest.raises(Disconnected):
        await remove_broken(world.store(Dying(world.backend, "condemn")), RUN)
    assert await store.commit(lease, end(flow, lease, 1), commit_id="c1") == Refusal("cancelled")
    assert await store.remove(RUN) is None
    assert await left(world) == []


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("by", ["the same call", "a sweep"])
@pytest.mark.parametrize("name", ["no control", "a hash"])
async def test_wherever_the_remover_died_its_removal_is_continued(
    world: World, when: Literal["before", "after"], by: str, name: str
) -> None:
    fatal, broke = 0, True
    while broke:
        store, fatal = await broken_run(world, DAMAGES[name][0]), fatal + 1
        breaking = Breaking(world.backend, fatal, when)
        with suppress(Disconnected):
            await remove_broken(world.store(breaking), RUN)
        broke = breaking.broken
        begun = "condemn" in (breaking.names[:-1] if when == "before" else breaking.names)
        if by == "a sweep" and begun:
            await world.advance(60_000)
            for workflow_id in (await timers.sweep(store)).removing:
                assert (await store.run(workflow_id)).removing
                await store.remove(workflow_id)
        else:
            with suppress(UnknownRun):
                assert await remove_broken(store, RUN) or await store.remove(RUN) is None
        assert await left(world) == [], f"died {when} {breaking.names}"
    assert fatal > 5


async def test_no_list_and_no_age_finds_it(world: World, caplog: pytest.LogCaptureFixture) -> None:
    store = await broken_run(world, DAMAGES["a text for a time"][0])
    assert [page async for page in run_lists.ended_runs(store, 2**53, run_lists.STATUSES)] == [[]]
    await world.backend.command("JSON.SET", store.keys(RUN).meta, "$.finished_at", "5")
    await world.backend.command("JSON.SET", store.keys(RUN).meta, "$.states", "5")
    assert [page async for page in run_lists.ended_runs(store, 2**53, run_lists.STATUSES)] == [[]]
    assert f"(`dcf runs remove {RUN} --broken` removes it" in caplog.text
    assert await world.backend.command("ZRANGE", keys.DONE, 0, -1) == [RUN]
    assert await remove_broken(store, RUN)


class Interfering(Interleaved):
    """Something happens right after the run was condemned."""

    def __init__(self, world: World, happens: Callable[[Store], Awaitable[object]]) -> None:
        super().__init__(world.backend, "condemn")
        self._store, self._happens = world.store(), happens

    async def meanwhile(self) -> None:
        await self._happens(self._store)


@pytest.mark.parametrize("ended", [True, False])
async def test_a_run_that_got_the_id_meanwhile_is_left_alone(world: World, ended: bool) -> None:
    await broken_run(world)

    async def replaced(store: Store) -> None:
        # In the same millisecond.
        assert await store.remove(RUN) is None
        await seed(store, linear("A"))
        if ended:
            await run_to_end(world, linear("A"))
            await put_away(store)

    assert await remove_broken(world.store(Interfering(world, replaced)), RUN)
    run = await world.store().run(RUN)
    assert (run.status, run.removing) == ("succeeded" if ended else "running", False)


async def test_a_run_that_somebody_mended_once_it_was_condemned_is_not_told_as_removed(
    world: World,
) -> None:
    await broken_run(world)

    async def mended(store: Store) -> None:
        run, meta = await store.run(RUN), store.keys(RUN).meta
        ctl = {**run.raw["ctl"], "status": "running"}
        del ctl["removing"]
        await world.backend.command("JSON.SET", meta, "$.ctl", payload.to_text(ctl))

    assert not await remove_broken(world.store(Interfering(world, mended)), RUN)
    assert (await world.store().run(RUN)).status == "running"
    await world.backend.command("DEL", world.store().keys(RUN).meta)


class Restless(Breaking):
    """Somebody writes another broken document after each read."""

    async def command(self, *args: str | int) -> Any:
        answer = await super().command(*args)
        if args[0] == "JSON.GET":
            await self._inner.command("JSON.SET", args[1], "$.ctl", self.calls)
        return answer


async def test_what_never_holds_still_is_given_up(world: World) -> None:
    store = await broken_run(world)
    with pytest.raises(BrokenRun, match="others wrote to the document of run") as told:
        await remove_broken(world.store(Restless(world.backend, None)), RUN)
    assert told.value.hint.startswith(f"`dcf runs remove {RUN} --broken`")
    assert await remove_broken(store, RUN)


@pytest.mark.parametrize("name", ["paths", "blobs", "stage", "history", "chain", "due", "agents"])
async def test_a_key_of_another_type_goes_too(world: World, name: str) -> None:
    store = await broken_run(world)
    key = getattr(store.keys(RUN), name)
    await world.backend.command("DEL", key)
    await world.backend.command("SET", key, "x")
    assert await remove_broken(store, RUN)
    assert key not in await world.keys()
    with pytest.raises(UnknownRun):
        await store.run(RUN)


@pytest.mark.parametrize("value", ["7", "null", '"x"', "[1]", None])
async def test_a_run_that_does_not_know_what_was_said_is_broken(
    world: World, value: str | None
) -> None:
    store = await ended_run(world)
    meta = store.keys(RUN).meta
    await world.backend.command("JSON.DEL", meta, "$.ctl.said")
    if value is not None:
        await world.backend.command("JSON.SET", meta, "$.ctl.said", value)
    with pytest.raises(BrokenRun, match="said is none"):
        await store.run(RUN)
    assert await remove_broken(store, RUN)


@pytest.mark.parametrize("value", ["{}", "[]"])
async def test_nothing_said_is_an_empty_table(world: World, value: str) -> None:
    store = await ended_run(world)
    await world.backend.command("JSON.SET", store.keys(RUN).meta, "$.ctl.said", value)
    assert not await remove_broken(store, RUN)
    assert await store.remove(RUN) is None


_READ_WHAT_WAS_SAID = ["remove", "cancel", "redrive"]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        *[("no control", call) for call in [*_READ_WHAT_WAS_SAID, "move", "restore"]],
        *[("a hash", call) for call in [*_READ_WHAT_WAS_SAID, "move", "restore"]],
        *[("nothing said", call) for call in _READ_WHAT_WAS_SAID],
    ],
)
async def test_who_meets_a_broken_run_hears_what_to_do(world: World, name: str, call: str) -> None:
    store = await ended_run(world)
    export = await export_run(store, RUN)
    await DAMAGES[name][0](world, store.keys(RUN).meta)
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "remove": lambda: store.remove(RUN),
        "cancel": lambda: store.cancel(RUN, by="x"),
        "redrive": lambda: store.redrive(RUN, again=["M"], resume=[]),
        "move": lambda: store.move(RUN, "other", turn=1, by="x"),
        "restore": lambda: restore_run(store, export),
    }
    with pytest.raises(BrokenRun) as told:
        await calls[call]()
    assert told.value.hint.startswith(f"`dcf runs remove {RUN} --broken`")
    assert await remove_broken(store, RUN)
