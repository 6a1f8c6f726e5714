"""What logged items in PostgreSQL promise besides: processes and servers that are killed, meanings,
and who hears of a password."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest
from memory_world import Numbered, Ticking
from postgres_world import PostgresServer
from public_formats import examples

from dcf.cli.memory.forget_stores import open_stores
from dcf.cli.retrieval.opening import open_retrieval
from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.documents import ReadDocument, ReadPiece
from dcf.memory import SYSTEM, FileState, Subject, random_id
from dcf.retrieval import (
    ContextQuestion,
    DriverMissing,
    Item,
    NewItem,
    PostgresDocuments,
    PostgresItems,
    Projects,
    Retrieval,
    StoreTooNew,
    StoreUnreachable,
    fault_of_url,
)
from dcf.retrieval.serving import AccessLimits, create_app
from dcf.search import embedder_named
from dcf.tools.serving import Guard

SHOP, SITE = "/work/shop", "/work/site"
# Nobody listens there.
AWAY = "postgresql://ada:open%20sesame@127.0.0.1:1/shop"


async def rows_of(database: str, sql: str) -> list[Any]:
    connection = await asyncpg.connect(database)
    try:
        return [*await connection.fetch(sql)]
    finally:
        await connection.close()


def forked(work: Callable[[], Coroutine[Any, Any, None]]) -> int:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            asyncio.run(work())
            status = 0
        finally:
            os._exit(status)
    return child


async def test_meanings_find_what_no_word_says(database: str) -> None:
    async with PostgresItems.open(database, Ticking(), Numbered()) as items:
        await items.remember(SHOP, NewItem("eagles, owls and sparrows fly"))
        await items.remember(SHOP, NewItem("sockets are closed"))
        await items.remember(SITE, NewItem("another canary"))
        assert await items.recall(SHOP, "birds") == ()
    embedder = embedder_named("wordllama")
    async with PostgresItems.open(database, Ticking(), Numbered(), None, embedder) as items:
        # Those of before have no meaning yet: what is asked first gives it to them.
        first, *_ = await items.recall(SHOP, "birds")
        assert first.item.text == "eagles, owls and sparrows fly" and first.likeness is not None
        assert first.why == f"meaning {first.likeness:.2f}"
        found = {one.item.text: one.why for one in await items.recall(SHOP, "birds, sockets")}
        assert found["sockets are closed"].startswith("words, meaning 0.")
        assert found["eagles, owls and sparrows fly"].startswith("meaning 0.")


async def test_a_service_gives_new_items_their_meaning_behind_the_answers(database: str) -> None:
    embedder, counted = embedder_named("wordllama"), "SELECT count(*) FROM dcf_item_vectors"
    async with PostgresItems.open(database, Ticking(), random_id, None, embedder) as items:
        await items.remember(SHOP, NewItem("before"))
        keeping_up = asyncio.create_task(items.keep_up())
        async with asyncio.timeout(20):
            for texts in (1, 2):
                while (await rows_of(database, counted))[0]["count"] < texts:
                    await asyncio.sleep(0.01)
                kept = await items.remember(SHOP, NewItem("after"))
        keeping_up.cancel()
        await items.forget(SHOP, kept.id)
        assert (await rows_of(database, counted))[0]["count"] == 2


async def test_where_pgvector_may_not_be_made_words_decide_and_it_is_said(
    postgres_server: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    admin = await asyncpg.connect(postgres_server.url())
    await admin.execute("CREATE DATABASE bare TEMPLATE template0")
    await admin.execute("CREATE ROLE plain LOGIN")
    await admin.close()
    bare = postgres_server.url().replace("/postgres?", "/bare?")
    await rows_of(bare, "CREATE SCHEMA plain AUTHORIZATION plain")
    embedder = embedder_named("wordllama")
    url = bare.replace("//dcf@", "//plain@")
    async with PostgresItems.open(url, Ticking(), Numbered(), None, embedder) as items:
        await items.remember(SHOP, NewItem("the canary sings"))
        assert [one.why for one in await items.recall(SHOP, "canary")] == ["words"]
        await asyncio.wait_for(items.keep_up(), 1)
    (said,) = [one.getMessage() for one in caplog.records]
    assert "words alone decide" in said and "permission denied" in said and "CREATE EXT" in said


async def test_names_of_programs_are_found_by_their_parts(database: str) -> None:
    async with PostgresItems.open(database, Ticking(), Numbered()) as items:
        await items.remember(SHOP, NewItem("at JsonDataLoader.parse_header (src/load.ts:7)"))
        await items.remember(SHOP, NewItem("東京都で失敗"))
        for query in ("data loaders", "JsonDataLoader", "parsed headers", "load.ts", "東京"):
            assert len(await items.recall(SHOP, query)) == 1, query
        for query in ("osaka", "' | x", ":*", "!json & <-> \\"):
            await items.recall(SHOP, query)


async def test_the_longest_text_is_kept_and_found(database: str) -> None:
    """A million characters, each word another one: more than one tsvector holds."""
    text = " ".join(f"{number:x}q" for number in range(4_096, 400_000))[:1_000_000]
    async with PostgresItems.open(database, Ticking(), Numbered()) as items:
        for one in (text, "x" * 1_000_000):
            kept = await items.remember(SHOP, NewItem(one))
            (found,) = await items.recall(SHOP, one[:600])
            assert found.item == kept


async def test_no_secret_reaches_the_database(database: str) -> None:
    one = next(each for each in examples(26) if each.maker == "GitHub")
    async with PostgresItems.open(database, Ticking(), Numbered()) as items:
        await items.remember(SHOP, NewItem(one.text, (one.text,), one.text, one.text))
    (row,) = await rows_of(database, "SELECT dcf_items::text AS everything FROM dcf_items")
    assert "redacted" in row["everything"] and one.drawn.lower() not in row["everything"].lower()


async def test_what_comes_at_once_is_committed_together(database: str) -> None:
    async with PostgresItems.open(database, Ticking(), Numbered()) as items:
        await asyncio.gather(*(items.remember(SHOP, NewItem(f"item {n}")) for n in range(50)))
    (row,) = await rows_of(
        database, "SELECT count(DISTINCT xmin::text), count(*) AS all FROM dcf_items"
    )
    assert row["all"] == 50 and row["count"] < 15


def test_processes_that_start_at_once_make_one_set_of_tables(database: str) -> None:
    reading, writing = os.pipe()

    async def begin() -> None:
        os.read(reading, 1)
        async with PostgresItems.open(database, Ticking(), random_id) as items:
            await items.remember(SHOP, NewItem("parser"))

    children = [forked(begin) for _ in range(4)]
    os.write(writing, b"1234")
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    (row,) = asyncio.run(rows_of(database, "SELECT count(*) FROM dcf_items"))
    assert row["count"] == 4


def test_what_was_logged_survives_a_kill_of_the_service(database: str) -> None:
    """Four log at once, each the next when it is answered."""
    reading, writing = os.pipe()

    async def log_for_ever() -> None:
        async with PostgresItems.open(database, Ticking(), random_id) as items:

            async def log() -> None:
                while True:
                    kept = await items.remember(SHOP, NewItem("parser"))
                    os.write(writing, f"{kept.id}\n".encode())

            await asyncio.gather(*(log() for _ in range(4)))

    child = forked(log_for_ever)
    os.close(writing)
    with os.fdopen(reading) as told:
        acknowledged = [told.readline().strip() for _ in range(50)]
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        acknowledged += [line.strip() for line in told if line.endswith("\n")]
    kept = {row["id"] for row in asyncio.run(rows_of(database, "SELECT id FROM dcf_items"))}
    # The last of each may have been kept without a word of it.
    assert kept >= set(acknowledged) and "" not in acknowledged
    assert len(kept) <= len(acknowledged) + 4


async def test_what_was_logged_survives_a_kill_of_the_server(
    database: str, postgres_server: PostgresServer
) -> None:
    """Although the server does not wait for its disk by itself."""
    acknowledged: list[Item] = []

    async def log() -> None:
        while True:
            acknowledged.append(await items.remember(SHOP, NewItem("parser")))

    url = f"{database}&synchronous_commit=off"
    async with PostgresItems.open(url, Ticking(), random_id) as items:
        loggers = [asyncio.create_task(log()) for _ in range(4)]
        while len(acknowledged) < 50:
            await asyncio.sleep(0.001)
        postgres_server.stop(signal.SIGKILL)
        told = await asyncio.gather(*loggers, return_exceptions=True)
        assert {type(one) for one in told} == {StoreUnreachable}
        with pytest.raises(StoreUnreachable):
            await items.recall(SHOP, "parser")
        postgres_server.start()
        found = {one.item for one in await items.recall(SHOP, "", limit=1_000)}
    assert found >= set(acknowledged)
    assert len(found) <= len(acknowledged) + 4


async def test_a_server_that_is_away_is_a_503_until_it_is_back(
    database: str, postgres_server: PostgresServer
) -> None:
    async with PostgresItems.open(database, Ticking(), random_id) as items:
        retrieval = Retrieval(items, None, Ticking())
        app = create_app(retrieval, Projects((SHOP,)), Guard(), AccessLimits(), backend="postgres")
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:

            async def statuses() -> list[int]:
                return [
                    (await client.post("/log", json={"text": "parser"})).status_code,
                    (await client.post("/augmented-context", json={"query": "x"})).status_code,
                    (await client.get("/healthz")).status_code,
                ]

            assert await statuses() == [200] * 3
            postgres_server.stop()
            assert await statuses() == [503] * 3
            refused = (await client.post("/log", json={"text": "parser"})).json()
            assert "cannot be reached" in refused["error"] and "DATABASE_URL" in refused["hint"]
            postgres_server.start()
            assert await statuses() == [200] * 3
            kept = await items.recall(SHOP, "parser")
            assert len(kept) == 2


def test_no_server_stays_when_the_process_of_the_tests_is_killed(
    postgres_server: PostgresServer,
) -> None:
    postgres_server.stop()
    reading, writing = os.pipe()

    async def serve() -> None:
        postgres_server.start()
        os.write(writing, b"1")
        await asyncio.sleep(600)

    child = forked(serve)
    try:
        os.read(reading, 1)
        assert asyncio.run(rows_of(postgres_server.url(), "SELECT 1"))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        end = time.monotonic() + 20
        while time.monotonic() < end and postgres_server.note.exists():
            time.sleep(0.01)
        assert not postgres_server.note.exists()
    finally:
        postgres_server.start()


async def test_tables_of_a_newer_version_are_left_alone(database: str) -> None:
    async with PostgresItems.open(database, Ticking(), Numbered()):
        await rows_of(database, "UPDATE dcf_items_version SET version = 3")
    with pytest.raises(StoreTooNew, match="version 3"):
        async with PostgresItems.open(database, Ticking(), Numbered()):
            pass


async def test_a_missing_driver_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(DriverMissing, match="asyncpg") as missing:
        async with PostgresItems.open(AWAY, Ticking(), Numbered()):
            pass
    assert "postgres" in missing.value.hint


async def test_nobody_hears_of_the_password() -> None:
    with pytest.raises(StoreUnreachable) as away:
        async with PostgresItems.open(AWAY, Ticking(), Numbered()):
            pass
    assert "127.0.0.1:1/shop cannot be reached" in str(away.value)
    setting = RetrievalSetting.from_env({"MEM_BACKEND": "postgres", "DATABASE_URL": AWAY})
    assert setting.store.database == AWAY
    for text in (repr(away.value.problem), repr(setting)):
        assert "sesame" not in text and "ada" not in text


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("", "does not begin with postgresql://"),
        ("mysql://ada:sesame@h/d", "does not begin with postgresql://"),
        ("postgresql://ada:sesame/a@h/d", "its port is none"),
        ("postgresql://ada:1/sesame@h/d", "its password has"),
        ("postgresql://ada:1?sesame@h/d", "its password has"),
        ("postgresql://ada:1#sesame", "its password has"),
        ("postgresql://ada:se@same@h:5432/d", None),
        ("postgres:///shop?host=/run/postgresql", None),
    ],
)
def test_a_url_that_names_no_database_is_refused_without_it(url: str, fault: str | None) -> None:
    found = fault_of_url(url)
    assert found is None if fault is None else fault in (found or "")
    if fault is not None:
        with pytest.raises(BadInput) as refused:
            RetrievalSetting.from_env({"MEM_BACKEND": "postgres", "DATABASE_URL": url})
        (problem,) = refused.value.problems
        assert problem.file == "DATABASE_URL" and "sesame" not in repr(problem)


async def test_the_setting_opens_items_beside_documents(database: str, tmp_path: Path) -> None:
    env = {"MEM_BACKEND": "postgres", "DATABASE_URL": database, "DCF_HOME": str(tmp_path)}
    setting = RetrievalSetting.from_env(env, [tmp_path])
    async with open_retrieval(Settings.from_env(env), setting, SYSTEM) as retrieval:
        kept = await retrieval.log(SHOP, NewItem("the parser"))
        assert isinstance(retrieval.documents, PostgresDocuments)
        said = ReadDocument("", "text", (ReadPiece("Another parser.", (), 1, 1),))
        state = FileState(1, "", "")
        read = await retrieval.documents.keep(SHOP, "a.txt", state, said, by=SYSTEM)
        answered = await retrieval.context(ContextQuestion(SHOP, "parser"))
        found = {one.candidate.citation for one in answered.found}
        assert found == {kept.citation, f"{read.citation}/line/1"}


async def test_an_index_that_somebody_made_for_meanings_is_used(
    postgres_server: PostgresServer, database: str
) -> None:
    embedder = embedder_named("wordllama")
    page = Path(__file__).parents[3] / "docs" / "how-to" / "retrieval-service.md"
    (shown,) = re.findall(r"```sql\n(CREATE INDEX .*?;)\n.*?```", page.read_text(), re.DOTALL)
    index = re.sub("'wordllama .*'", f"'{embedder.name} {embedder.version}'", shown)
    async with PostgresItems.open(database, Ticking(), Numbered(), None, embedder) as items:
        for number in range(40):
            await items.remember(SHOP, NewItem(f"eagles, owls and {number} sparrows fly"))
        exact = await items.recall(SHOP, "birds")
    assert len(exact) == 10
    await rows_of(database, index)
    # Of few the planner reads and sorts all.
    url = f"{database}&enable_sort=off&enable_seqscan=off"
    async with PostgresItems.open(url, Ticking(), Numbered(), None, embedder) as items:
        assert await items.recall(SHOP, "birds") == exact
    await rows_of(database, "SELECT pg_stat_force_next_flush()")
    used = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'dcf_items_by_meaning'"
    used += " AND schemaname = current_schema()"
    assert (await rows_of(database, used))[0]["idx_scan"] > 0


class Followed(PostgresItems):
    """Somebody logs behind the first look."""

    looks = 0

    async def named(self, is_named: Callable[[str], bool]) -> tuple[Item, ...]:
        found = await super().named(is_named)
        self.looks += 1
        if self.looks == 1:
            await self.remember(SHOP, NewItem("Ann Miller again"))
        return found


async def test_what_is_logged_while_it_is_forgotten_goes_too(database: str) -> None:
    async with Followed.open(database, Ticking(), Numbered()) as items:
        await items.remember(SHOP, NewItem("Ann Miller was here"))
        await items.purge(lambda text: "Miller" in text)
        assert await items.named(lambda text: "Miller" in text) == ()


async def test_a_database_is_looked_through_whatever_backend_is_chosen(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    env = {"DCF_HOME": str(tmp_path), "DATABASE_URL": database, "DCF_GRAPH": "off"}

    async def found() -> list[str]:
        async with open_stores(Settings.from_env(env), Screen(as_json=True)) as stores:
            assert stores.away == []
            subject = Subject.of("Ann Miller")
            return [stone.ref for one in stores.forgetful for stone in await one.find(subject)]

    # A database of something else stays without a table of ours.
    assert await found() == []
    assert await rows_of(database, "SELECT to_regclass('dcf_items') AS it") == [(None,)]
    async with PostgresItems.open(database, Ticking(), Numbered()) as items:
        kept = await items.remember(SHOP, NewItem("Ann Miller was here"))
    assert await found() == [kept.id]
