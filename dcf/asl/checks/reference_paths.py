"""Fields that take a Reference Path: one that can only name a single place."""

from __future__ import annotations

from dcf.asl.errors import ExpressionError
from dcf.asl.intrinsics.catalogue import INTRINSICS
from dcf.asl.intrinsics.syntax import BAD_INTRINSIC, parse_call
from dcf.asl.jsonpath.syntax import parse_path
from dcf.asl.reading.node import Node

_FIELDS = {
    "ItemsPath": True,
    "SecondsPath": True,
    "TimestampPath": True,
    "TimeoutSecondsPath": True,
    "HeartbeatSecondsPath": True,
    "ErrorPath": True,
    "CausePath": True,
    "MaxConcurrencyPath": False,
    "ToleratedFailureCountPath": False,
    "ToleratedFailurePercentagePath": False,
    "MaxItemsPerBatchPath": False,
    "MaxInputBytesPerBatchPath": False,
    "MaxItemsPath": False,
}
"""Each with whether its path may lead into the context object."""

_CALLED = ("ErrorPath", "CausePath")
_TEXTS = (
    *("ArrayGetItem", "Base64Decode", "Base64Encode", "Format", "Hash", "JsonToString"),
    "UUID",
)
"""Functions that can give the text that these fields are (developer guide, Fail state)."""


def check_reference_paths(node: Node) -> None:
    """Report each path of ``node`` that may name several places, or a place it must not.

    As Step Functions documents it: fields and indexes only; no filters, lists, slices and
    functions. ``ResultPath``, which is written to, has rules of its own.
    """
    for field, context in _FIELDS.items():
        text = node.value.get(field)
        if isinstance(text, str) and text.startswith("States.") and field in _CALLED:
            _check_call(node, field, text)
        elif isinstance(text, str):
            _check(node, field, text, context)


def _check_call(node: Node, field: str, text: str) -> None:
    try:
        name = parse_call(text.rstrip()).name
    except ExpressionError:
        return  # reported where it is compiled
    if name in INTRINSICS and name not in _TEXTS:
        message = f"`States.{name}` gives no text, which `{field}` must be"
        node.error(BAD_INTRINSIC, field, message, f"call one of {', '.join(_TEXTS)}")


def _check(node: Node, field: str, text: str, context: bool) -> None:
    try:
        syntax = parse_path(text)
    except ExpressionError:
        return  # reported where it is compiled, or an intrinsic call
    if not syntax.is_definite or (syntax.root == "$$" and not context):
        message = f"`{text}` is not a reference path: it must name exactly one place in the data"
        hint = "use fields and indexes only, for example `$.order.items`"
        node.error("ASL_BAD_REFERENCE_PATH", field, message, hint)
