"""The queries of a batch. Each part of it is found by a deterministic id, so that a batch may be
written any number of times; each sum counts an episode once, by a mark that the same query sets.

An episode is counted in three places (``counted`` in STAT, ``counted_day`` in STAT_DAY,
``counted_facts`` in the support of facts); the mark holds the digest of what was counted. Told
differently later, it is first taken out again, by what its node and its edges still say.

Rows are summed up before any MERGE of edges: one edge twice in a batch ends the server's process.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dcf.knowledge.cypher import Literal, Query, literal, query
from dcf.knowledge.episode import Entity, Episode, Fact, iso
from dcf.knowledge.meaning import Meanings
from dcf.knowledge.naming import edge_uuid
from dcf.knowledge.schema import GRAPH, RECENT
from dcf.knowledge.telling import skill_of

SUPPORTING = 20
"""So many ids of episodes stand on a fact, the newest."""

_ENTITIES = """UNWIND $rows AS r MERGE (n:Entity {uuid: r.uuid})
ON CREATE SET n.name = r.name, n.group_id = $group, n.created_at = r.at, n.summary = r.summary,
  n.name_embedding = vecf32(r.vector)
SET n:%s SET n += r.more"""
# Not valid before an episode is counted for it.
_FACTS = """UNWIND $rows AS r
MATCH (a:Entity {uuid: r.a}) MATCH (b:Entity {uuid: r.b}) MERGE (a)-[x:RELATES_TO {uuid: r.uuid}]->(b)
ON CREATE SET x.name = r.name, x.group_id = $group, x.fact = r.text, x.created_at = r.at,
  x.valid_at = r.at, x.invalid_at = r.at, x.episodes = [], x.support = 0, x.source_node_uuid = r.a,
  x.target_node_uuid = r.b, x.fact_embedding = vecf32(r.vector)"""  # noqa: E501
_UNCOUNT = """UNWIND $rows AS r MATCH (e:Episodic {uuid: r.uuid}) WHERE e.%s <> r.digest
SET e.%s = NULL
WITH e MATCH (s:SkillVersion)<-[:MENTIONS]-(e)-[:MENTIONS]->(t:TaskType)
WITH s, t, %s AS %s, count(e) AS n, toInteger(sum(e.duration_ms)) AS ms,
  toInteger(sum(CASE e.status WHEN 'done' THEN 1 ELSE 0 END)) AS ok,
  toInteger(sum(CASE e.status WHEN 'done' THEN e.duration_ms ELSE 0 END)) AS ok_ms,
  sum(coalesce(e.cost_usd, 0.0)) AS cost, toInteger(sum(coalesce(e.tokens, 0))) AS tokens,
  toInteger(sum(e.tries)) AS tries,
  toInteger(sum(CASE WHEN e.escalated THEN 1 ELSE 0 END)) AS escalated
