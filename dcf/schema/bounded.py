"""Validation that ends: patterns are stopped, and all of one validation has a limit of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from dcf.schema.pattern import SECONDS, search

LIMIT_S = 1.0
"""Seconds of the processor that one validation may take: a schema whose references branch, or a
pattern that is slow on each of many items, takes no single step too long."""

_CHECKED = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "items", "properties", "enum")
"""Keywords before which the time is looked at: those that lead to others, often."""

_Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]
_ends: ContextVar[float] = ContextVar("dcf_schema_ends")


@contextmanager
def limited() -> Iterator[None]:
    """Whatever is validated inside has ``LIMIT_S`` altogether; ``TimeoutError`` is raised then.

    The time of this thread on the processor counts, so that a busy machine refuses nothing.
    """
    token = _ends.set(time.thread_time() + LIMIT_S)
    try:
        yield
    finally:
        _ends.reset(token)


def _left() -> float:
    left = _ends.get() - time.thread_time()
    if left <= 0:
        raise TimeoutError
    return left


def _found(pattern: str, text: str) -> bool:
    return search(pattern, text, seconds=min(SECONDS, _left()))


def _pattern(
    validator: Any, pattern: str, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    if validator.is_type(instance, "string") and not _found(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, subschema in patterns.items():
        for name, value in instance.items():
            if _found(pattern, name):
                yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, rule: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    patterns = schema.get("patternProperties")
    if not patterns:
        yield from _PLAIN["additionalProperties"](validator, rule, instance, schema) or ()
        return
    known = schema.get("properties", {})
    extras = [
        name
        for name in instance
        if name not in known and not any(_found(pattern, name) for pattern in patterns)
    ]
    if rule is False and extras:
        shown = ", ".join(map(repr, sorted(extras)))
        expected = ", ".join(map(repr, sorted(patterns)))
        yield ValidationError(f"{shown}: neither declared nor matching any of {expected}")
    elif isinstance(rule, dict):
        for name in extras:
            yield from validator.descend(instance[name], rule, path=name)


def _unique_items(
    validator: Any, wanted: bool, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    if not wanted or not validator.is_type(instance, "array"):
        return
    if len({_frozen(item) for item in instance}) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


def _frozen(value: Any) -> Any:
    """What is equal for equal JSON values, and can stand in a set: 1 equals 1.0, and not true."""
    match value:
        case bool():
            return ("boolean", value)
        case list():
            return ("array", *map(_frozen, value))
        case dict():
            return ("object", frozenset((name, _frozen(item)) for name, item in value.items()))
    return value


def _checked(keyword: _Keyword) -> _Keyword:
    def in_time(validator: Any, rule: Any, instance: Any, schema: Any) -> Any:
        _left()
        return keyword(validator, rule, instance, schema)

    return in_time


_PLAIN: Mapping[str, _Keyword] = Draft202012Validator.VALIDATORS
_extend: Any = extend  # jsonschema has no types for it
BoundedValidator: Any = _extend(
    Draft202012Validator,
    {
        **{name: _checked(_PLAIN[name]) for name in _CHECKED},
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
    },
)
"""As JSON Schema 2020-12 says; to be used inside ``limited()``."""
