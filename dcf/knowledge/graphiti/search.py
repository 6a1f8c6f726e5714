"""Graphiti's own hybrid search, by words and meaning, over what is in the graph."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from redis.exceptions import BusyLoadingError, ConnectionError, RedisError, TimeoutError

from control_plane.embedded import redact
from dcf.knowledge.asking import Chosen, Part
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.errors import GraphAway, GraphRefused
from dcf.knowledge.graphiti.importing import demand_graphiti
from dcf.knowledge.graphiti.query import searchable
from dcf.knowledge.meaning import load_embedder
from dcf.knowledge.schema import GRAPH

if TYPE_CHECKING:
    from graphiti_core import Graphiti
    from graphiti_core.edges import EntityEdge
    from graphiti_core.nodes import EntityNode
    from graphiti_core.search.search_config import SearchConfig, SearchResults
    from graphiti_core.search.search_filters import SearchFilters

LEAST_SIMILARITY = 0.35
"""What is less like the words is not found by meaning: with our embedder texts about one thing have
cosines of 0.4 and more, others of 0.2 and less. Graphiti's own 0.6 is for another embedder."""


class GraphitiSearch:
    """Searches through ``graphiti``, which belongs to the event loop it was opened in."""

    def __init__(self, graphiti: Graphiti, url: str) -> None:
        self.graphiti = graphiti
        self._url = url

    @classmethod
    @asynccontextmanager
    async def open(
        cls, url: str, *, graph: str = GRAPH, model: Callable[[], Any] | None = None
    ) -> AsyncIterator[GraphitiSearch]:
        """On the graph at ``url``, with its fulltext indexes made where they are missing; ``model``
        makes the LLMClient of Graphiti, for those who extract. Raises GraphitiMissing, GraphAway,
        GraphRefused."""
        async with GraphConnection(url) as connection:
            await connection.ready()
        # Modules of half a second, and weights; and a driver is made outside of the loop.
        graphiti = await asyncio.to_thread(_made, url, graph, model)
        try:
            await _translated(graphiti.driver.build_indices_and_constraints(), url)
            yield cls(graphiti, url)
        finally:
            await graphiti.driver.close()  # type: ignore[no-untyped-call]

    async def facts(
        self,
        words: str,
        groups: Chosen,
        *,
        limit: int = 10,
        center: str | None = None,
        over: bool = False,
    ) -> list[EntityEdge]:
        """Facts that fit best, the best first; near the entity ``center`` (a uuid) if given;
        ``over`` also those that hold no more. Raises GraphAway, GraphRefused."""
        from graphiti_core.search.search_config_recipes import (
            EDGE_HYBRID_SEARCH_NODE_DISTANCE,
            EDGE_HYBRID_SEARCH_RRF,
        )

        recipe = EDGE_HYBRID_SEARCH_RRF if center is None else EDGE_HYBRID_SEARCH_NODE_DISTANCE
        found = [
            await self._searched(words, ids, recipe, limit, _facts_filter(part, over), center)
            for ids, part in _scopes(groups)
            if part is None or part.facts
        ]
        return _merged([(one.edges, one.edge_reranker_scores) for one in found], limit)

    async def fact(self, uuid: str) -> EntityEdge | None:
        """The fact with this id. Raises GraphAway, GraphRefused."""
        from graphiti_core.edges import EntityEdge
        from graphiti_core.errors import EdgeNotFoundError

        work = EntityEdge.get_by_uuid(self.graphiti.driver, uuid)
        try:
            edge: EntityEdge = await _translated(work, self._url)
        except EdgeNotFoundError:
            return None
        return edge

    async def nodes(
        self, words: str, groups: Chosen, *, limit: int = 10, labels: Sequence[str] = ()
    ) -> list[EntityNode]:
        """Entities that fit best, the best first; with ``labels`` those that have one of them.
        Raises GraphAway, GraphRefused."""
        from graphiti_core.search.search_config_recipes import NODE_HYBRID_SEARCH_RRF

        found = []
        for ids, part in _scopes(groups):
            kinds = [label for label in labels if part is None or label in part.entities]
            if part is not None and not labels:
                kinds = list(part.entities)
            if kinds or (part is None and not labels):
                work = self._searched(
                    words, ids, NODE_HYBRID_SEARCH_RRF, limit, _nodes_filter(kinds)
                )
                found.append(await work)
        return _merged([(one.nodes, one.node_reranker_scores) for one in found], limit)

    async def _searched(
        self,
        words: str,
        ids: list[str] | None,
        recipe: SearchConfig,
        limit: int,
        chosen: SearchFilters,
        center: str | None = None,
    ) -> SearchResults:
        from graphiti_core.search.search import search
        from graphiti_core.search.search_config import SearchResults

        text = searchable(words)
        if not text:
            return SearchResults()
        # A copy: what is shared would carry one search's limit into another.
        config = recipe.model_copy(deep=True, update={"limit": limit})
        for part in (config.edge_config, config.node_config):
            if part is not None:
                part.sim_min_score = LEAST_SIMILARITY
        clients = self.graphiti.clients
        work = search(clients, text, ids, config, chosen, center_node_uuid=center)
        found: SearchResults = await _translated(work, self._url)
        return found


