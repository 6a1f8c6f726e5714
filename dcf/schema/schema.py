"""A JSON Schema that somebody wrote, ready to compare values with."""

from __future__ import annotations

import json
from typing import Any

from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from dcf.schema.bounded import BoundedValidator, limited
from dcf.schema.cache import TextCache
from dcf.schema.fault import SchemaUnusable, invalid_place
from dcf.schema.pattern import PatternTooSlow


class Schema:
    """Compares values with one schema. References are followed within it; nothing is fetched."""

    def __init__(self, document: Any) -> None:
        # An empty registry: a $ref to another document must not be fetched from the network.
        self._validator = BoundedValidator(document, registry=Registry())

    def faults(self, value: Any) -> list[ValidationError]:
        """Everything by which ``value`` does not fit. Raises ``SchemaUnusable``."""
        return self._faults(value, only_one=False)

    def fault(self, value: Any) -> ValidationError | None:
        """The first thing by which ``value`` does not fit. Raises ``SchemaUnusable``."""
        return next(iter(self._faults(value, only_one=True)), None)

    def fits(self, value: Any) -> bool:
        """Whether ``value`` fits. Raises ``SchemaUnusable``."""
        return self.fault(value) is None

    def _faults(self, value: Any, *, only_one: bool) -> list[ValidationError]:
        try:
            with limited():
                found = self._validator.iter_errors(value)
                return [one for one in [next(found, None)] if one] if only_one else list(found)
        except PatternTooSlow as slow:
            message = f"the pattern {slow} takes too long on this value"
            raise SchemaUnusable("slow", message) from None
        except TimeoutError:
            message = "the schema takes too long on this value"
            raise SchemaUnusable("slow", message) from None
        except Unresolvable as error:
            message = f"it refers to {error.ref}, which is not in it; nothing is fetched"
            raise SchemaUnusable("reference", message, ref=str(error.ref)) from None
        except RecursionError:
            raise SchemaUnusable("endless", "it refers to itself endlessly") from None


def schema_of(document: Any) -> Schema:
    """The schema in ``document``, made once for each text of it. Raises ``SchemaUnusable``."""
    try:
        text = json.dumps(document, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        reason = str(error) or type(error).__name__
        raise SchemaUnusable("invalid", f"it is no JSON value: {reason}") from None
    return _made(text)


def _schema(text: str) -> Schema:
    document = json.loads(text)
    invalid = invalid_place(document) or _unsearchable(document)
    if invalid is not None:
        raise invalid
    return Schema(document)


# A tool server writes its schemas: one that changes a large one again and again must not fill the
# memory, where a schema takes several times the size of its text.
_made = TextCache(_schema, entries=512, characters=8 * 1024 * 1024)


def _unsearchable(document: Any) -> SchemaUnusable | None:
    """The one pair of keywords that is not supported: it searches out of our hands."""
    names: set[str] = set()
    waiting = [document]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            names.update(here)
            waiting.extend(here.values())
        elif isinstance(here, list):
            waiting.extend(here)
    if {"unevaluatedProperties", "patternProperties"} <= names:
        message = "unevaluatedProperties beside patternProperties is not supported"
        return SchemaUnusable("invalid", f"{message}: use additionalProperties")
    return None


ACCEPTS_ALL = Schema(True)
"""The schema that every value fits."""
