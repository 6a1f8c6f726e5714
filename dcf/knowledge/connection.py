"""The graph's server: reads, and batches of writes that are on its disk when they are done."""

from __future__ import annotations

import asyncio
import builtins
import logging
from collections.abc import Callable, Sequence
from typing import Any, Self

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    BusyLoadingError,
    ConnectionError,
    RedisError,
    ResponseError,
    TimeoutError,
)

from control_plane.embedded import check_url, redact
from dcf.knowledge.cypher import Query, joined, query
from dcf.knowledge.errors import (
    GraphAway,
    GraphRefused,
    GraphSlow,
    GraphUnsuitable,
    SettingUnusable,
)
from dcf.knowledge.schema import GRAPH

log = logging.getLogger(__name__)

CONNECTIONS = 8
SYNC_KEY = "dcf:graph:synced"
# Above the server's own limit of a query, TIMEOUT_MAX.
_SOCKET_TIMEOUT_S = 35.0
_CONNECT_TIMEOUT_S = 5.0
# Of a server that is asked for nothing but whether it is there.
_ANSWER_S = 10.0
_LOADING_POLL_S = 0.1
_FSYNC_MS = 10_000
_AWAY = (ConnectionError, TimeoutError, BusyLoadingError, OSError)
_TOO_SLOW = "Query timed out"
# Refusals that are not the query's fault: the same one may be taken later.
_NOT_NOW = ("OOM", "MISCONF", "READONLY", "NOREPLICAS", "MASTERDOWN", "NOPERM")


class GraphConnection:
    """A pool of connections to ``url``; belongs to the event loop that it was made in. Raises
    SettingUnusable for what is no address. ``missed`` is called whenever the server was away."""

    def __init__(
        self, url: str, *, graph: str = GRAPH, missed: Callable[[], object] = lambda: None
    ) -> None:
        self.label = redact(url)
        self._url = url
        self.graph = graph
        self.missed = missed
        self._keeps_file = True
        try:
            check_url(url)
            pool = BlockingConnectionPool.from_url(
                url,
                max_connections=CONNECTIONS,
                timeout=None,
                decode_responses=True,
                protocol=2,
                socket_timeout=_SOCKET_TIMEOUT_S,
                socket_connect_timeout=_CONNECT_TIMEOUT_S,
                retry=Retry(NoBackoff(), 0),
            )
        except ValueError as error:
            reason = f"{self.label} is no address of a Redis server"
            raise SettingUnusable(name="DCF_GRAPH_URL", reason=reason) from error
        self._client: Redis = Redis(connection_pool=pool)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()
        await self._client.connection_pool.aclose()

    async def ready(self) -> None:
        """Wait until the server has read its data. Raises GraphAway when it does not answer,
        GraphUnsuitable when it is none for graphs."""
        while True:
            try:
                async with asyncio.timeout(_ANSWER_S):
                    await self._client.execute_command("GRAPH.LIST")  # type: ignore[no-untyped-call]
                return
            except BusyLoadingError:
                await asyncio.sleep(_LOADING_POLL_S)
            except builtins.TimeoutError as error:
                raise self._away(f"no answer in {_ANSWER_S:g} s") from error
            except ResponseError as error:
                if "unknown command" in str(error):
                    raise GraphUnsuitable(server=self.label) from error
                raise self._translated(error) from error
            except (RedisError, OSError) as error:
                raise self._translated(error) from error

    async def read(
        self, text: str, *, timeout_ms: int | None = None, **parameters: Any
    ) -> list[list[Any]]:
        """The rows of a query that writes nothing. Raises GraphAway, GraphRefused; GraphSlow when
        it takes longer than ``timeout_ms``, 5000 by default."""
        from falkordb.asyncio.graph import AsyncGraph

        try:
            found = await AsyncGraph(self._client, self.graph).ro_query(
                query(text, **parameters), timeout=timeout_ms
            )
        except (RedisError, OSError) as error:
            if "empty key" in str(error):
                # Nothing was ever written.
                return []
            raise self._translated(error) from error
        rows: list[list[Any]] = found.result_set
        return rows

    async def rows(self, text: str, **parameters: Any) -> list[list[Any]]:
        """As ``read``, for many rows of scalars: several times as fast, but without types. Strings,
        integers and None come as they are, floats and booleans as text."""
        command = ("GRAPH.RO_QUERY", self.graph, query(text, **parameters))
        try:
            found: Any = await self._client.execute_command(*command)  # type: ignore[no-untyped-call]
        except (RedisError, OSError) as error:
            if "empty key" in str(error):
                return []
            raise self._translated(error) from error
        rows: list[list[Any]] = found[1] if len(found) > 1 else []
        return rows

    async def write(self, queries: Sequence[Query]) -> None:
        """Run ``queries`` as one command, so that nobody sees or writes anything in between, and
        after an error or a crash all or none of them happened. They may be lost until ``synced``.
        All of them together have the time that the server gives one query.

        Never as a transaction (MULTI): while the server reads one from its append-only file, any
        command of any client ends it, at each of its starts. Raises GraphAway, GraphRefused,
        GraphSlow.
        """
        command = ("GRAPH.QUERY", self.graph, joined(queries))
        try:
            await self._client.execute_command(*command)  # type: ignore[no-untyped-call]
        except (RedisError, OSError) as error:
            raise self._translated(error) from error

    async def synced(self) -> None:
        """Wait until everything that was written before is on the server's disk, which takes up to
        a second where it is forced there once a second. A server that keeps no append-only file is
        told of once, and trusted. Raises GraphAway.
        """
        if not self._keeps_file:
            return
        # WAITAOF waits for what its own connection has written, and this comes after all the rest.
        pipeline = self._client.pipeline(transaction=False)
        pipeline.execute_command("SET", SYNC_KEY, "1")
        pipeline.execute_command("WAITAOF", 1, 0, _FSYNC_MS)
        try:
            _, answer = await pipeline.execute(raise_on_error=False)
        except (RedisError, OSError) as error:
            raise self._translated(error) from error
        if isinstance(answer, ResponseError):
            self._keeps_file = False
            log.warning("the graph at %s cannot say what is on its disk: %s", self.label, answer)
        elif isinstance(answer, Exception):
            raise self._translated(answer) from answer
        elif not answer[0]:
            raise self._away(f"no write to its disk in {_FSYNC_MS} ms")

    def _translated(self, error: Exception) -> GraphAway | GraphRefused:
        if isinstance(error, _AWAY) or str(error).startswith(_NOT_NOW):
            reason = self._scrubbed(error).rstrip(".") or type(error).__name__
            return self._away(reason)
        refused = GraphSlow if _TOO_SLOW in str(error) else GraphRefused
        return refused(reason=self._scrubbed(error))

    def _away(self, reason: str) -> GraphAway:
        self.missed()
        return GraphAway(server=self.label, reason=reason)

    def _scrubbed(self, error: Exception) -> str:
        """The error's own words, without the URL in case they repeat it."""
        return str(error).replace(self._url, self.label)
