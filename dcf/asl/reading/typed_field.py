"""Fields that must give a value of one kind: fixed, from a path, or from JSONata."""

from __future__ import annotations

import math
from collections.abc import Callable

from dcf.asl.errors import QUERY_EVALUATION_ERROR, RUNTIME, EvaluationError, ExpressionError
from dcf.asl.jsonata.expression import compile_jsonata, expect, is_jsonata
from dcf.asl.jsonpath.absence import SHOWN
from dcf.asl.jsonpath.path import compile_path
from dcf.asl.payload import JSON, excerpt, is_number
from dcf.asl.reading.node import Node
from dcf.asl.scope import Expression, Scope, constant
from dcf.asl.template import compile_value


def read_amount(
    node: Node,
    field: str,
    jsonata: bool,
    low: int,
    high: int,
    *,
    fraction: bool = False,
    within: bool = True,
) -> Expression | None:
    """``field`` as a number between ``low`` and ``high``; None when it is absent or wrong.

    Fixed, or in JSONata an expression, or in JSONPath a path in ``{field}Path``; a path may also
    find a number written as a string. Whole numbers only, unless ``fraction``. Without ``within``
    what is not fixed may be any number.
    """
    value = node.value.get(field)
    if jsonata and isinstance(value, str):
        error = QUERY_EVALUATION_ERROR
        found = read_expected(node, field, "number" if fraction else "integer")
    elif field in node:
        read = node.number if fraction else node.integer
        fixed = read(field, low, high)
        return None if fixed is None else constant(fixed)
    else:
        error = RUNTIME
        found = None if jsonata else _read_amount_path(node, field, fraction)
    if found is None or not within:
        return found
    if fraction:
        return _within(found, error, f"{field} must be between {low} and {high}.", low, high)
    least = _within(found, error, f"{field} cannot be negative.", 0)
    return _within(least, error, f"{field} must be between {low} and {high}.", low, high)


def read_expected(node: Node, field: str, *kinds: str) -> Expression | None:
    """The JSONata text in ``field``, checked to give one of ``kinds`` of JSON values."""
    text = node.value[field]
    if not is_jsonata(text):
        expected = f"{'an' if kinds[0][0] in 'aeiou' else 'a'} {kinds[0]}"
        message = f"`{field}` must be {expected}, found {excerpt(text)}"
        hint = f"write {expected}, or `{{% … %}}` around an expression that gives one"
        node.error("ASL_WRONG_TYPE", field, message, hint)
        return None
    try:
        name = node.inside + field
        return expect(compile_jsonata(text, name), text, name, *kinds)
    except ExpressionError as error:
        node.findings.expression(error, node.place(field))
        return None


def read_text(node: Node, field: str, jsonata: bool) -> Expression | None:
    """``field`` as a string: fixed, JSONata, or in JSONPath a path or intrinsic in
    ``{field}Path``. None when it is absent or wrong."""
    path = f"{field}Path"
    if not jsonata and path in node:
        return _read_text_path(node, path)
    text = node.text(field)
    if text is None:
        return None
    if jsonata and is_jsonata(text):
        return read_expected(node, field, "string")
    return constant(text)


def refuse_timestamp(node: Node, field: str) -> None:
    """Report that the text in ``field`` is no timestamp."""
    message = f"{excerpt(node.value[field])} is no RFC 3339 timestamp"
    node.error("ASL_BAD_TIMESTAMP", field, message, "write `2016-03-14T01:59:00Z`")


def _read_amount_path(node: Node, field: str, fraction: bool) -> Expression | None:
    path = f"{field}Path"
    text = node.text(path)
    if text is None:
        return None
    try:
        find = compile_path(text, path)
    except ExpressionError as error:
        node.findings.expression(error, node.place(path))
        return None
    parse: Callable[[JSON], JSON] = _parse_number if fraction else _parse_integer

    def read(scope: Scope) -> JSON:
        value = find(scope)
        number = parse(value)
        if number is None:
            shown = value if isinstance(value, str) else excerpt(value, SHOWN)
            what = "float" if fraction else "integer"
            cause = (
                f'The {path} field refers to value "{shown}" which is not a valid {what}: {text}'
            )
            raise EvaluationError(RUNTIME, cause)
        return number

    return read


def _within(
    find: Expression, error: str, cause: str, low: int, high: float = math.inf
) -> Expression:
    def read(scope: Scope) -> JSON:
        number = find(scope)
        if not low <= number <= high:
            raise EvaluationError(error, cause)
        return number

    return read


def _parse_integer(value: JSON) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str):
        digits = value[1:] if value[:1] in ("-", "+") else value
        return int(value) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None
    return value if isinstance(value, int) else None


def _parse_number(value: JSON) -> float | None:
    whole = _parse_integer(value)
    if whole is not None:
        return whole
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return value if is_number(value) and abs(value) < 1e20 else None


def _read_text_path(node: Node, path: str) -> Expression | None:
    text = node.text(path)
    if text is None:
        return None
    try:
        find = compile_value(text, path)
    except ExpressionError as error:
        node.findings.expression(error, node.place(path))
        return None

    def read(scope: Scope) -> JSON:
        value = find(scope)
        if not isinstance(value, str):
            shown = excerpt(value, SHOWN)
            cause = f"The {path} parameter does not reference a string: {text} == {shown}"
            raise EvaluationError(RUNTIME, cause)
        return value

    return read
