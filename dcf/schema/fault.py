"""What stands in the way of using a schema."""

from __future__ import annotations

from typing import Any, Literal

Kind = Literal["invalid", "reference", "endless", "slow"]
_SHOWN = 200


class SchemaUnusable(Exception):
    """A value can be said neither to fit a schema nor not to.

    ``kind``: ``invalid``, it is no JSON Schema (``path`` has the steps to the place);
    ``reference``, a ``$ref`` leads out of it or nowhere (``ref``); ``endless``, it refers to itself
    without end; ``slow``, a pattern of it, or all of it, takes too long on the value.
    """

    code = "schema_unusable"

    def __init__(
        self, kind: Kind, message: str, *, path: tuple[str | int, ...] = (), ref: str = ""
    ) -> None:
        super().__init__(message if len(message) <= _SHOWN else f"{message[: _SHOWN - 1]}…")
        self.kind = kind
        self.path = path
        self.ref = ref


def invalid_place(schema: Any) -> SchemaUnusable | None:
    """Where ``schema`` is no JSON Schema (2020-12), None when it is one."""
    import re

    from jsonschema import Draft202012Validator, SchemaError

    from dcf.schema.meta import is_schema

    try:
        if not is_schema(schema):
            Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return SchemaUnusable("invalid", error.message, path=tuple(error.absolute_path))
    except (RecursionError, OverflowError, re.error) as error:
        # Of a pattern that is nested or repeated beyond what can be compiled.
        return SchemaUnusable("invalid", f"it cannot be read: {error or type(error).__name__}")
    return None
