"""What every backend of logged items promises: one suite over all of them."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking
from public_formats import examples
from unit.retrieval.conftest import DAY_MS, LASTING

from dcf.memory import SYSTEM, Memory, Source, Subject
from dcf.retrieval import (
    FileItems,
    InvalidItem,
    Item,
    Items,
    LastingItems,
    NewItem,
    PostgresItems,
    SqliteItems,
    UnknownItem,
)

SHOP, SITE = "/work/shop", "/work/site"


async def texts(items: Items, query: str, project: str = SHOP, **more: object) -> list[str]:
    return [one.item.text for one in await items.recall(project, query, **more)]  # type: ignore[arg-type]


async def test_an_item_comes_back_as_it_was_kept(items: Items) -> None:
    new = NewItem("the parser fails", ("runlog", "error", "error"), "pytest", "src/load.ts")
    kept = await items.remember(SHOP, new)
    assert (kept.text, kept.tags) == (new.text, ("error", "runlog"))
    assert (kept.source, kept.file_path) == ("pytest", "src/load.ts")
    assert kept.timestamp > 1_700_000_000_000
    (found,) = await items.recall(SHOP, "why does a parser fail?")
    assert found.item == kept
    bare = await items.remember(SITE, NewItem("no more than this"))
    assert (bare.tags, bare.source, bare.file_path) == ((), None, None)


async def test_the_best_come_first_and_without_words_the_newest(items: Items) -> None:
    for text in ("parser one", "the parser of headers", "a gardener", "headers of the parser fail"):
        await items.remember(SHOP, NewItem(text))
    found = await texts(items, "parser headers fail")
    assert found[0] == "headers of the parser fail" and found[-1] == "parser one"
    assert "a gardener" not in found
    assert await texts(items, "parser headers fail", limit=1) == found[:1]
    newest = ["headers of the parser fail", "a gardener"]
    assert await texts(items, "?!", limit=2) == await texts(items, "", limit=2) == newest


async def test_words_are_found_in_other_forms(items: Items) -> None:
    await items.remember(SHOP, NewItem("json loader failed while it was parsing numbers"))
    assert await texts(items, "parsed number fails") != []


async def test_a_part_of_a_name_finds_it_in_a_long_text(items: Items) -> None:
    log = "\n".join(f"[{line:02}] step {line} of the build is done" for line in range(40))
    await items.remember(
        SHOP, NewItem(f"{log}\nConnectionResetError raised by fetchInvoice\n{log}")
    )
    await items.remember(SHOP, NewItem("the reset cafe opens at nine"))
    assert len(await texts(items, "invoice")) == 1
    assert any("fetchInvoice" in one for one in await texts(items, "connection reset"))


async def test_a_file_filters(items: Items) -> None:
    await items.remember(SHOP, NewItem("parser a", file_path="src/a.ts"))
    await items.remember(SHOP, NewItem("parser b", file_path="src/b.ts"))
    await items.remember(SHOP, NewItem("parser of none"))
    assert await texts(items, "parser", file_path="src/a.ts") == ["parser a"]
    assert await texts(items, "", file_path="src/b.ts") == ["parser b"]
    assert await texts(items, "parser", file_path="a.ts") == []


async def test_no_project_sees_what_another_has(items: Items) -> None:
    kept = await items.remember(SHOP, NewItem("the parser of the shop"))
    assert await texts(items, "parser", SITE) == await texts(items, "", SITE) == []
    with pytest.raises(UnknownItem):
        await items.forget(SITE, kept.id)
    assert await texts(items, "parser") == [kept.text]


async def test_what_is_forgotten_is_gone(items: Items) -> None:
    kept = await items.remember(SHOP, NewItem("the parser"))
    await items.forget(SHOP, kept.id)
    assert await texts(items, "parser") == await texts(items, "") == []
    for unknown in (kept.id, "nobody's"):
        with pytest.raises(UnknownItem):
            await items.forget(SHOP, unknown)


async def test_an_item_is_shown_by_its_id_whichever_projects_it_is(items: Items) -> None:
    new = NewItem("the parser of the site", ("error",), "pytest", "src/load.ts")
    await items.remember(SHOP, NewItem("the parser of the shop"))
    kept = await items.remember(SITE, new)
    assert await items.get(kept.id) == kept
    await items.forget(SITE, kept.id)
    for unknown in (kept.id, "nobody's"):
        with pytest.raises(UnknownItem):
            await items.get(unknown)


async def test_the_first_of_its_tags_ends_an_item(items: Items, clock: Ticking) -> None:
    for tags in (("runlog",), ("incident",), ("incident", "runlog"), ("decision",)):
        await items.remember(SHOP, NewItem(f"parser {' '.join(tags)}", tags))
    clock.now += 2 * DAY_MS
    left = {"parser incident", "parser decision"}
    assert set(await texts(items, "parser")) == set(await texts(items, "")) == left
    assert await items.sweep(SHOP) == 2
    assert await items.sweep(SHOP) == await items.sweep("/work/nothing") == 0
    clock.now += 6 * DAY_MS
    assert await texts(items, "parser") == ["parser decision"]
    assert await items.sweep(SHOP) == 1


async def test_however_many_are_over_those_that_are_not_are_found(
    items: Items, clock: Ticking
) -> None:
    """Behind those that are over, by every order: they say the words more often, and are newer."""
    for tags in (("law",), ("law", "decision")):
        await items.remember(SHOP, NewItem(f"one parser {len(tags)}", tags, file_path="a.ts"))
    clock.now += 31 * DAY_MS - 1_000
    for number in range(21):
        tags = ("runlog", "decision") if number % 2 else ("runlog", "law")
        await items.remember(SHOP, NewItem(f"parser parser {number}", tags, file_path="a.ts"))
    clock.now += DAY_MS
    left = {"one parser 1", "one parser 2"}
    for query in ("parser", ""):
        for file_path in (None, "a.ts"):
            assert set(await texts(items, query, file_path=file_path, limit=10)) == left
    assert len(await texts(items, "parser", limit=1)) == 1


async def test_what_is_over_was_not_forgotten(lasting_items: LastingItems, clock: Ticking) -> None:
    """So that a migration neither gives it up at the target nor refuses it there."""
    items = lasting_items
    over = await items.remember(SHOP, NewItem("parser a", ("runlog",)))
    gone = await items.remember(SHOP, NewItem("parser b", ("runlog",)))
    await items.forget(SHOP, gone.id)
    clock.now += 2 * DAY_MS
    assert await items.sweep(SHOP) == 1
    assert [*await items.forgotten(SHOP)] == [gone.id]
    assert await items.keep(SHOP, [over, gone]) == ["copied", "forgotten"]
    await items.forget(SHOP, over.id)
    assert sorted(await items.forgotten(SHOP)) == sorted([over.id, gone.id])
    assert await items.keep(SHOP, [over]) == ["forgotten"]


async def test_what_has_none_of_these_tags_ends_with_the_others(
    items: Items, clock: Ticking
) -> None:
    for tags in ((), ("decision",), ("law",), ("law", "decision"), ("law", "incident")):
        await items.remember(SHOP, NewItem(f"parser {' '.join(tags)}", tags))
    clock.now += 29 * DAY_MS
    assert await items.sweep(SHOP) == 1
    clock.now += 2 * DAY_MS
    left = {"parser law", "parser law decision"}
    assert set(await texts(items, "parser")) == set(await texts(items, "")) == left
    assert (await items.sweep(SHOP), await items.sweep(SHOP)) == (2, 0)
    clock.now += 335 * DAY_MS
    assert await texts(items, "parser") == []
    assert await items.sweep(SHOP) == 2


async def test_many_at_once_lose_nothing(items: Items) -> None:
    async def log(number: int) -> Item:
        return await items.remember((SHOP, SITE)[number % 2], NewItem(f"parser {number}"))

    kept = await asyncio.gather(*map(log, range(60)))
    assert len({one.id for one in kept}) == 60
    for rest, project in enumerate((SHOP, SITE)):
        wanted = {f"parser {number}" for number in range(60) if number % 2 == rest}
        assert set(await texts(items, "parser", project, limit=60)) == wanted


async def test_no_secret_is_kept(items: Items, tmp_path: Path) -> None:
    one = next(each for each in examples(26) if each.maker == "GitHub")
    kept = await items.remember(
        SHOP, NewItem(f"it is {one.text} now", (f"t {one.text}",), one.text, f"a/{one.text}.ts")
    )
    assert kept.text == "it is [redacted: github token] now"
    assert one.drawn not in repr(kept)
    assert one.drawn not in repr(await items.recall(SHOP, ""))
    files = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert all(one.drawn.encode() not in each.read_bytes() for each in files)


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (NewItem(" "), "text required"),
        (NewItem("a\0b"), "text has a NUL"),
        (NewItem("\ud800"), "half of a surrogate pair"),
        (NewItem("x" * 1_000_001), "1,000,001 characters, above 1,000,000"),
        (NewItem("x", tags=("a", "")), r"tags\[1\] is empty"),
        (NewItem("x", tags=("dcf:file=a",)), "begins with 'dcf:'"),
        (NewItem("x", tags=("a",) * 51), "51 tags, above 50"),
        (NewItem("x", file_path="\0"), "filePath has a NUL"),
    ],
)
async def test_what_cannot_be_kept_is_refused_with_the_reason(
    items: Items, new: NewItem, said: str
) -> None:
    with pytest.raises(InvalidItem, match=said):
        await items.remember(SHOP, new)
    assert await texts(items, "") == []


async def test_what_comes_at_once_is_committed_together(file: Path) -> None:
    source = Source(file)
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        items = SqliteItems(memory, SYSTEM)
        await items.remember(SHOP, NewItem("the first makes the archive"))
        commits: list[str] = []
        await memory.ledger.database.write(
            lambda connection: connection.set_trace_callback(  # type: ignore[attr-defined]
                lambda sql: commits.append(sql) if sql == "COMMIT" else None
            )
        )
        commits.clear()
        await asyncio.gather(*(items.remember(SHOP, NewItem(f"item {n}")) for n in range(50)))
        assert len(commits) == 1


@pytest.mark.parametrize("backend", LASTING)
async def test_each_process_sees_what_others_log_and_forget(
    backend: str, tmp_path: Path, clock: Ticking
) -> None:
    opened = LASTING[backend]
    async with opened(tmp_path, clock) as one, opened(tmp_path, clock) as other:
        await one.remember(SHOP, NewItem("parser of one"))
        assert await texts(other, "parser") == ["parser of one"]
        kept = await other.remember(SHOP, NewItem("parser of the other"))
        assert await texts(one, "") == ["parser of the other", "parser of one"]
        await one.forget(SHOP, kept.id)
        with pytest.raises(UnknownItem):
            await other.forget(SHOP, kept.id)
        logged = [NewItem(f"gardener {number}") for number in range(20)]
        both = zip((one, other) * 10, logged, strict=True)
        await asyncio.gather(*(each.remember(SHOP, new) for each, new in both))
        for each in (one, other):
            assert set(await texts(each, "gardener", limit=50)) == {new.text for new in logged}
            assert await texts(each, "parser") == ["parser of one"]


@pytest.mark.parametrize("backend", LASTING)
def test_what_was_logged_survives_a_kill(backend: str, tmp_path: Path) -> None:
    """Of what is to last. Four log at once, each the next when it is answered."""
    reading, writing = os.pipe()

    async def log_for_ever() -> None:
        async with LASTING[backend](tmp_path, Ticking()) as items:

            async def log() -> None:
                while True:
                    kept = await items.remember(SHOP, NewItem("parser", file_path="a.ts"))
                    os.write(writing, f"{kept.id}\n".encode())

            await asyncio.gather(*(log() for _ in range(4)))

    async def read() -> list[str]:
        async with LASTING[backend](tmp_path, Ticking()) as items:
            found = await items.recall(SHOP, "", file_path="a.ts", limit=1_000)
            return [one.item.id for one in found]

    child = os.fork()
    if child == 0:
        try:
            asyncio.run(log_for_ever())
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as told:
        acknowledged = [told.readline().strip() for _ in range(20)]
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        acknowledged += [line.strip() for line in told if line.endswith("\n")]
    kept = asyncio.run(read())
    # The last of each may have been kept without a word of it.
    assert set(kept) >= set(acknowledged) and "" not in acknowledged
    assert len(kept) <= len(acknowledged) + 4


async def test_what_names_a_subject_is_given_up_to_the_last_byte(
    items: Items, tmp_path: Path
) -> None:
    if not isinstance(items, FileItems | PostgresItems):
        pytest.skip("what is in the memory, the memory forgets")
    is_named = Subject.of("Ann Miller").is_named_in
    for project in (SHOP, SITE):
        await items.remember(project, NewItem("the parser fails"))
        await items.remember(project, NewItem("Ann\nMiller broke the parser"))
    await items.remember(SHOP, NewItem("so it is", tags=("ann miller",), source="Ann Miller"))
    gone = await items.remember(SHOP, NewItem("Ann Miller was here"))
    await items.forget(SHOP, gone.id)
    found = await items.named(is_named)
    assert [one.text for one in found if one.text != "so it is"] == [
        "Ann\nMiller broke the parser"
    ] * 2
    await items.purge(is_named)
    await items.purge(is_named)
    assert await items.named(is_named) == ()
    assert (
        await texts(items, "parser") == await texts(items, "parser", SITE) == ["the parser fails"]
    )
    kept = b"".join(one.read_bytes() for one in tmp_path.rglob("*") if one.is_file())
    assert b"iller" not in kept
