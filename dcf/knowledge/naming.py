"""Ids in the graph: uuid5 of what a node or an edge is, so that writing twice writes one thing."""

from __future__ import annotations

from functools import lru_cache
from uuid import UUID, uuid5

_SPACE = UUID("0dcf0dcf-0dcf-50dc-8dcf-0dcf0dcf0dcf")
# Stands in no name that DCF makes.
_BETWEEN = "\x1f"


@lru_cache(maxsize=65_536)
def graph_uuid(*parts: str) -> str:
    """The id of what ``parts`` name, its kind first."""
    return str(uuid5(_SPACE, _BETWEEN.join(parts)))


def entity_uuid(label: str, name: str) -> str:
    """The id of the entity ``name`` of kind ``label`` (see ``schema``)."""
    return graph_uuid("entity", label, name)


def edge_uuid(kind: str, source: str, target: str) -> str:
    """The id of the edge ``kind`` between two nodes, given by their ids."""
    return graph_uuid("edge", kind, source, target)


def state_outcome_uuid(run: str, path: str, visit: int) -> str:
    """The id of the episode of one visit of a state."""
    return graph_uuid("state", run, path, str(visit))


def run_uuid(run: str, redrives: int) -> str:
    """The id of the episode of one end of a run."""
    return graph_uuid("run", run, str(redrives))
