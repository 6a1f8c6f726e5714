"""Writes to the graph, which is prepared once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.cypher import Query, query
from dcf.knowledge.episode import Episode
from dcf.knowledge.errors import GraphRefused
from dcf.knowledge.insight_fact import InsightFact
from dcf.knowledge.insight_writing import insight_queries
from dcf.knowledge.meaning import Meanings
from dcf.knowledge.privacy import Privacy
from dcf.knowledge.session_writing import INDEXES as SESSION_INDEXES
from dcf.knowledge.session_writing import Revised, Telling
from dcf.knowledge.text_episode import TextEpisode
from dcf.knowledge.text_writing import text_queries
from dcf.knowledge.vectors import check_vectors
from dcf.knowledge.vocabulary import names_in, naming_query
from dcf.knowledge.writing import (
    INDEXES,
    batch_queries,
    distinct_entities,
    distinct_facts,
)

_KNOWN_ENTITIES = "UNWIND $ids AS id MATCH (n:Entity {uuid: id}) RETURN id"
_KNOWN_FACTS = "UNWIND $ids AS id MATCH ()-[x:RELATES_TO {uuid: id}]->() RETURN id"


class GraphWriter:
    """Writes what it is given, each time as one command; ``clock`` gives ms since the epoch."""

    def __init__(
        self,
        graph: GraphConnection,
        meanings: Meanings,
        privacy: Privacy,
        *,
        clock: Callable[[], int],
    ) -> None:
        self._graph = graph
        self._meanings = meanings
        self._privacy = privacy
        self._clock = clock
        self._prepared = False
        self._named: set[str] = set()

    async def episodes(self, episodes: Sequence[Episode]) -> None:
        """Write ``episodes``; what is there already counts once. Raises GraphAway, GraphRefused."""
        entities = [entity.uuid for entity in distinct_entities(episodes)]
        known = await self._known(_KNOWN_ENTITIES, entities)
        if not self._prepared or not known:
            # Also a graph that was emptied meanwhile.
            await self._prepare()
        known |= await self._known(_KNOWN_FACTS, [fact.uuid for fact in distinct_facts(episodes)])
        await self._write(batch_queries(episodes, self._meanings, self._clock(), known))

    async def insights(self, insights: Sequence[tuple[InsightFact, int]]) -> None:
        """Write ``insights``, each with its revision. Raises GraphAway, GraphRefused."""
        await self._prepare()
        await self._write(insight_queries(insights, self._meanings, self._privacy, self._clock()))

    async def session_records(self, records: Sequence[Revised]) -> None:
        """Write what sessions tell, each with its revision. Raises GraphAway, GraphRefused."""
        telling = Telling(records, self._privacy)
        known = await self._known(_KNOWN_ENTITIES, list(telling.entities))
        if not self._prepared or not known:
            await self._prepare()
        known |= await self._known(_KNOWN_FACTS, list(telling.facts))
        await self._write(telling.queries(self._meanings, self._clock(), known))

    async def texts(self, texts: Sequence[tuple[TextEpisode, int]]) -> None:
        """Write ``texts``, each with its place in their order. Raises GraphAway, GraphRefused."""
        await self._prepare()
        await self._write(text_queries(texts, self._meanings, self._privacy, self._clock()))

    async def _write(self, queries: Sequence[Query]) -> None:
        names = names_in(queries)
        if not names <= self._named:
            await self._graph.write([naming_query(names)])
            self._named |= names
        await self._graph.write(queries)

    async def _known(self, text: str, ids: Sequence[str]) -> set[str]:
        return {row[0] for row in await self._graph.read(text, ids=list(ids))}

    async def _prepare(self) -> None:
        """Make the indexes; without them a batch would look at every node. The graph may be a new
        one; one with vectors of another length is not written to."""
        self._named.clear()
        if not self._prepared:
            await check_vectors(self._graph)
        for index in (*INDEXES, *SESSION_INDEXES):
            try:
                await self._graph.write([query(index)])
            except GraphRefused as error:
                if "already indexed" not in str(error):
                    raise
        self._prepared = True
