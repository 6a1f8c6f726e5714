"""A state's data flow in JSONPath: InputPath, Parameters, ResultSelector, ResultPath …"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from dcf.asl.errors import ExpressionError
from dcf.asl.jsonpath.path import compile_path
from dcf.asl.jsonpath.reference import ReferencePath
from dcf.asl.payload import JSON
from dcf.asl.reading.node import Node
from dcf.asl.scope import Expression, Scope
from dcf.asl.template import compile_template

PutResult: TypeAlias = Callable[[JSON, JSON], JSON]
"""From raw input and result to the combined output."""


def replace_input(_raw: JSON, result: JSON) -> JSON:
    """``ResultPath: "$"``, the default: the result is the output."""
    return result


def discard_result(raw: JSON, _result: JSON) -> JSON:
    """``ResultPath: null``: the input is the output."""
    return raw


@dataclass(frozen=True, slots=True)
class DataFlow:
    """The compiled fields; None stands for the default, which changes nothing.

    ``scope.stages``, where somebody looks, gets what each stage gave.
    """

    input_path: Expression | None = None
    parameters: Expression | None = None
    result_selector: Expression | None = None
    put_result: PutResult = replace_input
    output_path: Expression | None = None
    variables: Expression | None = None

    def effective_input(self, scope: Scope) -> JSON:
        """The raw input in ``scope.data`` through InputPath; stays there as ``scope.data``."""
        if self.input_path is not None:
            scope.data = self.input_path(scope)
        if scope.stages is not None:
            scope.note("afterInputPath", scope.data)
        return scope.data

    def arguments(self, scope: Scope) -> JSON:
        """What the state's work is given: the effective input through Parameters."""
        given = self.effective_input(scope)
        if self.parameters is not None:
            given = self.parameters(scope)
        if scope.stages is not None:
            scope.note("afterParameters", given)
        return given

    def output(self, scope: Scope, raw: JSON, result: JSON) -> JSON:
        """``result`` through ResultSelector, put into ``raw``, through OutputPath."""
        if self.result_selector is not None:
            scope.data = result
            result = self.result_selector(scope)
        combined = self.put_result(raw, result)
        if scope.stages is not None:
            scope.note("afterResultSelector", result)
            scope.note("afterResultPath", combined)
        return self.leave(scope, combined)

    def leave(self, scope: Scope, combined: JSON) -> JSON:
        """``combined`` through OutputPath."""
        if self.output_path is None:
            return combined
        scope.data = combined
        return self.output_path(scope)

    def assign(self, scope: Scope, data: JSON) -> dict[str, JSON]:
        """The variables of ``Assign``; ``data`` is its ``$``: the result, else the input."""
        if self.variables is None:
            return NO_VARIABLES
        scope.data = data
        assigned: dict[str, JSON] = self.variables(scope)
        return assigned


NO_VARIABLES: dict[str, JSON] = {}
"""What a state without ``Assign`` assigns: one object for all, never changed."""


def read_dataflow(node: Node, template: str | None = "Parameters") -> DataFlow:
    """The data flow of a state; ``template`` is the field that holds its parameters."""
    return DataFlow(
        input_path=_read_io_path(node, "InputPath"),
        parameters=read_template(node, template) if template is not None else None,
        result_selector=read_template(node, "ResultSelector"),
        put_result=read_result_path(node),
        output_path=_read_io_path(node, "OutputPath"),
        variables=read_template(node, "Assign"),
    )


def read_result_path(node: Node) -> PutResult:
    """``ResultPath`` of a state or catcher."""
    if "ResultPath" in node and node.value["ResultPath"] is None:
        return discard_result
    text = node.text("ResultPath")
    if text is None or text == "$":
        return replace_input
    try:
        return ReferencePath(text).put
    except ExpressionError as error:
        node.findings.expression(error, node.place("ResultPath"))
        return replace_input


def read_template(node: Node, field: str) -> Expression | None:
    """A payload template: an object; ``Parameters`` may be an array of such."""
    if field not in node:
        return None
    is_array = field == "Parameters" and isinstance(node.value[field], list)
    if not is_array and not isinstance(node.value[field], dict):
        node.wrong_type(field, "an object")
        return None
    return compile_template(node.value[field], node.place(field), node.findings)


def read_path(node: Node, field: str) -> Expression | None:
    """A path in a field of its own, such as ``ItemsPath``; None when absent or wrong."""
    text = node.text(field)
    if text is None:
        return None
    try:
        return compile_path(text, field)
    except ExpressionError as error:
        node.findings.expression(error, node.place(field))
        return None


def _read_io_path(node: Node, field: str) -> Expression | None:
    if field in node and node.value[field] is None:
        return _empty_object
    return None if node.value.get(field) == "$" else read_path(node, field)


def _empty_object(_: Scope) -> JSON:
    return {}
