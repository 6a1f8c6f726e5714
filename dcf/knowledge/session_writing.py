"""The queries that write what sessions tell: of each record the account that was told last holds,
in whatever order they come. What one of them names and nobody has told yet is there by its name.

Facts only grow, by whatever account, and hold since the earliest.

A vector is taken away before another is set: to the server two are the same when no number of them
differs by 1 or more, and then it keeps the one that it has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from dcf.knowledge.cypher import Query, query
from dcf.knowledge.episode import Entity, Fact, iso
from dcf.knowledge.meaning import Meanings
from dcf.knowledge.naming import edge_uuid
from dcf.knowledge.privacy import Privacy
from dcf.knowledge.schema import GRAPH
from dcf.knowledge.session_fact import SessionRecord
from dcf.knowledge.session_telling import ToldNode, tell_record
from dcf.knowledge.writing import entity_queries

_NODES = """UNWIND $rows AS r MERGE (n:Entity {uuid: r.uuid})
ON CREATE SET n.group_id = $group, n.created_at = $now, n.revision = -1
WITH n, r WHERE n.revision <= r.revision
SET n:%s, n.name = r.name, n.summary = r.text, n.revision = r.revision,
  n.name_embedding = NULL
SET n += r.fields
WITH n, r SET n.name_embedding = vecf32(r.vector)"""
_SESSIONS_NAMED = """UNWIND $rows AS r MERGE (n:Entity {uuid: r.uuid})
ON CREATE SET n.group_id = $group, n.created_at = $now, n.revision = -1, n.name = r.name,
  n.session_id = r.name, n.summary = '', n.name_embedding = vecf32(r.vector)
SET n:Session"""
# Nothing else is written over that has such an id: it has no revision.
_DELEGATIONS = """UNWIND $rows AS r MERGE (e:Episodic {uuid: r.uuid})
ON CREATE SET e.created_at = $now, e.revision = -1
WITH e, r WHERE e.revision <= r.revision
SET e:Delegation, e.revision = r.revision, e.group_id = $group, e.source = 'text',
  e.source_description = 'Delegation', e.entity_edges = r.facts, e.name = r.name,
  e.content = r.text, e.valid_at = r.ended
