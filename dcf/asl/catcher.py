"""Catch: where a state goes when an error is not retried any more."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.asl.dataflow import PutResult, read_result_path
from dcf.asl.error_match import ErrorNames, read_error_names
from dcf.asl.fields import check_fields
from dcf.asl.node import Node


@dataclass(frozen=True, slots=True)
class Catcher:
    """For these errors go to ``next``; ``put`` places ``{Error, Cause}`` into the raw input."""

    errors: ErrorNames
    next: str
    put: PutResult


def find_catcher(catchers: tuple[Catcher, ...], error: str) -> Catcher | None:
    """The first catcher that names ``error``."""
    for catcher in catchers:
        if catcher.errors.match(error):
            return catcher
    return None


_FIELDS = frozenset({"ErrorEquals", "Next", "ResultPath", "Comment"})
_LATER = {
    "Assign": "keep the error in the data with `ResultPath`",
    "Output": "use `ResultPath`",
}


def read_catchers(state: Node) -> tuple[Catcher, ...]:
    """The ``Catch`` of a state; problems go to its findings."""
    nodes = state.nodes("Catch")
    return tuple(_read_catcher(node, node is nodes[-1]) for node in nodes)


def _read_catcher(node: Node, last: bool) -> Catcher:
    later = [field for field in _LATER if field in node]
    for field in later:
        node.findings.not_supported(node.place(field), f"`{field}` in Catch", _LATER[field])
    check_fields(node, _FIELDS.union(later), "a catcher")
    target = node.text("Next", filled=True)
    if "Next" not in node:
        node.error("ASL_MISSING_FIELD", "", "a catcher needs `Next`", "name the next state")
    return Catcher(read_error_names(node, last), target or "", read_result_path(node))
