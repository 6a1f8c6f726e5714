"""Logged items that are copied from each lasting backend to each other one: nothing is lost,
doubled or brought back, whenever it ends and whoever uses both places meanwhile."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from itertools import count, pairwise
from pathlib import Path

import pytest
from campaigns import REMEMBERED, settled
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_world import Ticking
from postgres_world import PostgresServer
from public_formats import examples
from unit.retrieval.conftest import LASTING

from dcf.memory import random_id
from dcf.retrieval import (
    Item,
    LastingItems,
    Migrated,
    NewItem,
    PostgresItems,
    UnnamedProjects,
    migrate,
)

pytestmark = settled(*REMEMBERED)

SHOP, SITE = "/work/shop", "/work/site"
NAMES = ("sqlite", "file", "postgres")
PAIRS = [(source, target) for source in NAMES for target in NAMES]
RING = [("sqlite", "file"), ("file", "postgres"), ("postgres", "sqlite")]

Opened = Callable[[], AbstractAsyncContextManager[LastingItems]]
Place = Callable[[str], Opened]


@pytest.fixture
def place(tmp_path: Path, postgres_server: PostgresServer) -> Place:
    """A new, empty place of a backend, which can be opened again and again."""
    numbers = count(1)

    def made(name: str) -> Opened:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        url = postgres_server.empty_schema() if name == "postgres" else ""

        @asynccontextmanager
        async def opened() -> AsyncIterator[LastingItems]:
            if url:
                async with PostgresItems.open(url, Ticking(), random_id) as items:
                    yield items
                return
            async with LASTING[name](folder, Ticking()) as items:
                yield items  # type: ignore[misc]

        return opened

    return made


def item(number: int, text: str = "", **more: object) -> Item:
    stamp = 1_700_000_000_000 + number * 3_600_000
    fields = {"tags": ("error",), "source": "pytest", "file_path": f"src/{number}.ts", **more}
    return Item(f"passage-{number}", text or f"parser {number}", timestamp=stamp, **fields)  # type: ignore[arg-type]


async def all_of(items: LastingItems, project: str = SHOP) -> list[Item]:
    found = [one async for some in items.all(project) for one in some]
    return sorted(found, key=lambda one: (one.timestamp, one.id))


def counts(done: Sequence[Migrated]) -> list[tuple[str, int, int, int, int]]:
    return [(one.project, one.copied, one.there, one.forgotten, one.given_up) for one in done]


@pytest.mark.parametrize(("source", "target"), PAIRS)
async def test_all_is_copied_once_and_found_there(place: Place, source: str, target: str) -> None:
    shop = [item(1), item(2, tags=(), source=None, file_path=None), item(3, "Größe\n\U0001f600")]
    async with place(source)() as old, place(target)() as new:
        await old.keep(SHOP, shop)
        logged = await old.remember(SITE, NewItem("gardener", ("b", "a"), "ci", "a.ts"))
        mine = await new.remember(SHOP, NewItem("of the target"))
        assert counts(await migrate(old, new)) == [(SHOP, 3, 0, 0, 0), (SITE, 1, 0, 0, 0)]
        assert await all_of(new) == sorted([mine, *shop], key=lambda one: one.timestamp)
        assert await all_of(new, SITE) == [logged]
        (first, *_) = await new.recall(SHOP, "what of the parser?", file_path="src/1.ts")
        assert first.item == shop[0]
        # The newest first, whichever was kept first.
        assert [one.item.id for one in await new.recall(SHOP, "")] == [
            one.id for one in reversed(await all_of(new))
        ]
        assert counts(await migrate(old, new)) == [(SHOP, 0, 3, 0, 0), (SITE, 0, 1, 0, 0)]
        assert (await all_of(old), await all_of(old, SITE)) == (shop, [logged])
        assert counts(await migrate(new, old)) == [(SHOP, 1, 3, 0, 0), (SITE, 0, 1, 0, 0)]


@pytest.mark.parametrize(("source", "target"), PAIRS)
async def test_what_was_forgotten_in_one_place_is_not_brought_back(
    place: Place, source: str, target: str
) -> None:
    async with place(source)() as old, place(target)() as new:
        await old.keep(SHOP, [item(number) for number in range(5)])
        await old.forget(SHOP, "passage-0")
        assert counts(await migrate(old, new)) == [(SHOP, 4, 0, 0, 0)]
        await old.forget(SHOP, "passage-1")
        await new.forget(SHOP, "passage-2")
        for places in (old, new):
            await places.sweep(SHOP)
        assert counts(await migrate(old, new)) == [(SHOP, 0, 2, 1, 1)]
        assert counts(await migrate(old, new)) == [(SHOP, 0, 2, 1, 0)]
        assert await all_of(new) == [item(3), item(4)]
        assert counts(await migrate(new, old)) == [(SHOP, 0, 2, 0, 1)]
        assert await all_of(old) == [item(3), item(4)]


@pytest.mark.parametrize(("source", "target"), RING)
async def test_the_last_item_of_a_project_is_forgotten_at_the_target_too(
    place: Place, source: str, target: str
) -> None:
    async with place(source)() as old, place(target)() as new:
        await old.keep(SHOP, [item(1)])
        await migrate(old, new)
        await old.forget(SHOP, "passage-1")
        assert counts(await migrate(old, new)) == [(SHOP, 0, 0, 0, 1)]
        assert await all_of(new) == []


@pytest.mark.parametrize(("source", "target"), RING)
async def test_another_item_of_the_same_id_is_named_and_stays(
    place: Place, source: str, target: str
) -> None:
    async with place(source)() as old, place(target)() as new:
        await old.keep(SHOP, [item(1), item(2), item(3)])
        await new.keep(SHOP, [item(1, "something else"), item(2, source="jest")])
        (done,) = await migrate(old, new)
        assert (done.copied, done.differing) == (1, ["passage-1", "passage-2"])
        kept = await all_of(new)
        assert kept == [item(1, "something else"), item(2, source="jest"), item(3)]


@pytest.mark.parametrize("target", ["sqlite", "postgres"])
async def test_an_id_of_another_project_is_named(place: Place, target: str) -> None:
    async with place("file")() as old, place(target)() as new:
        await old.keep(SHOP, [item(1)])
        await new.keep(SITE, [item(1)])
        (done,) = await migrate(old, new)
        assert done.differing == ["passage-1"] and await all_of(new) == []


async def test_what_no_backend_keeps_is_named_with_the_reason(place: Place, tmp_path: Path) -> None:
    async with place("file")() as old, place("sqlite")() as new:
        await old.keep(SHOP, [item(1)])
        (file,) = tmp_path.rglob("items-*.jsonl")
        line = json.loads(file.read_text())
        faults = {
            "a": {"text": "a\0b"},
            "b": {"text": "\ud800"},
            "c": {"tags": [" "]},
            "d": {"timestamp": 10**30},
            "e\0": {},
        }
        lines = [json.dumps({**line, **fault, "id": name}) for name, fault in faults.items()]
        file.write_text("\n".join([json.dumps(line), *lines, ""]))
        (done,) = await migrate(old, new)
        assert (done.copied, await all_of(new)) == (1, [item(1)])
        assert done.refused == {
            "a": "text has a NUL",
            "b": "text has half of a surrogate pair, which UTF-8 cannot write",
            "c": "tags[0] is empty",
            "d": f"its timestamp {10**30} is not in the years 1 to 9999",
            "e\0": "id has a NUL",
        }


@pytest.mark.parametrize("target", NAMES)
async def test_a_secret_that_somebody_wrote_is_not_copied(
    place: Place, tmp_path: Path, target: str
) -> None:
    async with place("file")() as old, place(target)() as new:
        await old.keep(SHOP, [item(1, f"it is {SECRET} now")])
        (done,) = await migrate(old, new)
        kept = [item(1, "it is [redacted: github token] now")]
        assert (done.copied, await all_of(new)) == (1, kept)
        assert counts(await migrate(old, new)) == [(SHOP, 0, 1, 0, 0)]


async def test_a_folder_that_does_not_say_whose_it_is_needs_its_project(
    place: Place, tmp_path: Path
) -> None:
    async with place("file")() as old, place("sqlite")() as new:
        await old.keep(SHOP, [item(1)])
        for file in tmp_path.rglob("project"):
            file.unlink()
        with pytest.raises(UnnamedProjects, match="artifacts-"):
            await migrate(old, new, [SITE])
        assert counts(await migrate(old, new, [SITE, SHOP])) == [(SHOP, 1, 0, 0, 0)]


SECRET = next(one.text for one in examples(3) if one.maker == "GitHub")
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
    st.sampled_from([f"it is {SECRET}", 'password = "hunter22hunter"', "{}", "[1", "\u2028\r\n"]),
).filter(str.strip)
NEW = st.builds(
    NewItem,
    TEXTS,
    st.lists(TEXTS.filter(lambda tag: not tag.startswith("dcf:")), max_size=3).map(tuple),
    st.none() | TEXTS,
    st.none() | TEXTS,
)
LOGGED = st.lists(st.tuples(st.sampled_from([SHOP, SITE]), NEW), max_size=8)


# Its places are new ones each time.
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(logged=LOGGED)
def test_whatever_can_be_logged_goes_all_the_way_round(
    logged: list[tuple[str, NewItem]], place: Place
) -> None:
    async def round_trip() -> None:
        async with AsyncExitStack() as stack:
            names = ("file", "sqlite", "postgres", "file")
            places = [await stack.enter_async_context(place(name)()) for name in names]
            for project, new in logged:
                await places[0].remember(project, new)
            wanted = [await all_of(places[0], project) for project in (SHOP, SITE)]
            for old, new_place in pairwise(places):
                done = await migrate(old, new_place)
                assert sum(one.copied for one in done) == len(logged)
                assert not any(one.refused or one.differing for one in done)
            assert [await all_of(places[-1], project) for project in (SHOP, SITE)] == wanted

    asyncio.run(round_trip())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("source", "target"), RING)
def test_who_is_killed_is_gone_on_with(
    place: Place, monkeypatch: pytest.MonkeyPatch, source: str, target: str, seed: int
) -> None:
    kept = [item(number) for number in range(120)]
    few = "dcf.retrieval.{}.BATCH"
    for module in ("file_items", "sqlite_backend", "postgres_items"):
        monkeypatch.setattr(few.format(module), 10)
    old, new = place(source), place(target)
    chance = random.Random(seed)

    async def fill() -> None:
        async with old() as items, new():
            await items.keep(SHOP, kept)

    async def run(tell: Callable[[str], object]) -> tuple[Migrated, list[Item]]:
        async with old() as items, new() as others:
            (done,) = await migrate(items, others, tell=tell)
            return done, await all_of(others)

    asyncio.run(fill())
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(run(lambda _: os.write(writing, b".")))
        finally:
            os._exit(1)
    os.close(writing)
    told = b""
    while len(told) < seed * 4 + 1:
        told += os.read(reading, 1)
    time.sleep(chance.random() / 100)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as rest:
        told += rest.read()
    done, there = asyncio.run(run(lambda _: None))
    assert there == kept
    assert done.copied + done.there == len(kept)
    # What was told is there; of the next ten some may be.
    assert 10 * len(told) <= done.there <= 10 * (len(told) + 1)


@pytest.mark.parametrize(("source", "target"), RING)
async def test_two_at_once_copy_each_item_once(place: Place, source: str, target: str) -> None:
    kept = [item(number) for number in range(1_200)]
    old, new = place(source), place(target)
    async with old() as one, new() as here, old() as other, new() as there:
        await one.keep(SHOP, kept)
        both = await asyncio.gather(migrate(one, here), migrate(other, there))
        assert await all_of(here) == kept
    assert sum(done.copied for (done,) in both) == len(kept)
    assert sum(done.there for (done,) in both) == len(kept)


@pytest.mark.parametrize(("source", "target"), RING)
async def test_who_logs_and_forgets_meanwhile_is_caught_up_with(
    place: Place, source: str, target: str
) -> None:
    async with place(source)() as old, place(target)() as new:
        await old.keep(SHOP, [item(number) for number in range(1_200)])

        async def work() -> None:
            for number in range(0, 60, 2):
                await old.remember(SHOP, NewItem(f"meanwhile {number}"))
                await old.forget(SHOP, f"passage-{number * 20}")
                await new.remember(SHOP, NewItem(f"at the target {number}"))

        await asyncio.gather(migrate(old, new), work())
        (done,) = await migrate(old, new)
        assert not done.differing and done.copied + done.there == 1_200
        others = [one for one in await all_of(new) if not one.text.startswith("at the target")]
        assert others == await all_of(old)


@pytest.mark.parametrize(("source", "target"), RING)
async def test_a_text_that_marks_of_secrets_made_longer_than_a_new_one_may_be_is_copied(
    place: Place, source: str, target: str
) -> None:
    """What may be logged has a bound; a mark is longer than many a secret that it stands for."""
    secrets = "token=aB3dE5fG7h& " * 50_000
    here, there = place(source), place(target)
    async with here() as items:
        kept = await items.remember(SHOP, NewItem(secrets))
    assert len(secrets) < 1_000_000 < len(kept.text)
    async with here() as items, there() as copies:
        assert [one.text for one in await all_of(items)] == [kept.text]
        await migrate(items, copies)
        assert [one.text for one in await all_of(copies)] == [kept.text]
    async with there() as copies:
        assert [one.text for one in await all_of(copies)] == [kept.text]
