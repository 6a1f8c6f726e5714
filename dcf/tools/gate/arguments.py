"""Whether the arguments of a call fit the tool's JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcf.tools.document import pointer

_FAULTS = 20
_SHOWN = 60


def argument_faults(schema: Mapping[str, Any], arguments: Any) -> tuple[str, ...]:
    """One line for each fault, ``/bed/0: 7 is not of type 'string'``; at most 20.

    A schema that is itself no JSON Schema, or that takes too long, cannot be fitted: that is the
    one fault then. References are followed within the schema only; nothing is fetched.
    """
    from dcf.schema import SchemaUnusable, schema_of

    try:
        errors = schema_of(schema).faults(arguments)
    except SchemaUnusable as unusable:
        return (f"the tool's schema cannot be used: {unusable}",)
    errors.sort(key=lambda error: [str(part) for part in error.absolute_path])
    lines = [f"{pointer(error.absolute_path) or '/'}: {_short(error.message)}" for error in errors]
    left = len(lines) - _FAULTS
    return tuple(lines[:_FAULTS]) + ((f"and {left} more",) if left > 0 else ())


def _short(message: str) -> str:
    """A fault quotes the value, which may be as large as the caller likes."""
    if len(message) <= 2 * _SHOWN:
        return message
    return f"{message[:_SHOWN]} … {message[-_SHOWN:]}"