def _made(url: str, graph: str, model: Callable[[], Any] | None) -> Graphiti:
    demand_graphiti()
    from graphiti_core import Graphiti

    from dcf.knowledge.graphiti.clients import ByMeaning, NoModel, OurEmbedder
    from dcf.knowledge.graphiti.driver import OneGraphDriver

    embedder = load_embedder()
    return Graphiti(
        graph_driver=OneGraphDriver(url, graph),
        llm_client=NoModel() if model is None else model(),
        embedder=OurEmbedder(embedder),
        cross_encoder=ByMeaning(embedder),
    )


def _scopes(groups: Chosen) -> list[tuple[list[str] | None, Part | None]]:
    """(group ids, the part of the measured graph; None: all that they have) of each search."""
    if groups.everything:
        return [(None, None)]
    if groups.is_whole:
        return [([GRAPH, *groups.own], None)]
    found: list[tuple[list[str] | None, Part | None]] = []
    if groups.part is not None:
        found.append(([GRAPH], groups.part))
    if groups.own:
        found.append((list(groups.own), None))
    return found


def _facts_filter(part: Part | None, over: bool) -> SearchFilters:
    from graphiti_core.search.search_filters import ComparisonOperator, DateFilter, SearchFilters

    none = DateFilter(comparison_operator=ComparisonOperator.is_null)
    kinds = None if part is None else list(part.facts)
    return SearchFilters(edge_types=kinds, invalid_at=None if over else [[none]])


def _nodes_filter(labels: Sequence[str]) -> SearchFilters:
    from graphiti_core.search.search_filters import SearchFilters

    return SearchFilters(node_labels=list(labels) or None)


def _merged(found: Sequence[tuple[list[Any], list[float]]], limit: int) -> list[Any]:
    """The best of several searches, whose scores come from the same formula."""
    scored = [
        (score, one) for things, scores in found for one, score in zip(things, scores, strict=False)
    ]
    best = sorted(scored, key=lambda pair: -pair[0])
    return list({one.uuid: one for _, one in best}.values())[:limit]


async def _translated(work: Any, url: str) -> Any:
    """The result of ``work``, with the errors of the client as ours."""
    try:
        return await work
    except ValidationError as error:
        what = f"{error.error_count()} fields of {error.title}"
        reason = f"what was found was written neither by DCF nor by Graphiti: {what} are unusable"
        raise GraphRefused(reason=reason) from error
    except RedisError as error:
        reason = str(error).replace(url, redact(url)) or type(error).__name__
        if isinstance(error, (ConnectionError, TimeoutError, BusyLoadingError)):
            raise GraphAway(server=redact(url), reason=reason) from error
        raise GraphRefused(reason=reason) from error
