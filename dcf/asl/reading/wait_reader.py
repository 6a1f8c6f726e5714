"""A Wait of a definition, read into its parsed form."""

from __future__ import annotations

from dcf.asl.dataflow import read_path
from dcf.asl.errors import QUERY_EVALUATION_ERROR, RUNTIME, EvaluationError
from dcf.asl.jsonata.expression import is_jsonata
from dcf.asl.jsonpath.absence import SHOWN
from dcf.asl.payload import JSON, excerpt, is_integer
from dcf.asl.reading.node import Node
from dcf.asl.reading.state_parts import Parts
from dcf.asl.reading.typed_field import read_amount, read_expected, refuse_timestamp
from dcf.asl.retrier import LARGEST
from dcf.asl.scope import Expression, Scope, constant
from dcf.asl.state import WaitState
from dcf.asl.timestamp import parse_second

_TIMES = ("Seconds", "SecondsPath", "Timestamp", "TimestampPath")


def read_wait(parts: Parts) -> WaitState:
    node = parts.node
    times = ("Seconds", "Timestamp") if parts.jsonata else _TIMES
    given = [field for field in times if field in node]
    if len(given) != 1:
        found = ", ".join(f"`{field}`" for field in given) or "none"
        names = ", ".join(f"`{field}`" for field in times)
        message = f"a Wait has exactly one time, found {found}"
        node.error("ASL_BAD_WAIT", "", message, f"keep one of {names}", fields=(*given,))
    if "SecondsPath" in given:
        return WaitState(**parts.common, seconds=_read_seconds_path(node))
    if "TimestampPath" in given:
        return WaitState(**parts.common, until=_read_timestamp_path(node))
    return WaitState(
        **parts.common,
        seconds=read_amount(node, "Seconds", parts.jsonata, 0, LARGEST),
        until=_read_timestamp(node, parts.jsonata),
    )


def _read_seconds_path(node: Node) -> Expression | None:
    find = read_path(node, "SecondsPath")
    if find is None:
        return None
    text = node.value["SecondsPath"]

    def read(scope: Scope) -> int:
        value = find(scope)
        if not is_integer(value) or value < 0:
            cause = (
                "The SecondsPath parameter does not reference a valid positive integer: "
                f"{text} == {_shown(value)}"
            )
            raise EvaluationError(RUNTIME, cause)
        return int(value)

    return read


def _read_timestamp_path(node: Node) -> Expression | None:
    find = read_path(node, "TimestampPath")
    if find is None:
        return None
    text = node.value["TimestampPath"]

    def read(scope: Scope) -> float:
        value = find(scope)
        moment = parse_second(value)
        if moment is None:
            cause = (
                "The TimestampPath parameter does not reference a valid ISO-8601 extended offset "
                f"date-time format string: {text} == {_shown(value)}"
            )
            raise EvaluationError(RUNTIME, cause)
        return moment

    return read


def _shown(value: JSON) -> str:
    return value if isinstance(value, str) else excerpt(value, SHOWN)


def _read_timestamp(node: Node, jsonata: bool) -> Expression | None:
    text = node.text("Timestamp")
    if text is None:
        return None
    if jsonata and is_jsonata(text):
        return _read_timestamp_expression(node, text)
    moment = parse_second(text)
    if moment is None:
        refuse_timestamp(node, "Timestamp")
    return constant(moment)


def _read_timestamp_expression(node: Node, text: str) -> Expression | None:
    find = read_expected(node, "Timestamp", "string")
    if find is None:
        return None

    def read(scope: Scope) -> float:
        value = find(scope)
        moment = parse_second(value)
        if moment is None:
            cause = (
                f"The JSONata expression '{text[2:-2].strip()}' specified for the field "
                f"'Timestamp' returned '{value}', which is not a valid ISO-8601 timestamp."
            )
            raise EvaluationError(QUERY_EVALUATION_ERROR, cause)
        return moment

    return read
