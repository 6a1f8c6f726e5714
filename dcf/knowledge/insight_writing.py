"""The queries that write insights: entities whose latest state counts, and what they concern.

A vector is taken away before another is set, as in ``session_writing``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dcf.knowledge.cleaning import LONGEST, clean_json
from dcf.knowledge.cypher import Query, query
from dcf.knowledge.episode import Entity, iso
from dcf.knowledge.insight_fact import InsightFact
from dcf.knowledge.meaning import Meanings
from dcf.knowledge.naming import edge_uuid, entity_uuid
from dcf.knowledge.privacy import Privacy
from dcf.knowledge.schema import GRAPH
from dcf.knowledge.telling import skill_named, task_type
from dcf.knowledge.writing import entity_queries

EVIDENCE_RUNS = 100

_INSIGHTS = """UNWIND $rows AS r MERGE (n:Entity {uuid: r.uuid})
ON CREATE SET n.group_id = $group, n.created_at = r.at, n.revision = -1
WITH n, r WHERE n.revision <= r.revision
SET n:Insight, n.name = r.name, n.summary = r.name, n.revision = r.revision,
  n.name_embedding = NULL
SET n += r.more
WITH n, r SET n.name_embedding = vecf32(r.vector)"""
# Those that others speak of may come later, or never.
_NAMED = """UNWIND $rows AS r MERGE (n:Entity {uuid: r.uuid})
ON CREATE SET n.group_id = $group, n.created_at = r.at, n.revision = -1, n.name = r.id,
  n.insight_id = r.id, n.summary = '', n.name_embedding = vecf32(r.vector)
SET n:Insight"""
# What was over stays over, also when more is said of the insight, or its first account comes late.
_EDGES = """UNWIND $rows AS r
MATCH (a:Entity {uuid: r.a}) MATCH (b:Entity {uuid: r.b}) MERGE (a)-[x:RELATES_TO {uuid: r.uuid}]->(b)
ON CREATE SET x.group_id = $group, x.created_at = r.at, x.valid_at = r.at, x.episodes = [],
  x.name = r.name, x.revision = -1, x.source_node_uuid = r.a, x.target_node_uuid = r.b
WITH x, r, a WHERE x.revision <= r.revision
SET x.fact = r.text, x.revision = r.revision,
  x.invalid_at = coalesce(r.until, x.invalid_at, CASE r.name WHEN 'CONCERNS' THEN a.invalid_at END),
  x.fact_embedding = NULL
WITH x, r SET x.fact_embedding = vecf32(r.vector)"""  # noqa: E501
# Whatever an insight said that a newer one has superseded is over.
_SUPERSEDED = """UNWIND $rows AS r MATCH (o:Insight {uuid: r.b})
SET o.invalid_at = CASE WHEN o.invalid_at < r.at THEN o.invalid_at ELSE r.at END
WITH o, r MATCH (o)-[x:RELATES_TO]->() WHERE x.name = 'CONCERNS' AND x.invalid_at IS NULL
SET x.invalid_at = r.at"""


def insight_queries(
    insights: Sequence[tuple[InsightFact, int]], meanings: Meanings, privacy: Privacy, now: int
) -> list[Query]:
    """The queries that write ``insights``, each with its revision: a number that grows with each
    account of it, so that one that comes late changes nothing."""
    latest: dict[str, tuple[InsightFact, int]] = {}
    for insight, revision in insights:
        if insight.id not in latest or latest[insight.id][1] <= revision:
            latest[insight.id] = insight, revision
    texts = {id_: privacy.text(said.statement, LONGEST) for id_, (said, _) in latest.items()}
    vectors = meanings.of(texts.values())
    rows = [
        {
            "uuid": entity_uuid("Insight", said.id),
            "name": texts[said.id],
            "at": iso(said.created_at),
            "revision": revision,
            "vector": vectors[texts[said.id]],
            "more": _properties(said, privacy),
        }
        for said, revision in latest.values()
    ]
    edges = [
        {**edge, "text": texts[said.id], "vector": vectors[texts[said.id]], "revision": revision}
        for said, revision in latest.values()
        for edge in _edges(said)
    ]
    subjects = [subject for said, _ in latest.values() for subject in _subjects(said)]
    over = [edge for edge in edges if edge["name"] == "SUPERSEDES"]
    named = {id_: said for said, _ in latest.values() for id_ in _others(said)}
    ids = meanings.of(named)
    stubs = [
        {
            "uuid": entity_uuid("Insight", id_),
            "id": id_,
            "at": iso(by.created_at),
            "vector": ids[id_],
        }
        for id_, by in named.items()
    ]
    return [
        *entity_queries(subjects, meanings, now),
        query(_INSIGHTS, rows=rows, group=GRAPH),
        *([query(_NAMED, rows=stubs, group=GRAPH)] if stubs else []),
        *([query(_EDGES, rows=edges, group=GRAPH)] if edges else []),
        *([query(_SUPERSEDED, rows=over)] if over else []),
    ]


def _properties(said: InsightFact, privacy: Privacy) -> dict[str, Any]:
    return {
        "insight_id": said.id,
        "category": said.category,
        "statement": privacy.text(said.statement, LONGEST),
        "condition": clean_json(said.condition, privacy),
        "prefer": privacy.text(said.prefer, LONGEST),
        "avoid": privacy.text(said.avoid, LONGEST),
        "evidence": clean_json(said.evidence, privacy),
        "evidence_runs": list(said.evidence_runs[:EVIDENCE_RUNS]),
        "confidence": said.confidence,
        "valid_at": iso(said.created_at),
        "expires_at": said.expires_at,
        "taken": said.taken,
        "helped": said.helped,
        **({"invalid_at": iso(said.retracted_at)} if said.retracted_at is not None else {}),
    }


def _edges(said: InsightFact) -> Iterator[dict[str, Any]]:
    here = entity_uuid("Insight", said.id)
    until = iso(said.retracted_at) if said.retracted_at is not None else None
    there = [("CONCERNS", subject.uuid) for subject in _subjects(said)]
    there += [("SUPERSEDES", entity_uuid("Insight", other)) for other in said.supersedes]
    there += [("CONFLICTS_WITH", entity_uuid("Insight", other)) for other in said.conflicts_with]
    for name, target in dict.fromkeys(there):
        yield {
            "uuid": edge_uuid(name, here, target),
            "a": here,
            "b": target,
            "name": name,
            "at": iso(said.created_at),
            "until": until,
        }


def _others(said: InsightFact) -> tuple[str, ...]:
    return (*said.supersedes, *said.conflicts_with)


def _subjects(said: InsightFact) -> Iterable[Entity]:
    yield from map(task_type, said.task_types)
    yield from map(skill_named, said.skills)