MATCH (s)-[k:%s]->(t) SET k.n = k.n - n, k.ok = k.ok - ok, k.duration_ms = k.duration_ms - ms,
  k.duration_ok_ms = k.duration_ok_ms - ok_ms, k.cost_usd = k.cost_usd - cost,
  k.tokens = k.tokens - tokens, k.tries = k.tries - tries,
  k.escalated = k.escalated - escalated%s"""
_WITHDRAW = """WITH e, r UNWIND e.entity_edges AS f WITH f, count(e) AS n, max(r.at) AS at
MATCH ()-[x:RELATES_TO {uuid: f}]->() WITH x, at, x.support - n AS left
SET x.support = left, x.invalid_at = CASE WHEN left <= 0 THEN at ELSE x.invalid_at END"""
_UNCOUNT_FACTS = f"""UNWIND $rows AS r MATCH (e:Episodic {{uuid: r.uuid}})
WHERE e.counted_facts <> r.digest SET e.counted_facts = NULL {_WITHDRAW}"""
_UNMENTION = """UNWIND $rows AS r MATCH (e:Episodic {uuid: r.uuid}) WHERE e.account <> r.digest
MATCH (e)-[m:MENTIONS]->() DELETE m"""
_EPISODES = """UNWIND $rows AS r MERGE (e:Episodic {uuid: r.uuid})
ON CREATE SET e.created_at = $now
SET e:%s SET e += r.fields"""
_MENTIONS = """UNWIND $rows AS r MATCH (e:Episodic {uuid: r.e}) MATCH (n:Entity {uuid: r.n})
MERGE (e)-[m:MENTIONS {uuid: r.uuid}]->(n)
ON CREATE SET m.group_id = $group, m.created_at = r.at"""
# An end of a run that came late: there is a later one already.
_OUTDATED = """UNWIND $rows AS r MATCH (l:WorkflowRun {run: r.run}) WHERE l.redrives > r.redrives
WITH r, min(l.valid_at) AS at MATCH (e:Episodic {uuid: r.uuid}) SET e.invalid_at = at"""
_REPLACED = f"""UNWIND $rows AS r MATCH (e:WorkflowRun {{run: r.run}})
WHERE e.redrives < r.redrives AND e.counted_facts IS NOT NULL
SET e.counted_facts = NULL, e.invalid_at = r.at {_WITHDRAW}"""
_COUNT = """UNWIND $rows AS r MATCH (e:Episodic {uuid: r.uuid}) WHERE e.%s IS NULL
SET e.%s = r.digest
WITH r UNWIND r.pairs AS p
WITH p.s AS s, p.t AS t, %s AS %s, count(r) AS n, toInteger(sum(r.ok)) AS ok,
  toInteger(sum(r.ms)) AS ms, toInteger(sum(r.ok_ms)) AS ok_ms,
  sum(r.cost) AS cost, toInteger(sum(r.tokens)) AS tokens, toInteger(sum(r.tries)) AS tries,
  toInteger(sum(r.escalated)) AS escalated, min(r.ended) AS first, max(r.ended) AS last
