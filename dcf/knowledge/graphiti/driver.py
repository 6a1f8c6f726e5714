"""Graphiti's driver, on the one graph that there is.

Imports graphiti_core: only after ``demand_graphiti``.
"""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from typing import Any

from falkordb.asyncio.graph import AsyncGraph
from graphiti_core.driver.driver import GraphDriver
from graphiti_core.driver.falkordb_driver import FalkorDriver
from graphiti_core.utils.datetime_utils import convert_datetimes_to_strings
from redis.asyncio import BlockingConnectionPool, Redis

from dcf.knowledge.connection import CONNECTIONS

log = logging.getLogger(__name__)

_SOCKET_TIMEOUT_S = 35.0
_ONE_OF = re.compile(r"\b(\w+\.\w+)\s+IN\s+(\$\w+)", re.IGNORECASE)
_THERE_ALREADY = ("already indexed", "Stopwords are already set")


@lru_cache(maxsize=256)
def _unindexed(text: str) -> str:
    """The query ``text`` with its lists of values as conditions that no index answers. Looking one
    of its stop words up in the index of a label with fulltext ends the server's process, also for a
    property that is no text to search; a single ``=`` is safe, ``IN`` and ``OR`` are not."""
    return _ONE_OF.sub(r"any(one_ IN \2 WHERE \1 = one_)", text)


class SafeGraph(AsyncGraph):  # type: ignore[misc]
    """A graph whose queries, whoever of Graphiti makes them, do not end the server."""

    async def query(self, q: str, *args: Any, **kwargs: Any) -> Any:
        """As the client's own."""
        return await super().query(_unindexed(q), *args, **kwargs)


class Server:
    """What the driver wants of a FalkorDB client, without the question that the client's
    constructor puts to the server while the event loop waits."""

    def __init__(self, url: str) -> None:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=CONNECTIONS,
            timeout=None,
            decode_responses=True,
            protocol=2,
            socket_timeout=_SOCKET_TIMEOUT_S,
        )
        self._client: Redis = Redis(connection_pool=pool)

    def select_graph(self, name: str) -> Any:
        return SafeGraph(self._client, name)

    async def aclose(self) -> None:
        await self._client.aclose()
        await self._client.connection_pool.aclose()


class OneGraphDriver(FalkorDriver):
    """Groups are told apart by ``group_id`` within one graph, so that no group is a graph of its
    own. To be made outside of an event loop (in a thread): inside one, the constructor would start
    a task that makes indexes, whether anybody waits for it or not. Belongs to one event loop."""

    def __init__(self, url: str, graph: str) -> None:
        super().__init__(falkor_db=Server(url), database=graph)

    def clone(self, database: str) -> GraphDriver:
        return self

    def build_fulltext_query(
        self, query: str, group_ids: list[str] | None = None, max_query_length: int = 128
    ) -> str:
        """As the driver's own, without the groups: each query asks for them once more, and a group
        that is called like a stop word has no place in the index."""
        found: str = super().build_fulltext_query(query, None, max_query_length)
        return found

    async def execute_query(self, cypher_query_: str, **kwargs: Any) -> Any:
        """As the driver's own, but a query that fails is not logged: its parameters are what
        somebody wrote."""
        parameters = _without_nul(
            convert_datetimes_to_strings(dict(kwargs))  # type: ignore[no-untyped-call]
        )
        try:
            found = await self._get_graph(None).query(cypher_query_, parameters)
        except Exception as error:
            if any(said in str(error) for said in _THERE_ALREADY):
                return None
            raise
        header = [column[1] for column in found.header]
        return [dict(zip(header, row, strict=False)) for row in found.result_set], header, None


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", "")
    if isinstance(value, dict):
        return {key: _without_nul(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nul(part) for part in value]
    return value
