"""Logged items in a PostgreSQL database, which several services may share."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from dcf.memory import Clock, NewId
from dcf.retrieval.backend import BATCH, Elsewhere, Kept, archive_of, demand_valid, kept_of
from dcf.retrieval.batcher import Batcher
from dcf.retrieval.errors import StoreProblem, StoreUnreachable, UnknownItem
from dcf.retrieval.item import FILE, Item, Lifetimes, NewItem, Recalled
from dcf.retrieval.postgres_search import MEANT, Meanings, asked, fused, told
from dcf.retrieval.postgres_store import DURABLE, PostgresStore
from dcf.search import Embedder, words

_log = logging.getLogger(__name__)

_COLUMNS = "i.number, i.id, i.body, i.tags, i.source, i.file_path, i.logged_at"
_INSERT = """
INSERT INTO dcf_items (id, project, body, tags, source, file_path, logged_at, words)
VALUES ($1, $2, $3, $4, $5, $6, $7, to_tsvector('dcf_words', $8))
"""
# All that is to be kept in one statement, in its order; what is known by its id is left alone.
_KEEP = """
INSERT INTO dcf_items (id, project, body, tags, source, file_path, logged_at, words)
SELECT given.id, $1, given.body, given.tags, given.source, given.file_path, given.logged_at,
  to_tsvector('dcf_words', given.told)
FROM ROWS FROM (json_to_recordset($2::json) AS (id text, body text, tags text[], source text,
  file_path text, logged_at bigint, told text)) WITH ORDINALITY AS given
WHERE NOT EXISTS (SELECT FROM dcf_items_gone g WHERE g.project = $1 AND g.id = given.id)
ORDER BY given.ordinality
ON CONFLICT (id) DO NOTHING RETURNING id
"""
_FORGET = """
WITH gone AS (DELETE FROM dcf_items WHERE project = $1 AND id = ANY ($2::text[]) RETURNING id)
INSERT INTO dcf_items_gone (project, id, gone_at) SELECT $1, id, $3 FROM gone RETURNING id
"""
_PURGE = """
WITH gone AS (DELETE FROM dcf_items WHERE id = ANY ($1::text[]) RETURNING project, id),
  told AS (INSERT INTO dcf_items_gone (project, id, gone_at) SELECT project, id, $2 FROM gone)
SELECT project FROM gone UNION SELECT project FROM dcf_items_gone
"""
# Who keeps items of another place waits for those who forget, and they for them: none comes back
# that is being forgotten. Of two who keep the same, neither waits for the other row by row.
_KEEPING = 0x6463_666B
_OVER = """EXISTS (
  SELECT FROM unnest($2::text[], $3::bigint[]) AS ages (tag, logged_by)
  WHERE i.logged_at <= ages.logged_by
    AND (ages.tag = ANY (i.tags) OR ages.tag IS NULL AND NOT i.tags && $2::text[]))"""
_WANTED = f"i.project = $1 AND ($4::text IS NULL OR i.file_path = $4) AND NOT {_OVER}"
_LATEST = "ORDER BY i.logged_at DESC, i.number DESC"
_NEWEST = f"SELECT {_COLUMNS} FROM dcf_items i WHERE {_WANTED} {_LATEST} LIMIT $5"
_BY_WORDS = f"""
SELECT {_COLUMNS} FROM dcf_items i, to_tsquery('dcf_words', $6) asked
WHERE {_WANTED} AND i.words @@ asked
ORDER BY ts_rank(i.words, asked, 1) DESC, i.number DESC LIMIT $5
"""
_PAGE = f"""
SELECT {_COLUMNS} FROM dcf_items i WHERE i.project = $1 AND i.number > $2
ORDER BY i.number LIMIT $3
"""
_THERE = f"SELECT {_COLUMNS}, i.project FROM dcf_items i WHERE i.id = ANY ($1::text[])"
# All of a project's are compared: none is missed, and no other project's are looked at. With its
# size in the expression whoever runs the database may have an approximate index for it.
_BY_MEANING = f"""
SELECT {_COLUMNS}
FROM dcf_items i JOIN dcf_item_vectors v USING (number)
WHERE {_WANTED} AND v.embedder = $6 AND v.meaning <#> $7::real[]::halfvec < 0
ORDER BY v.meaning::halfvec({{size}}) <#> $7::real[]::halfvec({{size}}), i.number DESC LIMIT $5
"""
# As the memory embeds a passage, whose file is a tag.
_MEANT = f"""
concat_ws(': ', nullif(concat_ws(' ', nullif(array_to_string(t.tags, ' '), ''),
  '{FILE}' || t.file_path, t.source), ''), left(t.body, {MEANT}))
