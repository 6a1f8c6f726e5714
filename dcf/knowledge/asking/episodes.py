"""Episodes, the newest first, and what can be taken away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dcf.knowledge.asking.errors import UnknownThing
from dcf.knowledge.asking.groups import Chosen, named
from dcf.knowledge.asking.looking import look
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.cypher import query
from dcf.knowledge.errors import KnowledgeError
from dcf.knowledge.schema import GRAPH
from dcf.knowledge.text_writing import document_uuid

AT_ONCE = 1_000
"""So many nodes are taken away in one query."""
_NEWEST = """MATCH (e:Episodic) %s RETURN e.uuid, e.name, e.content, e.created_at, e.source,
  e.source_description, e.group_id ORDER BY e.valid_at DESC LIMIT $limit"""
_GROUPS = "MATCH (n) RETURN n.group_id, count(n) ORDER BY n.group_id"
_MEASURED = {"StateOutcome", "WorkflowRun", "Delegation"}
_KINDS = ("Episodic", "Entity")


class EpisodeMeasured(KnowledgeError):
    """The episode {uuid} was measured: sums count it, and would be wrong if it were changed or
    gone."""

    code = "graph_measured"
    hint = (
        "texts can be written anew and deleted one by one, what was measured only deleted with its "
        "whole group"
    )


@dataclass(frozen=True, slots=True)
class EpisodeText:
    """An episode as Graphiti's tools show it."""

    uuid: str
    name: str
    content: str
    created_at: str
    source: str
    source_description: str
    group_id: str


async def newest_episodes(
    graph: GraphConnection, groups: Chosen, *, limit: int = 10
) -> list[EpisodeText]:
    """The newest by when they happened. Raises GraphAway, GraphRefused, QuestionTooWide."""
    where, given = _where(groups)
    rows = await look(graph, "the newest episodes", _NEWEST % where, **given, limit=limit)
    return [EpisodeText(*row) for row in rows]


async def groups_written(graph: GraphConnection) -> dict[str, int]:
    """The groups that there are, and how many nodes each has; "-" has those of no group, which
    others than DCF wrote."""
    return {named(group): n for group, n in await look(graph, "the groups", _GROUPS)}


async def is_measured(graph: GraphConnection, uuid: str) -> bool:
    """Whether ``uuid`` is that of an outcome, of a delegation or of the end of a run. Raises
    GraphAway, GraphRefused, QuestionTooWide."""
    text = "MATCH (e:Episodic {uuid: $uuid}) RETURN labels(e)"
    found = await look(graph, "an episode", text, uuid=uuid)
    return any(_MEASURED & set(labels) for (labels,) in found)


async def delete_text(graph: GraphConnection, uuid: str) -> EpisodeText:
    """Take a text away, with its document; what was in it. What a model found in it stays. Raises
    UnknownThing, EpisodeMeasured, GraphAway, GraphRefused."""
    text = _NEWEST.replace("RETURN", "RETURN labels(e),") % "WHERE e.uuid = $uuid"
    rows = await look(graph, "an episode", text, uuid=uuid, limit=1)
    if not rows:
        raise UnknownThing(kind="episode", name=uuid)
    labels, *fields = rows[0]
    if _MEASURED & set(labels):
        raise EpisodeMeasured(uuid=uuid)
    gone = "MATCH (n:%s {uuid: $uuid}) DETACH DELETE n"
    await graph.write(
        [
            query(gone % "Entity", uuid=document_uuid(uuid)),
            query(gone % "Episodic", uuid=uuid),
        ]
    )
    return EpisodeText(*fields)


async def delete_fact(graph: GraphConnection, uuid: str) -> str:
    """Take a fact away; its sentence. One that was measured comes back with the next outcome that
    says so. Raises UnknownThing, GraphAway, GraphRefused."""
    pattern = "MATCH ()-[x:RELATES_TO {uuid: $uuid}]->()"
    rows = await look(graph, "a fact", f"{pattern} RETURN x.fact", uuid=uuid)
    if not rows:
        raise UnknownThing(kind="fact", name=uuid)
    await graph.write([query(f"{pattern} DELETE x", uuid=uuid)])
    return str(rows[0][0])


async def clear_group(graph: GraphConnection, group: str) -> dict[str, int]:
    """Take away all nodes of ``group`` and their edges; how many there were of each kind. Raises
    GraphAway, GraphRefused."""
    gone: dict[str, int] = {}
    for kind in _KINDS:
        pattern = f"MATCH (n:{kind}) WHERE n.group_id = $group"
        while True:
            rows = await look(graph, "a group", f"{pattern} RETURN count(n)", group=group)
            left = rows[0][0] if rows else 0
            if not left:
                break
            gone[kind] = max(gone.get(kind, 0), left)
            text = f"{pattern} WITH n LIMIT $most DETACH DELETE n"
            await graph.write([query(text, group=group, most=AT_ONCE)])
    return gone


def _where(groups: Chosen) -> tuple[str, dict[str, Any]]:
    """A WHERE for a node ``e``, and its parameters."""
    if groups.everything:
        return "", {}
    # No "e.group_id IN $own": a stop word, looked up in an index, would end the server's process.
    terms = ["any(own IN $own WHERE e.group_id = own)"]
    given: dict[str, Any] = {"own": list(groups.own), "measured": GRAPH}
    if groups.is_whole:
        terms.append("e.group_id = $measured")
    elif groups.part is not None and groups.part.episodes:
        labels = " OR ".join(f"e:{label}" for label in groups.part.episodes)
        terms.append(f"(e.group_id = $measured AND ({labels}))")
    return f"WHERE {' OR '.join(terms)}", given
