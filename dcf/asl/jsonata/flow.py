"""A state's data flow in JSONata: Arguments, Output, Assign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from dcf.asl.dataflow import NO_VARIABLES, DataFlow
from dcf.asl.jsonata.expression import compile_jsonata_template, is_jsonata
from dcf.asl.payload import JSON
from dcf.asl.reading.node import Node
from dcf.asl.scope import Expression, Scope


@dataclass(frozen=True, slots=True)
class JsonataFlow:
    """The compiled fields; without ``Output`` the result is the output, else the input.

    The same methods as ``DataFlow``. ``$states.result`` is there once there is a result.
    """

    given: Expression | None = None
    made: Expression | None = None
    variables: Expression | None = None

    def effective_input(self, scope: Scope) -> JSON:
        """The raw input."""
        return scope.data

    def arguments(self, scope: Scope) -> JSON:
        """What the state's work is given: ``Arguments``, else the input."""
        if self.given is None:
            return scope.data
        given = self.given(scope)
        if scope.stages is not None:
            scope.note("afterArguments", given)
        return given

    def output(self, scope: Scope, raw: JSON, result: JSON) -> JSON:
        """``Output``, which may read ``$states.result``; else the result."""
        scope.states["result"] = result
        return result if self.made is None else self.made(scope)

    def leave(self, scope: Scope, combined: JSON) -> JSON:
        """``Output``, else ``combined``."""
        return combined if self.made is None else self.made(scope)

    def assign(self, scope: Scope, data: JSON) -> dict[str, JSON]:
        """The variables of ``Assign``; they read ``$states``, not ``data``."""
        if self.variables is None:
            return NO_VARIABLES
        assigned: dict[str, JSON] = self.variables(scope)
        return assigned


Flow: TypeAlias = DataFlow | JsonataFlow
"""The data flow of a state in its query language."""


def read_jsonata_flow(node: Node) -> JsonataFlow:
    """The data flow of a state that speaks JSONata."""
    return JsonataFlow(
        given=read_jsonata(node, "Arguments"),
        made=read_jsonata(node, "Output"),
        variables=read_assign(node),
    )


def read_jsonata(node: Node, field: str) -> Expression | None:
    """Any JSON whose ``{% … %}`` strings are evaluated; None when the field is absent."""
    if field not in node:
        return None
    return compile_jsonata_template(
        node.value[field], node.place(field), node.findings, node.inside + field
    )


def read_assign(node: Node) -> Expression | None:
    """``Assign``: an object of variables by name."""
    if "Assign" in node and not isinstance(node.value["Assign"], dict):
        node.wrong_type("Assign", "an object")
        return None
    return read_jsonata(node, "Assign")


def read_object(node: Node, field: str) -> Expression | None:
    """An object, or one expression that gives one; None when absent or wrong."""
    value = node.value.get(field)
    if field in node and not isinstance(value, dict) and not is_jsonata(value):
        node.wrong_type(field, "an object")
        return None
    return read_jsonata(node, field)
