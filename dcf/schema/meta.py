"""Whether a document is a JSON Schema, asked of one schema in place of eight.

The meta-schema of 2020-12 is split over eight documents, and each part of a schema is compared with
every one of them, by references that are resolved anew each time. Here the eight are one object,
and a reference is a lookup in a dictionary: the same answer in an eighth of the time. What is
wrong, and where, is left to the meta-schema itself: it is asked for few documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

_META: Any = Draft202012Validator.META_SCHEMA
_PARTS: list[Any] = [
    _META,
    *(REGISTRY.contents(urljoin(_META["$id"], part["$ref"])) for part in _META["allOf"]),
]
_WHOLE = {
    "type": _META["type"],
    "properties": {name: rule for part in _PARTS for name, rule in part["properties"].items()},
}
# Names of keywords and of definitions are unique among the eight.
_DEFINITIONS = {name: rule for part in _PARTS for name, rule in part.get("$defs", {}).items()}


def _definition(
    validator: Any, reference: str, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    found: Iterator[ValidationError] = validator.descend(
        instance, _DEFINITIONS[reference.rpartition("/")[2]]
    )
    return found


def _subschema(
    validator: Any, _reference: str, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    found: Iterator[ValidationError] = validator.descend(instance, _WHOLE)
    return found


_Validator: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"$ref": _definition, "$dynamicRef": _subschema}
)
_validator: Any = _Validator(_WHOLE, format_checker=Draft202012Validator.FORMAT_CHECKER)


def is_schema(document: Any) -> bool:
    """Whether ``Draft202012Validator.check_schema`` accepts ``document``; of one that is nested so
    deep that Python's recursion ends that, this may still say True.

    Raises what that raises besides ``SchemaError``: ``RecursionError``, ``OverflowError`` and
    ``re.error``.
    """
    return bool(_validator.is_valid(document))