"""
_OF_PROJECT = "t.project = $1"
_OF_IDS = "t.id = ANY ($1::text[])"
_OF_ALL = "$1::text IS NULL"
_LOOKS_S = 60.0
"""How often items are looked for that another process left without a meaning."""
_RETRY_S = 5.0


class PostgresItems:
    """Items in the database of ``store``. With an ``embedder``, and where the database has
    vectors, words and meanings are fused by reciprocal rank; else words alone decide."""

    def __init__(
        self,
        store: PostgresStore,
        clock: Clock,
        new_id: NewId,
        lifetimes: Lifetimes | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._lifetimes = lifetimes or Lifetimes()
        self._meanings = Meanings(
            store, embedder, table="dcf_items", text=_MEANT, vectors="dcf_item_vectors"
        )
        # One transaction for all that is logged while another one is written.
        self._writer = Batcher(self._insert)
        self._is_kept_up = False
        self._new: list[str] = []
        self._news = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        url: str,
        clock: Clock,
        new_id: NewId,
        lifetimes: Lifetimes | None = None,
        embedder: Embedder | None = None,
        *,
        make: bool = True,
    ) -> AsyncIterator[PostgresItems]:
        """Items in the database at ``url``; without ``make`` they must be there. Raises a
        StoreProblem, as all that is done with them does."""
        async with PostgresStore.open(url, vectors=embedder is not None, make=make) as store:
            yield cls(store, clock, new_id, lifetimes, embedder)

    async def remember(self, project: str, new: NewItem) -> Item:
        demand_valid(new)
        item_id, now = self._new_id("passage"), self._clock()
        item, told = await asyncio.to_thread(_prepared, new, item_id, now)
        failure = await self._writer((project, item, told))
        if failure is not None:
            raise failure
        if self._is_kept_up:
            self._new.append(item.id)
            self._news.set()
        return item

    async def recall(
        self, project: str, query: str, *, file_path: str | None = None, limit: int = 10
    ) -> tuple[Recalled, ...]:
        arguments = [project, *self._ages(), file_path, limit]
        if not words(query):
            async with self._store.transaction() as connection:
                rows = await connection.fetch(_NEWEST, *arguments)
            return tuple(Recalled(_item(row), "newest") for row in rows)
        if not self._is_kept_up:
            await self._meanings.give(_OF_PROJECT, project)
        vector = await self._meanings.of(query)
        by_meaning: Sequence[Any] = ()
        likeness: Mapping[int, float] = {}
        async with self._store.transaction() as connection:
            by_words = await connection.fetch(_BY_WORDS, *arguments, asked(query))
            if vector is not None:
                sql = _BY_MEANING.format(size=len(vector))
                by_meaning = await connection.fetch(sql, *arguments, self._meanings.space, vector)
                numbers = [row["number"] for row in (*by_words, *by_meaning)]
                likeness = await self._meanings.of_rows(connection, numbers, vector)
        best = fused(by_words, by_meaning, likeness)[:limit]
        return tuple(Recalled(_item(row), why, likeness) for row, _, why, likeness in best)

    async def get(self, item_id: str) -> Item:
        async with self._store.transaction() as connection:
            row = await connection.fetchrow(_THERE, [item_id])
        if row is None:
            raise UnknownItem(item_id=item_id)
        return _item(row)

    async def forget(self, project: str, item_id: str) -> None:
        if not await self.forget_all(project, [item_id]):
            raise UnknownItem(item_id=item_id)

    async def forget_all(self, project: str, item_ids: Sequence[str]) -> int:
        async with self._store.transaction() as connection:
            await connection.execute(DURABLE)
            await connection.execute("SELECT pg_advisory_xact_lock_shared($1)", _KEEPING)
            return len(await connection.fetch(_FORGET, project, item_ids, self._clock()))

    async def sweep(self, project: str) -> int:
        tags, ends = self._ages()
        if not tags:
            return 0
        async with self._store.transaction() as connection:
            gone = await connection.fetchval(
                f"WITH gone AS (DELETE FROM dcf_items i WHERE i.project = $1 AND {_OVER}"
                " AND i.logged_at <= $4 RETURNING 1) SELECT count(*) FROM gone",
                project,
                tags,
                ends,
                max(ends),
            )
        return int(gone)

    async def archives(self) -> Mapping[str, str | None]:
        async with self._store.transaction() as connection:
            rows = await connection.fetch(
                # What was forgotten of a project that has no item left is to be told as well.
                "SELECT project FROM dcf_items UNION SELECT project FROM dcf_items_gone"
            )
        return {archive_of(row["project"]): row["project"] for row in rows}

    async def all(self, project: str) -> AsyncIterator[Sequence[Item]]:
        last = 0
        while True:
            async with self._store.transaction() as connection:
                rows = await connection.fetch(_PAGE, project, last, BATCH)
            if not rows:
                return
            yield [*map(_item, rows)]
            last = rows[-1]["number"]

    async def forgotten(self, project: str) -> Sequence[str]:
        async with self._store.transaction() as connection:
            rows = await connection.fetch(
                "SELECT id FROM dcf_items_gone WHERE project = $1", project
            )
        return [row["id"] for row in rows]

    async def keep(self, project: str, items: Sequence[Item]) -> Sequence[Kept]:
        given = await asyncio.to_thread(_given, items)
        async with self._store.transaction() as connection:
            await connection.execute(DURABLE)
            await connection.execute("SELECT pg_advisory_xact_lock($1)", _KEEPING)
            new = {row["id"] for row in await connection.fetch(_KEEP, project, given)}
            left = [item.id for item in items if item.id not in new]
            rows = await connection.fetch(_THERE, left) if left else ()
        there = {row["id"]: row for row in rows}
        return [
            "copied" if item.id in new else _kept(item, project, there.get(item.id))
            for item in items
        ]

    async def named(self, is_named: Callable[[str], bool]) -> tuple[Item, ...]:
        """The items of all projects that ``is_named`` takes, by their fields or their project."""
        found: list[Item] = []
        async with self._store.transaction() as connection:
            async for row in connection.cursor(f"SELECT i.project, {_COLUMNS} FROM dcf_items i"):
                item = _item(row)
                fields = (row["project"], item.text, *item.tags, item.source, item.file_path)
                if any(is_named(one) for one in fields if one):
                    found.append(item)
        return tuple(found)

    async def purge(self, is_named: Callable[[str], bool]) -> None:
        """Give them up, and let the tables have no byte of them; that they were forgotten stays
        known by their ids."""
        found = await self.named(is_named)
        await self._purge(found, is_named)
        # Until a look finds nothing: others log between a look and what follows it.
        while found := await self.named(is_named):
            await self._purge(found, is_named)
        await self._store.vacuum(whole=True)

    async def compact(self) -> None:
        await self._store.vacuum()

    async def keep_up(self, elsewhere: Elsewhere | None = None) -> None:
        if self._meanings.embedder is None:
            return
        self._is_kept_up = True
        try:
            while True:
                try:
                    await self._meanings.give(_OF_ALL, None)
                    await self._follow()
                except StoreProblem as error:
                    _log.warning("new items are found by their words alone for now: %s", error)
                    await asyncio.sleep(_RETRY_S)
        finally:
            self._is_kept_up = False

    def leave_behind(self) -> None:
        self._is_kept_up = True

    async def _follow(self) -> None:
        """Give meanings to what this process logs, until it is time to look for others."""
        end = asyncio.get_running_loop().time() + _LOOKS_S
        try:
            async with asyncio.timeout_at(end):
                while True:
                    await self._news.wait()
                    self._news.clear()
                    new, self._new = self._new, []
                    await self._meanings.give(_OF_IDS, new)
        except TimeoutError:
            return

    async def _purge(self, items: Sequence[Item], is_named: Callable[[str], bool]) -> None:
        async with self._store.transaction() as connection:
            await connection.execute(DURABLE)
            await connection.execute("SELECT pg_advisory_xact_lock_shared($1)", _KEEPING)
            ids = [item.id for item in items]
            rows = await connection.fetch(_PURGE, ids, self._clock())
            named = [row["project"] for row in rows if is_named(row["project"])]
            await connection.execute(
                "DELETE FROM dcf_items_gone WHERE project = ANY ($1::text[])", named
            )

    async def _insert(
        self, some: Sequence[tuple[str, Item, str]]
    ) -> Sequence[StoreUnreachable | None]:
        """Keep items, all or none. Whose database is away is not tried one by one."""
        rows = [
            (one.id, project, one.text, one.tags, one.source, one.file_path, one.timestamp, told)
            for project, one, told in some
        ]
        try:
            async with self._store.transaction() as connection:
                await connection.execute(DURABLE)
                await connection.executemany(_INSERT, rows)
        except StoreUnreachable as error:
            return [error] * len(some)
        return [None] * len(some)

    def _ages(self) -> tuple[list[str | None], list[int]]:
        """Tags (None for items that have none of the others), and when what has one was logged at
        the latest if its time is over."""
        ends = self._lifetimes.ends(self._clock())
        return [tag for tag, _ in ends], [at for _, at in ends]


def _prepared(new: NewItem, item_id: str, now: int) -> tuple[Item, str]:
    item = Item.of(new, item_id, now)
    return item, told(item.said)


def _given(items: Sequence[Item]) -> str:
    """Items as rows for ``_KEEP``."""
    rows = [
        {
            "id": one.id,
            "body": one.text,
            "tags": one.tags,
            "source": one.source,
            "file_path": one.file_path,
            "logged_at": one.timestamp,
            "told": told(one.said),
        }
        for one in items
    ]
    return json.dumps(rows, ensure_ascii=False)


def _kept(item: Item, project: str, row: Any | None) -> Kept:
    """What came of an item that was left alone; ``row`` has its id."""
    if row is not None and row["project"] != project:
        return "differing"
    return kept_of(item, None if row is None else _item(row))


def _item(row: Any) -> Item:
    return Item(
        row["id"],
        row["body"],
        tuple(row["tags"]),
        row["source"],
        row["file_path"],
        row["logged_at"],
    )
