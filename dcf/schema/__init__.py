"""JSON Schemas and regular expressions that users and agents write, used within bounds.

Nothing is fetched for a reference, and neither a pattern nor a schema can take the process away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.schema.example import example_of
    from dcf.schema.fault import SchemaUnusable, invalid_place
    from dcf.schema.pattern import PatternTooSlow, search
    from dcf.schema.regex_rules import LARGEST_PATTERN, compile_regex
    from dcf.schema.schema import ACCEPTS_ALL, Schema, schema_of
else:
    export_late(__name__)

__all__ = [
    "ACCEPTS_ALL",
    "LARGEST_PATTERN",
    "PatternTooSlow",
    "Schema",
    "SchemaUnusable",
    "compile_regex",
    "example_of",
    "invalid_place",
    "schema_of",
    "search",
]