MATCH (a:SkillVersion {uuid: s}) MATCH (b:TaskType {uuid: t})
MERGE (a)-[k:%s]->(b)
SET k.n = coalesce(k.n, 0) + n, k.ok = coalesce(k.ok, 0) + ok,
  k.duration_ms = coalesce(k.duration_ms, 0) + ms,
  k.duration_ok_ms = coalesce(k.duration_ok_ms, 0) + ok_ms,
  k.cost_usd = coalesce(k.cost_usd, 0.0) + cost, k.tokens = coalesce(k.tokens, 0) + tokens,
  k.tries = coalesce(k.tries, 0) + tries, k.escalated = coalesce(k.escalated, 0) + escalated,
  k.first_at = CASE WHEN k.first_at < first THEN k.first_at ELSE first END,
  k.last_at = CASE WHEN k.last_at > last THEN k.last_at ELSE last END%s"""
_COUNT_FACTS = """UNWIND $rows AS r MATCH (e:Episodic {uuid: r.uuid})
WHERE e.counted_facts IS NULL AND e.invalid_at IS NULL SET e.counted_facts = r.digest
WITH e UNWIND e.entity_edges AS f
WITH f, count(e) AS n, min(e.valid_at) AS first, collect(e.uuid) AS said
MATCH ()-[x:RELATES_TO {uuid: f}]->()
WITH x, n, said, CASE WHEN x.valid_at < first THEN x.valid_at ELSE first END AS since
SET x.support = x.support + n, x.invalid_at = NULL, x.valid_at = since,
  x.episodes = (said + x.episodes)[0..$supporting]"""


@dataclass(frozen=True, slots=True)
class _Sum:
    """Sums on edges ``edge``, of what ``mark`` says is counted. ``by`` names something that is
    taken from episodes ``e``, and from rows ``r``; ``added`` and ``taken`` are what else is set
    when episodes are counted, and taken out again."""

    mark: str
    edge: str
    by: str
    of_episode: str
    of_row: str
    added: str = ""
    taken: str = ""

    def count(self, rows: Literal) -> Query:
        return query(
            _COUNT % (self.mark, self.mark, self.of_row, self.by, self.edge, self.added), rows=rows
        )

    def uncount(self, rows: Literal) -> Query:
        return query(
            _UNCOUNT % (self.mark, self.mark, self.of_episode, self.by, self.edge, self.taken),
            rows=rows,
        )


_SUMS = (
    _Sum(
        "counted",
        "STAT",
        by="ends",
        of_episode="collect(e.ended_at * 2 + CASE e.status WHEN 'done' THEN 1 ELSE 0 END)",
        of_row="collect(r.ended * 2 + r.ok)",
        # What comes late finds its place: the newest stay, in whatever order they are written.
        added=f", k.recent = list.sort(coalesce(k.recent, []) + ends)[-{RECENT}..]",
        taken=", k.recent = [x IN k.recent WHERE NOT x IN ends]",
    ),
    _Sum("counted_day", "STAT_DAY {day: day}", by="day", of_episode="e.day", of_row="r.day"),
)

INDEXES = (
    "CREATE INDEX FOR (n:SkillVersion) ON (n.uuid, n.name, n.skill)",
    "CREATE INDEX FOR (n:TaskType) ON (n.uuid, n.name)",
    "CREATE INDEX FOR (n:WorkflowRun) ON (n.run, n.workflow_id, n.ended_at, n.workflow_name)",
    "CREATE INDEX FOR (n:StateOutcome) ON (n.workflow_id, n.ended_at, n.task_type, n.status)",
    "CREATE INDEX FOR (n:Entity) ON (n.uuid, n.group_id, n.name, n.created_at)",
    "CREATE INDEX FOR (n:Episodic) ON (n.uuid, n.group_id, n.created_at, n.valid_at)",
    "CREATE INDEX FOR ()-[e:RELATES_TO]-() ON (e.uuid, e.group_id, e.name, e.created_at, "
    "e.expired_at, e.valid_at, e.invalid_at)",
    "CREATE INDEX FOR ()-[e:MENTIONS]-() ON (e.uuid, e.group_id)",
    "CREATE INDEX FOR ()-[e:STAT_DAY]-() ON (e.day)",
)
"""Ours, and Graphiti's own of what is written here (it makes the rest, fulltext among it)."""


def distinct_facts(episodes: Iterable[Episode]) -> list[Fact]:
    """The facts of ``episodes``, each once."""
    return list({fact.uuid: fact for episode in episodes for fact in episode.facts}.values())


def distinct_entities(episodes: Iterable[Episode]) -> list[Entity]:
    """The entities that ``episodes`` and their facts are about, each once."""
    return list({entity.uuid: entity for entity in _entities(episodes)}.values())


def batch_queries(
    episodes: Iterable[Episode], meanings: Meanings, now: int, known: Container[str] = ()
) -> list[Query]:
    """The queries that write ``episodes``, in order, to be run as one; ``now`` (ms) is when.
    Entities and facts whose ids are ``known`` to be there are not written again: their vectors are
    most of the text."""
    told = list({episode.uuid: episode for episode in episodes}.values())
    facts = [fact for fact in distinct_facts(told) if fact.uuid not in known]
    entities = [entity for entity in distinct_entities(told) if entity.uuid not in known]
    # As text once, for all the queries that want the same rows.
    counted = Literal(literal([_counted(episode) for episode in told]))
    marks = Literal(literal([_mark(episode) for episode in told]))
    queries: list[Query] = [*entity_queries(entities, meanings, now)]
    queries += fact_queries(facts, meanings, {f.uuid: e.at for e in told for f in e.facts})
    queries += [each.uncount(marks) for each in _SUMS]
    queries += [query(_UNCOUNT_FACTS, rows=marks), query(_UNMENTION, rows=marks)]
    queries += _episode_queries(told, now)
    ends = [
        {"uuid": e.uuid, "run": e.replaces[0], "redrives": e.replaces[1], "at": iso(e.at)}
        for e in told
        if e.replaces
    ]
    if ends:
        queries += [query(_OUTDATED, rows=ends), query(_REPLACED, rows=ends)]
    queries += [each.count(counted) for each in _SUMS]
    queries.append(query(_COUNT_FACTS, rows=marks, supporting=SUPPORTING))
    return queries