SET e += r.fields"""
_UNMENTION = """UNWIND $rows AS r MATCH (e:Episodic {uuid: r.uuid}) WHERE e.revision = r.revision
MATCH (e)-[m:MENTIONS]->(n) WHERE NOT n.uuid IN r.mentions DELETE m"""
_MENTIONS = """UNWIND $rows AS r MATCH (e:Episodic {uuid: r.e}) WHERE e.revision = r.revision
MATCH (n:Entity {uuid: r.n}) MERGE (e)-[m:MENTIONS {uuid: r.uuid}]->(n)
ON CREATE SET m.group_id = $group, m.created_at = $now"""
_FACTS = """UNWIND $rows AS r
MATCH (a:Entity {uuid: r.a}) MATCH (b:Entity {uuid: r.b}) MERGE (a)-[x:RELATES_TO {uuid: r.uuid}]->(b)
ON CREATE SET x.name = r.name, x.group_id = $group, x.fact = r.text, x.created_at = $now,
  x.valid_at = r.at, x.episodes = [], x.revision = -1, x.source_node_uuid = r.a,
  x.target_node_uuid = r.b, x.fact_embedding = vecf32(r.vector)"""  # noqa: E501
_EARLIER = """UNWIND $rows AS r MATCH ()-[x:RELATES_TO {uuid: r.uuid}]->() WHERE r.at < x.valid_at
SET x.valid_at = r.at"""
_RESTATED = """UNWIND $rows AS r MATCH ()-[x:RELATES_TO {uuid: r.uuid}]->()
WHERE x.revision <= r.revision
SET x.revision = r.revision, x.fact = r.text, x.fact_embedding = NULL
WITH x, r SET x.fact_embedding = vecf32(r.vector)"""

INDEXES = (
    "CREATE INDEX FOR (n:Delegation) ON (n.task_id, n.workflow_id, n.session_id, n.ended_at, "
    "n.task_type, n.status)",
    "CREATE INDEX FOR (n:Session) ON (n.session_id, n.began_at)",
)

Revised = tuple[SessionRecord, int]
"""A record, and a number that grows with each account of it."""


class Telling:
    """``records``, each with its revision, on their way into the graph."""

    def __init__(self, records: Iterable[Revised], privacy: Privacy) -> None:
        told = [(tell_record(record, privacy), revision) for record, revision in records]
        self._told = sorted(told, key=lambda one: one[1])
        self._last = {node.uuid: (node, revision) for node, revision in self._told}

    @property
    def entities(self) -> dict[str, Entity]:
        """What is named beside the records themselves, by id."""
        named = [one for node, _ in self._told for one in _named(node)]
        return {one.uuid: one for one in named if one.uuid not in self._last}

    @property
    def facts(self) -> dict[str, Fact]:
        """Each fact by its id, as it was told last."""
        return {fact.uuid: fact for node, _ in self._told for fact in node.facts}

    def queries(self, meanings: Meanings, now: int, known: Container[str] = ()) -> list[Query]:
        """The queries, in order, to be run as one; ``now`` (ms) is when. Entities and facts whose
        ids are ``known`` to be there are not made again: their vectors are most of the text."""
        new = [one for uuid, one in self.entities.items() if uuid not in known]
        sessions = [one for one in new if one.label == "Session"]
        others = [one for one in new if one.label != "Session"]
        queries: list[Query] = [*entity_queries(others, meanings, now)]
        queries += self._node_queries(meanings, now)
        if sessions:
            queries.append(_sessions_named(sessions, meanings, now))
        queries += self._mention_queries(now)
        queries += self._fact_queries(meanings, now, known)
        return queries

    def _node_queries(self, meanings: Meanings, now: int) -> Iterator[Query]:
        vectors = meanings.of(node.text for node, _ in self._last.values() if node.label)
        by_label: dict[str | None, list[dict[str, Any]]] = defaultdict(list)
        for node, revision in self._last.values():
            row = {
                "uuid": node.uuid,
                "name": node.name,
                "text": node.text,
                "revision": revision,
                "fields": node.fields,
            }
            if node.label is None:
                facts = [fact.uuid for fact in node.facts]
                row |= {"facts": facts, "ended": iso(node.fields["ended_at"])}
            else:
                row["vector"] = vectors[node.text]
            by_label[node.label].append(row)
        for label, rows in by_label.items():
            text = _DELEGATIONS if label is None else _NODES % label
            yield query(text, rows=rows, group=GRAPH, now=iso(now))

    def _mention_queries(self, now: int) -> Iterator[Query]:
        rows, edges = [], []
        for node, revision in self._last.values():
            if node.label is not None:
                continue
            there = [one.uuid for one in dict.fromkeys(node.mentions)]
            rows.append({"uuid": node.uuid, "revision": revision, "mentions": there})
            edges += [
                {
                    "e": node.uuid,
                    "n": uuid,
                    "revision": revision,
                    "uuid": edge_uuid("MENTIONS", node.uuid, uuid),
                }
                for uuid in there
            ]
        if rows:
            yield query(_UNMENTION, rows=rows)
            yield query(_MENTIONS, rows=edges, group=GRAPH, now=iso(now))

    def _fact_queries(self, meanings: Meanings, now: int, known: Container[str]) -> Iterator[Query]:
        facts = self.facts
        since: dict[str, int] = {}
        restated: dict[str, int] = {}
        for node, revision in self._told:
            for fact in node.facts:
                since[fact.uuid] = min(node.at, since.get(fact.uuid, node.at))
                if node.restated:
                    restated[fact.uuid] = revision
        new = [fact for uuid, fact in facts.items() if uuid not in known]
        vectors = meanings.of(facts[uuid].text for uuid in {*(one.uuid for one in new), *restated})
        made = [
            {
                "uuid": fact.uuid,
                "a": fact.source.uuid,
                "b": fact.target.uuid,
                "name": fact.name,
                "text": fact.text,
                "at": iso(since[fact.uuid]),
                "vector": vectors[fact.text],
            }
            for fact in new
        ]
        if made:
            yield query(_FACTS, rows=made, group=GRAPH, now=iso(now))
        earlier = [{"uuid": uuid, "at": iso(at)} for uuid, at in since.items()]
        yield query(_EARLIER, rows=earlier)
        if restated:
            said = [
                {
                    "uuid": uuid,
                    "revision": revision,
                    "text": facts[uuid].text,
                    "vector": vectors[facts[uuid].text],
                }
                for uuid, revision in restated.items()
            ]
            yield query(_RESTATED, rows=said)


def _named(node: ToldNode) -> Iterator[Entity]:
    yield from node.mentions
    for fact in node.facts:
        yield from (fact.source, fact.target)


def _sessions_named(sessions: Sequence[Entity], meanings: Meanings, now: int) -> Query:
    vectors = meanings.of(one.name for one in sessions)
    rows = [{"uuid": one.uuid, "name": one.name, "vector": vectors[one.name]} for one in sessions]
    return query(_SESSIONS_NAMED, rows=rows, group=GRAPH, now=iso(now))
