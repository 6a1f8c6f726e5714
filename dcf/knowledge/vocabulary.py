"""The names that queries use, made known to a graph before the queries are planned.

The server looks names up when it plans a query. One that it does not know by then stays unknown
until the query ends, even if an earlier part of it, or another query meanwhile, has written it:
marks are not seen then, and edges are made a second time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dcf.knowledge.cypher import Query, query

_TYPE = re.compile(r"\[\w*:(\w+)")
_LABEL = re.compile(r"(?<=[\w(]):([A-Z]\w*)")
_PROPERTY = re.compile(r"\b[a-z]\w*\.([a-z]\w*)|[{,]\s*(\w+):")


def names_in(queries: Iterable[Query]) -> set[str]:
    """Labels, types of edges and properties of ``queries``, as Cypher writes them: ``:Label``,
    ``[:TYPE]``, ``.property``."""
    found: set[str] = set()
    for text in {one.text for one in queries}:
        types = set(_TYPE.findall(text))
        found |= {f"[:{name}]" for name in types}
        found |= {f":{name}" for name in set(_LABEL.findall(text)) - types}
        found |= {f".{one or other}" for one, other in _PROPERTY.findall(text)}
    return found


def naming_query(names: Iterable[str]) -> Query:
    """A query that makes ``names`` (at least one) known and leaves nothing else behind."""
    known = sorted(names)
    labels = "".join(name for name in known if name[0] == ":")
    # A node of its own, so that no index ever sees them.
    properties = ", ".join(f"{name[1:]}: 0" for name in known if name[0] == ".")
    edges = "".join(f", (a)-{name}->(a)" for name in known if name[0] == "[")
    return query(f"CREATE (a{labels}), (b {{{properties}}}){edges} DELETE a, b")