def entity_queries(entities: Iterable[Entity], meanings: Meanings, now: int) -> Iterator[Query]:
    """A query for each kind: labels cannot be parameters."""
    by_label: dict[str, dict[str, Entity]] = defaultdict(dict)
    for entity in entities:
        by_label[entity.label][entity.uuid] = entity
    for label, found in by_label.items():
        vectors = meanings.of(entity.name for entity in found.values())
        rows = [
            {
                "uuid": entity.uuid,
                "name": entity.name,
                "summary": entity.summary,
                "at": iso(now),
                "vector": vectors[entity.name],
                "more": dict(entity.properties),
            }
            for entity in found.values()
        ]
        yield query(_ENTITIES % label, rows=rows, group=GRAPH)


def fact_queries(
    facts: Sequence[Fact], meanings: Meanings, since: dict[str, int]
) -> Iterator[Query]:
    """The edges of ``facts``, each once; ``since`` when they were first seen (ms)."""
    if not facts:
        return
    vectors = meanings.of(fact.text for fact in facts)
    rows = [
        {
            "uuid": fact.uuid,
            "a": fact.source.uuid,
            "b": fact.target.uuid,
            "name": fact.name,
            "text": fact.text,
            "at": iso(since[fact.uuid]),
            "vector": vectors[fact.text],
        }
        for fact in facts
    ]
    yield query(_FACTS, rows=rows, group=GRAPH)


def _entities(episodes: Iterable[Episode]) -> Iterator[Entity]:
    for episode in episodes:
        yield from episode.mentions
        yield from map(skill_of, episode.versions)
        for fact in episode.facts:
            yield from (fact.source, fact.target)


def _episode_queries(told: Sequence[Episode], now: int) -> Iterator[Query]:
    by_label: dict[str, list[dict[str, Any]]] = defaultdict(list)
    mentions = []
    for episode in told:
        fields = {
            **episode.properties,
            "name": episode.name,
            "group_id": GRAPH,
            "source": "text",
            "source_description": episode.label,
            "content": episode.content,
            "valid_at": iso(episode.at),
            "entity_edges": [fact.uuid for fact in episode.facts],
            "account": episode.digest,
        }
        by_label[episode.label].append({"uuid": episode.uuid, "fields": fields})
        mentions += [
            {
                "e": episode.uuid,
                "n": entity.uuid,
                "uuid": edge_uuid("MENTIONS", episode.uuid, entity.uuid),
                "at": iso(episode.at),
            }
            for entity in dict.fromkeys(episode.mentions)
        ]
    for label, rows in by_label.items():
        yield query(_EPISODES % label, rows=rows, now=iso(now))
    yield query(_MENTIONS, rows=mentions, group=GRAPH)


def _counted(episode: Episode) -> dict[str, Any]:
    """What the sums want to know of an episode."""
    row: dict[str, Any] = {"uuid": episode.uuid, "digest": episode.digest, "pairs": []}
    tally, task = episode.tally, episode.task
    if tally is None or task is None:
        return row
    return {
        **row,
        "pairs": [
            {"s": version.uuid, "t": task.uuid} for version in dict.fromkeys(episode.versions)
        ],
        "day": episode.day,
        "ended": episode.at,
        "ok": tally.ok,
        "ms": tally.duration_ms,
        "ok_ms": tally.duration_ms if tally.ok else 0,
        "cost": tally.cost_usd,
        "tokens": tally.tokens,
        "tries": tally.tries,
        "escalated": tally.escalated,
    }


def _mark(episode: Episode) -> dict[str, Any]:
    """What says whether an episode is counted as it is told now."""
    return {"uuid": episode.uuid, "digest": episode.digest, "at": iso(episode.at)}
