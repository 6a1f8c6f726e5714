"""The graph as a file: nodes and edges, one JSON object a line, as they are read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from dcf.knowledge.asking.groups import Chosen
from dcf.knowledge.asking.looking import look
from dcf.knowledge.connection import GraphConnection

PAGE = 500
_WHAT = "the export"
_NODES = "MATCH (n) WHERE ID(n) >= $from RETURN n ORDER BY ID(n) LIMIT $page"
_EDGES = """MATCH (a)-[e]->(b) WHERE ID(a) >= $from AND ID(a) <= $to
RETURN e, a.uuid, b.uuid, labels(a), labels(b), a.group_id, b.group_id"""
# Vectors are made again from the texts wherever they are needed.
_VECTORS = ("name_embedding", "fact_embedding", "content_embedding")


async def exported(graph: GraphConnection, groups: Chosen) -> AsyncIterator[dict[str, Any]]:
    """``{"node": uuid, "labels", "properties"}`` for each node, then ``{"edge": type, "from",
    "to", "properties"}`` for each edge both ends of which are in ``groups``; without vectors. A
    page at a time: what is written meanwhile may be in it or not. Raises GraphAway, GraphRefused,
    QuestionTooWide."""
    at = 0
    ranges: list[tuple[int, int]] = []
    while rows := await look(graph, _WHAT, _NODES, **{"from": at, "page": PAGE}):
        ranges.append((rows[0][0].id, rows[-1][0].id))
        at = ranges[-1][1] + 1
        for (node,) in rows:
            if groups.takes(node.labels, node.properties.get("group_id")):
                yield {
                    "node": node.properties.get("uuid"),
                    "labels": sorted(node.labels),
                    "properties": _plain(node.properties),
                }
    for first, last in ranges:
        # By where they begin: no page has to look at all edges.
        found = await look(graph, _WHAT, _EDGES, **{"from": first, "to": last})
        for edge, source, target, labels, others, group, other in found:
            if groups.takes(labels, group) and groups.takes(others, other):
                yield {
                    "edge": edge.relation,
                    "from": source,
                    "to": target,
                    "properties": _plain(edge.properties),
                }


def _plain(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if name not in _VECTORS}
