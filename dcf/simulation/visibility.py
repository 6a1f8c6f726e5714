"""Which variables a state saw, from the documents of the frames around it."""

from __future__ import annotations

from control_plane import JSON, StateDocument, enclosing_joins, split_path
from dcf import asl
from dcf.simulation.evidence import Evidence


def visible_variables(evidence: Evidence, document: StateDocument) -> dict[str, JSON]:
    """What its own frame had assigned over what was visible at the join above, and so on up.

    Nothing is taken from fan-out records: they are what is to be checked. Raises LookupError.
    """
    own: dict[str, JSON] = evidence.value(document.variables) or {}
    joins = enclosing_joins(document.path)
    if not joins:
        return own
    parent, _ = joins[-1]
    state = evidence.order.document.machine.locate(list(split_path(parent)))
    if isinstance(state, asl.MapState) and state.is_distributed:
        return own
    return {**visible_variables(evidence, _opener(evidence, parent, document.round)), **own}


def _opener(evidence: Evidence, path: str, round_: int) -> StateDocument:
    """The visit of the join at ``path`` that opened ``round_``: rounds only grow."""
    visits = [
        document
        for name, document in evidence.documents.items()
        if name.partition("@")[0] == path and document.raw["ctl"]["rounds"] >= round_
    ]
    if not visits:
        raise LookupError(f"no visit of {path} opened round {round_}")
    return min(visits, key=lambda document: document.visit)
