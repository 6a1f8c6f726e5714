"""A PostgreSQL database with the tables of logged items and of documents: its connections, and what
is wrong with them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from dcf.retrieval.errors import (
    DriverMissing,
    StoreEmpty,
    StoreProblem,
    StoreTooNew,
    StoreUnreachable,
)

if TYPE_CHECKING:
    import asyncpg

_log = logging.getLogger(__name__)

_LOCK = 0x6463_6669  # "dcfi": whoever makes the tables has it, the others wait.
_CONNECTS_S, _ANSWERS_S, _REWRITES_S = 5.0, 60.0, 3_600.0
_CONNECTIONS = 8
# Words are stemmed as English is, and none is left out: a question may have no others.
_ITEMS = """
CREATE TEXT SEARCH DICTIONARY dcf_stems (TEMPLATE = snowball, LANGUAGE = english);
CREATE TEXT SEARCH CONFIGURATION dcf_words (PARSER = default);
ALTER TEXT SEARCH CONFIGURATION dcf_words ADD MAPPING
  FOR asciiword, word, numword, int, uint, float, sfloat, version WITH dcf_stems;
CREATE TABLE dcf_items (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  project text NOT NULL,
  body text NOT NULL,
  tags text[] NOT NULL,
  source text,
  file_path text,
  logged_at bigint NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX dcf_items_of_project ON dcf_items (project, number);
CREATE INDEX dcf_items_by_age ON dcf_items (project, logged_at);
CREATE INDEX dcf_items_of_file ON dcf_items (project, file_path, number);
CREATE INDEX dcf_items_by_words ON dcf_items USING gin (words);
CREATE TABLE dcf_items_version (version integer NOT NULL);
INSERT INTO dcf_items_version VALUES (1);
"""
# What was forgotten stays so where items of another place are kept. Paths may be longer than what
# an index takes.
_GONE_AND_DOCUMENTS = """
CREATE TABLE IF NOT EXISTS dcf_items_gone (
  project text NOT NULL,
  id text NOT NULL,
  gone_at bigint NOT NULL,
  PRIMARY KEY (project, id)
);
CREATE TABLE dcf_documents (
  id text PRIMARY KEY,
  project text NOT NULL,
  path text NOT NULL,
  title text NOT NULL,
  format text NOT NULL,
  size bigint NOT NULL,
  stamp text NOT NULL,
  digest text NOT NULL,
  reader integer NOT NULL,
  pages integer,
  pieces integer NOT NULL,
  problems text NOT NULL,
  added_at bigint NOT NULL,
  read_at bigint NOT NULL
);
CREATE UNIQUE INDEX dcf_documents_of_file ON dcf_documents (project, md5(path));
CREATE TABLE dcf_document_pieces (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  document_id text NOT NULL REFERENCES dcf_documents ON DELETE CASCADE,
  seq integer NOT NULL,
  about text NOT NULL,
  body text NOT NULL,
  headings text NOT NULL,
  first_line integer,
  last_line integer,
  page integer,
  words tsvector NOT NULL,
  UNIQUE (document_id, seq)
);
CREATE INDEX dcf_document_pieces_by_words ON dcf_document_pieces USING gin (words);
"""
_STEPS = (_ITEMS, _GONE_AND_DOCUMENTS)
"""What makes each version of the tables out of the one before it."""
VERSION = len(_STEPS)
# Half precision, so that a vector of 512 numbers stays in its row.
_VECTORS = """
CREATE TABLE IF NOT EXISTS {name} (
  embedder text NOT NULL,
  number bigint NOT NULL REFERENCES {texts} ON DELETE CASCADE,
  meaning halfvec NOT NULL,
  PRIMARY KEY (number, embedder)
)
"""
# Waiting for the disk may be switched off for the whole server. Whoever waits for more, as for a
# copy elsewhere, goes on to do so.
DURABLE = """
SELECT set_config('synchronous_commit', 'on', true)
WHERE current_setting('synchronous_commit') = 'off'
"""
_VECTORS_OF = {"dcf_item_vectors": "dcf_items", "dcf_document_vectors": "dcf_document_pieces"}
_TABLES = ("dcf_items", "dcf_items_gone", "dcf_documents", "dcf_document_pieces", *_VECTORS_OF)
_NO_VECTORS = (
    "meanings are not compared in %s, words alone decide: pgvector 0.7 or newer is not there (%s);"
    " a superuser makes it with CREATE EXTENSION vector"
)


def fault_of_url(url: str) -> str | None:
    """Why ``url`` names no database, without a part of it, which may be its password."""
    try:
        parts = urlsplit(url)
        port_is_one = parts.port is None or parts.port > 0
    except ValueError:
        port_is_one = False
    if not port_is_one:
        return "its port is none"
    if parts.scheme not in ("postgresql", "postgres"):
        return "it does not begin with postgresql://"
    # The rest of a password that was cut off by one of its own characters.
    if "@" in parts.path + parts.query + parts.fragment or parts.fragment:
        return "its password has an @, /, ? or # that is not written as %40, %2F, %3F or %23"
    return None


def where_of_url(url: str) -> str:
    """Which database a URL names (see ``fault_of_url``), without its user and password."""
    parts = urlsplit(url)
    host = parts.hostname or parse_qs(parts.query).get("host", ["this machine"])[0]
    port = f":{parts.port}" if parts.port else ""
    return f"{host}{port}{parts.path}"


class PostgresStore:
    """Connections to a database, which are made when they are needed and made anew when they were
    lost. ``has_vectors``: whether it has a table for meanings."""

    def __init__(self, pool: asyncpg.Pool, url: str) -> None:
        self._pool = pool
        self._parts = urlsplit(url)
        self.where = where_of_url(url)
        self.has_vectors = False

    @classmethod
    @asynccontextmanager
    async def open(
        cls, url: str, *, vectors: bool, make: bool = True
    ) -> AsyncIterator[PostgresStore]:
        """The database at ``url`` (see ``fault_of_url``), its tables made where they are missing;
        with ``vectors`` one for meanings too, where it can be. Without ``make`` a database that has
        no tables is refused. Raises a StoreProblem."""
        try:
            import asyncpg
        except ImportError as error:
            raise DriverMissing from error
        pool = asyncpg.create_pool(
            url,
            min_size=0,
            max_size=_CONNECTIONS,
            timeout=_CONNECTS_S,
            command_timeout=_ANSWERS_S,
            server_settings={
                "application_name": "dcf retrieval",
                # One plan for questions with and without a file would suit neither.
                "plan_cache_mode": "force_custom_plan",
            },
        )
        store = cls(pool, url)
        await pool
        try:
            async with store.transaction() as connection:
                await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
                await store._make(connection, make=make)
                if vectors:
                    store.has_vectors = await store._make_vectors(connection)
            yield store
        finally:
            # A server that does not answer any more cannot close its connections: they are cut off.
            with suppress(OSError):
                async with asyncio.timeout(_CONNECTS_S):
                    await pool.close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        """A connection of asyncpg, in a transaction that is on the server's disk when the block
        has ended. Raises a StoreProblem."""
        async with self._connection() as connection, connection.transaction():
            yield connection

    async def vacuum(self, *, whole: bool = False) -> None:
        """Give back the room of removed rows; with ``whole`` the tables are written anew, so that
        nothing of those is in them, and others wait meanwhile. Raises a StoreProblem."""
        how = "(FULL, ANALYZE)" if whole else "(ANALYZE)"
        async with self._connection() as connection:
            for table in _TABLES:
                if await connection.fetchval("SELECT to_regclass($1)", table) is not None:
                    await connection.execute(f"VACUUM {how} {table}", timeout=_REWRITES_S)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        import asyncpg

        try:
            async with self._pool.acquire(timeout=_ANSWERS_S) as connection:
                yield connection
        # The last of them: of a connection that is lost at a moment that asyncpg does not expect.
        except (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
            raise StoreUnreachable(where=self.where, reason=self._reason(error)) from None
        except asyncpg.PostgresError as error:
            away = (
                asyncpg.PostgresConnectionError,
                asyncpg.OperatorInterventionError,
                asyncpg.InsufficientResourcesError,
                asyncpg.InvalidAuthorizationSpecificationError,
                asyncpg.InvalidCatalogNameError,
            )
            kind = StoreUnreachable if isinstance(error, away) else StoreProblem
            raise kind(where=self.where, reason=self._reason(error)) from None

    async def _make(self, connection: Any, *, make: bool) -> None:
        found = 0
        if await connection.fetchval("SELECT to_regclass('dcf_items_version')") is not None:
            found = await connection.fetchval("SELECT max(version) FROM dcf_items_version")
        elif not make:
            raise StoreEmpty(where=self.where)
        if found > VERSION:
            raise StoreTooNew(where=self.where, found=found, known=VERSION)
        for step in _STEPS[found:]:
            await connection.execute(step)
        if found < VERSION:
            await connection.execute("UPDATE dcf_items_version SET version = $1", VERSION)

    async def _make_vectors(self, connection: Any) -> bool:
        import asyncpg

        reason = "it is older"
        try:
            async with connection.transaction():
                await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except asyncpg.PostgresError as error:
            reason = self._reason(error)
        if await connection.fetchval("SELECT to_regtype('halfvec')") is None:
            _log.warning(_NO_VECTORS, self.where, reason)
            return False
        for name, texts in _VECTORS_OF.items():
            await connection.execute(_VECTORS.format(name=name, texts=texts))
        return True

    def _reason(self, error: Exception) -> str:
        text = (str(error) or type(error).__name__).splitlines()[0].removesuffix(".")
        password = self._parts.password or ""
        for secret in {password, unquote(password)} - {""}:
            text = text.replace(secret, "…")
        return text
