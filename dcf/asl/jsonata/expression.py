"""JSONata fields compiled once into functions of the scope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dcf.asl.errors import QUERY_EVALUATION_ERROR, EvaluationError, ExpressionError
from dcf.asl.evaluation_budget import Budget, LimitReached
from dcf.asl.jsonata.evaluation import Evaluation
from dcf.asl.jsonata.functions import FUNCTION_NAMES, FUNCTIONS
from dcf.asl.jsonata.library import JException, Jsonata
from dcf.asl.jsonata.native import ExactSignature
from dcf.asl.jsonata.predicate import is_steady
from dcf.asl.jsonata.shortcut import Shortcut, read_shortcut
from dcf.asl.jsonata.syntax import expression_text, is_jsonata, parse_jsonata, reason
from dcf.asl.jsonata.value import NULL, NotData, plain
from dcf.asl.payload import JSON, MAX_DEPTH, excerpt, is_integer, kind
from dcf.asl.reading.findings import Findings, child
from dcf.asl.scope import Expression, Scope, constant
from dcf.asl.timestamp import parse_timestamp

__all__ = ["compile_jsonata", "compile_jsonata_template", "expect", "is_jsonata"]

SHOWN = 16_384
"""Most characters of a value that a cause repeats."""


def compile_jsonata(text: str, field: str) -> Expression:
    """``text``, ``{% … %}``, as a function of the scope; ``field`` names the place for causes.

    Raises ExpressionError for text that is not JSONata. At run time whatever goes wrong, an
    undefined result included, is ``States.QueryEvaluationError``.
    """
    inner = expression_text(text)
    tree = parse_jsonata(inner)
    shortcut = read_shortcut(tree, _read_index)
    if shortcut is None:
        return _evaluator(tree, inner, field)
    # The tree takes 2.5 KB a node and is rarely needed here.
    return _try_shortcut(shortcut, _evaluator(None, inner, field))


def compile_jsonata_template(
    value: JSON, pointer: str, findings: Findings, field: str
) -> Expression:
    """Any JSON whose JSONata strings are evaluated and whose rest stays as it is.

    What is wrong goes to ``findings`` at ``pointer``; ``field`` names the place for causes.
    """
    part = _compile(value, pointer, findings, field, MAX_DEPTH)
    return part if part is not None else constant(value)


def expect(expression: Expression, text: str, field: str, *kinds: str) -> Expression:
    """``expression`` whose value must be one of ``kinds``.

    Kinds are the names of JSON types, ``integer`` and ``timestamp``; the first names what was
    expected. Another value is ``States.QueryEvaluationError``.
    """
    accepts = tuple(_KINDS[name] for name in kinds)
    inner = expression_text(text)

    def read(scope: Scope) -> JSON:
        value = expression(scope)
        if any(accept(value) for accept in accepts):
            return value
        raise EvaluationError(
            QUERY_EVALUATION_ERROR,
            f"{_named(inner, field)} returned an unexpected result type. Expected '{kinds[0]}', "
            f"but was '{kind(value)}' for value: {excerpt(value, SHOWN)}",
        )

    return read


_KINDS: dict[str, Callable[[JSON], bool]] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": is_integer,
    "null": lambda value: value is None,
    "number": lambda value: kind(value) == "number",
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
    "timestamp": lambda value: parse_timestamp(value) is not None,
}


def _try_shortcut(shortcut: Shortcut, evaluate: Expression) -> Expression:
    def read(scope: Scope) -> JSON:
        found, value = shortcut(scope)
        return value if found else evaluate(scope)

    return read


def _read_index(tree: Any) -> Shortcut | None:
    """An index that no item changes, evaluated without the array that it is used on."""
    if not is_steady(tree):
        return None

    evaluate = _evaluator(tree, "", "")

    def read(scope: Scope) -> tuple[bool, JSON]:
        try:
            return True, evaluate(scope)
        except EvaluationError:  # the evaluator of the whole expression will say it
            return False, None

    return read


def _evaluator(tree: Any, text: str, field: str) -> Expression:
    def read(scope: Scope) -> JSON:
        nonlocal tree
        if tree is None:
            tree = parse_jsonata(text)
        budget = Budget()
        try:
            result = Evaluation(scope, budget).run(tree, _root(scope))
            value = plain(result, budget)
        except NotData:
            raise _failed(text, field, "returned an unsupported result type.") from None
        except Exception as error:
            why = _why(error)
            raise _failed(text, field, f"threw an error during evaluation: {why}") from error
        if result is None:
            raise _failed(text, field, "returned nothing (undefined).")
        return value

    return read


def _root(scope: Scope) -> Any:
    """The frame with everything that an expression may name."""
    frame = Jsonata.Frame(_STATIC)
    bindings = frame.bindings
    for name, value in scope.variables.items():
        bindings[name] = NULL if value is None else value
    bindings["states"] = scope.states
    return frame


def _static() -> Any:
    frame = Jsonata.Frame(None)
    for name, function in Jsonata.static_frame.bindings.items():
        if name in FUNCTION_NAMES:
            function.signature.__class__ = ExactSignature
            frame.bindings[name] = function
    frame.bindings.update(FUNCTIONS)
    return frame


_STATIC = _static()


def _why(error: Exception) -> str:
    if isinstance(error, LimitReached):
        return str(error)
    if isinstance(error, JException):
        return reason(error)
    if isinstance(error, RecursionError):
        return "Stack overflow error: Check for non-terminating recursive function."
    # The text of any other error is about Python, not about the expression.
    return "the expression cannot be evaluated with these values"


def _named(text: str, field: str) -> str:
    return f"The JSONata expression '{text}' specified for the field '{field}'"


def _failed(text: str, field: str, what: str) -> EvaluationError:
    return EvaluationError(QUERY_EVALUATION_ERROR, f"{_named(text, field)} {what}")


def _compile(
    value: JSON, pointer: str, findings: Findings, field: str, depth: int
) -> Expression | None:
    """None for what is the same in every evaluation."""
    if isinstance(value, str):
        return _compile_text(value, pointer, findings, field)
    if not isinstance(value, (dict, list)):
        return None
    if depth == 0:
        message = f"the value nests deeper than {MAX_DEPTH}"
        findings.error("ASL_TOO_DEEP", pointer, message, "nest less: at most 100 levels")
        return None
    if isinstance(value, dict):
        return _compile_object(value, pointer, findings, field, depth)
    return _compile_array(value, pointer, findings, field, depth)


def _compile_text(value: str, pointer: str, findings: Findings, field: str) -> Expression | None:
    if not is_jsonata(value):
        return None
    try:
        return compile_jsonata(value, field)
    except ExpressionError as error:
        findings.expression(error, pointer)
        return None


def _compile_object(
    value: dict[str, JSON], pointer: str, findings: Findings, field: str, depth: int
) -> Expression | None:
    readers: list[tuple[str, Expression]] = []
    for key, item in value.items():
        part = _compile(item, child(pointer, key), findings, f"{field}/{key}", depth - 1)
        if part is not None:
            readers.append((key, part))
    if not readers:
        return None
    fixed = tuple(readers)

    def build(scope: Scope) -> JSON:
        filled = dict(value)
        for key, read in fixed:
            filled[key] = read(scope)
        return filled

    return build


def _compile_array(
    value: list[JSON], pointer: str, findings: Findings, field: str, depth: int
) -> Expression | None:
    parts = [
        _compile(item, child(pointer, index), findings, f"{field}[{index}]", depth - 1)
        for index, item in enumerate(value)
    ]
    if not any(parts):
        return None
    readers = tuple(
        part if part is not None else constant(item)
        for part, item in zip(parts, value, strict=True)
    )
    return lambda scope: [read(scope) for read in readers]
