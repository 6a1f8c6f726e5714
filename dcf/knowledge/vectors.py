"""Whether the vectors that a graph has are as long as those that DCF makes, and making them anew.

The server compares no vectors of different length: a search over both fails as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.cypher import Query, query
from dcf.knowledge.errors import VectorsForeign
from dcf.knowledge.meaning import WIDTH, Meanings

SAMPLE = 50
"""So many of the oldest, and of the newest, are looked at of entities and of facts."""
_PAGE = 500
# What each is found by: as `session_writing` and `text_writing` make it, others by their names.
_KINDS: Mapping[str, tuple[str, str, str]] = {
    "name_embedding": (
        "MATCH (x:Entity)",
        "OPTIONAL MATCH (e:Text)-[:MENTIONS]->(x)",
        "CASE WHEN e.content IS NOT NULL THEN x.name + '. ' + e.content "
        "WHEN x.objective <> '' THEN x.objective ELSE x.name END",
    ),
    "fact_embedding": ("MATCH ()-[x:RELATES_TO]->()", "", "x.fact"),
}
_SOME = "{match} WHERE x.{field} IS NOT NULL RETURN x.{field} ORDER BY ID(x) {order} LIMIT $most"
_ALL = """{match} WHERE ID(x) >= $from AND x.{field} IS NOT NULL WITH x ORDER BY ID(x) LIMIT $page
{more} RETURN ID(x), x.{field}, {text}"""
# A vector is taken away before another is set, as in `session_writing`.
_ANEW = """UNWIND $rows AS r {match} WHERE ID(x) = r.id SET x.{field} = NULL
WITH x, r SET x.{field} = vecf32(r.vector)"""


async def widths(graph: GraphConnection) -> dict[int, int]:
    """How many numbers the vectors have that were looked at, the oldest and the newest of the
    graph: length -> how many of them. Raises GraphAway, GraphRefused."""
    found: Counter[int] = Counter()
    for field, (match, _, _) in _KINDS.items():
        for order in ("ASC", "DESC"):
            text = _SOME.format(match=match, field=field, order=order)
            found.update(_width(row[0]) for row in await graph.rows(text, most=SAMPLE))
    return dict(found)


async def check_vectors(graph: GraphConnection) -> None:
    """Raises VectorsForeign where the graph has vectors of another length, GraphAway,
    GraphRefused."""
    others = sorted(set(await widths(graph)) - {WIDTH})
    if others:
        told = ", ".join(map(str, others))
        raise VectorsForeign(server=graph.label, found=told, width=WIDTH)


async def made_anew(graph: GraphConnection, meanings: Meanings) -> int:
    """Make each vector of another length anew, from the text that it was made from; how many that
    were. What is interrupted can be done again. Raises GraphAway, GraphRefused."""
    n = 0
    for field, (match, more, text) in _KINDS.items():
        read = _ALL.format(match=match, field=field, more=more, text=text)
        write = _ANEW.format(match=match, field=field)
        begin = 0
        while rows := await graph.rows(read, **{"from": begin, "page": _PAGE}):
            begin = max(row[0] for row in rows) + 1
            wrong = {row[0]: str(row[2] or "") for row in rows if _width(row[1]) != WIDTH}
            if wrong:
                await graph.write([_query(write, wrong, meanings)])
                n += len(wrong)
    await graph.synced()
    return n


def _query(text: str, wrong: Mapping[int, str], meanings: Meanings) -> Query:
    vectors = meanings.of(wrong.values())
    rows = [{"id": id_, "vector": vectors[said]} for id_, said in wrong.items()]
    return query(text, rows=rows)


def _width(told: str) -> int:
    """The length of a vector as ``GraphConnection.rows`` tells it: ``<1.0, 2.0>``."""
    return told.count(",") + 1
