"""Catch: where a state goes when an error is not retried any more."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.asl.dataflow import read_result_path, read_template
from dcf.asl.error_match import ErrorNames, read_error_names
from dcf.asl.jsonata.flow import read_assign, read_jsonata
from dcf.asl.payload import JSON
from dcf.asl.reading.fields import check_fields, check_language_fields
from dcf.asl.reading.node import Node
from dcf.asl.scope import Expression, Scope


@dataclass(frozen=True, slots=True)
class Catcher:
    """For these errors go to ``next`` with ``output``, assigning ``variables``."""

    errors: ErrorNames
    next: str
    output: Expression
    variables: Expression | None = None


def find_catcher(catchers: tuple[Catcher, ...], error: str | None) -> int | None:
    """Index of the first catcher that names ``error``."""
    for index, catcher in enumerate(catchers):
        if catcher.errors.match(error):
            return index
    return None


_FIELDS = frozenset({"ErrorEquals", "Next", "Comment", "Assign"})


def read_catchers(state: Node, jsonata: bool) -> tuple[Catcher, ...]:
    """The ``Catch`` of a state; problems go to its findings."""
    nodes = state.nodes("Catch")
    return tuple(_read_catcher(node, node is nodes[-1], jsonata) for node in nodes)


def _read_catcher(node: Node, last: bool, jsonata: bool) -> Catcher:
    check_language_fields(node, jsonata, {"ResultPath"}, {"Output"})
    check_fields(node, _FIELDS | {"Output", "ResultPath"}, "a catcher")
    node.text("Comment")
    target = node.text("Next", filled=True)
    if "Next" not in node:
        node.missing("Next", "a catcher needs `Next`", "name the next state")
    return Catcher(
        read_error_names(node, last),
        target or "",
        _read_output(node, jsonata),
        read_assign(node) if jsonata else read_template(node, "Assign"),
    )


def _read_output(node: Node, jsonata: bool) -> Expression:
    """From a scope with ``$states.errorOutput`` to the input of the next state."""
    if jsonata:
        return read_jsonata(node, "Output") or _error_output
    put = read_result_path(node)
    return lambda scope: put(scope.states["input"], scope.states["errorOutput"])


def _error_output(scope: Scope) -> JSON:
    return scope.states["errorOutput"]
