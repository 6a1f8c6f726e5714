"""A value that a tool's schema could not be compared with."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.problem import Problem
from dcf.schema import SchemaUnusable
from dcf.skills.authoring.place import Place


def unusable_schema(place: Place, name: str, unusable: SchemaUnusable) -> Iterator[Problem]:
    """Problems at ``place``, the value, because of the schema ``name`` (params or result).

    None for what is said at the schema itself: that it is no schema, or refers to none.
    """
    if unusable.kind == "endless":
        message = f"the {name} schema refers to itself endlessly"
        hint = "unfold the schema: refer to no schema from inside itself"
        yield place.problem("TOOL_SCHEMA_RECURSION", message, hint)
    elif unusable.kind == "slow":
        message = f"the {name} schema cannot be compared with this value: {unusable}"
        hint = "write the pattern without repeats inside repeats: ^a+$ instead of ^(a+)+$"
        yield place.problem("TOOL_SCHEMA_SLOW", message, hint)
