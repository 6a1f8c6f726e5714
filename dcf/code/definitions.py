"""What a program gives names to, which nodes of each grammar define it, and what comments look
like.

The names are those of the node types of the tree-sitter grammars (their ``node-types.json``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

SymbolKind: TypeAlias = Literal[
    "function", "method", "class", "interface", "struct", "enum", "trait", "type", "module", "macro"
]

_ECMASCRIPT: Mapping[str, SymbolKind] = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "method_definition": "method",
    "class_declaration": "class",
}


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition. ``qualified_name`` has the names around it first (``Basket.add``). Its lines
    count from 1, both are its own; decorators and a comment right above belong to it.
    ``docstring`` is without its marks, and empty where there is none."""

    name: str
    kind: SymbolKind
    qualified_name: str
    first_line: int
    last_line: int
    docstring: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """The symbols of a text, in the order of their first lines, the outer before the inner.
    ``error_line`` is the first line that the grammar could not read; None where it read all."""

    symbols: tuple[Symbol, ...]
    error_line: int | None


@dataclass(frozen=True, slots=True)
class Definitions:
    """Of one language. ``kinds`` are the nodes that define, ``around`` those that only give a name
    to what is in them, ``assigned`` those that define a function if one is their value."""

    kinds: Mapping[str, SymbolKind]
    around: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    comments: frozenset[str] = field(default_factory=lambda: frozenset({"comment"}))


FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "generator_function"})
# What a definition stands in, alone: `export`, a decorator, the `type` of Go, a `const`.
WRAPPERS = frozenset(
    {
        "decorated_definition",
        "export_statement",
        "ambient_declaration",
        "type_declaration",
        "lexical_declaration",
        "variable_declaration",
        "type_definition",
    }
)
# Attributes of Rust stand before what they are about, beside it.
ATTRIBUTES = frozenset({"attribute_item", "decorator"})

_TYPESCRIPT = Definitions(
    {
        **_ECMASCRIPT,
        "function_signature": "function",
        "method_signature": "method",
        "abstract_method_signature": "method",
        "abstract_class_declaration": "class",
        "interface_declaration": "interface",
        "type_alias_declaration": "type",
        "enum_declaration": "enum",
        "internal_module": "module",
        "module": "module",
    },
    assigned=frozenset({"variable_declarator", "public_field_definition"}),
)

DEFINITIONS: Mapping[str, Definitions] = {
    "python": Definitions({"function_definition": "function", "class_definition": "class"}),
    "javascript": Definitions(
        _ECMASCRIPT, assigned=frozenset({"variable_declarator", "field_definition"})
    ),
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "go": Definitions(
        {
            "function_declaration": "function",
            "method_declaration": "method",
            "type_spec": "type",
            "type_alias": "type",
        }
    ),
    "rust": Definitions(
        {
            "function_item": "function",
            "function_signature_item": "function",
            "struct_item": "struct",
            "union_item": "struct",
            "enum_item": "enum",
            "trait_item": "trait",
            "type_item": "type",
            "mod_item": "module",
            "macro_definition": "macro",
        },
        around=frozenset({"impl_item"}),
        comments=frozenset({"line_comment", "block_comment"}),
    ),
    "java": Definitions(
        {
            "class_declaration": "class",
            "record_declaration": "class",
            "interface_declaration": "interface",
            "annotation_type_declaration": "interface",
            "enum_declaration": "enum",
            "method_declaration": "method",
            "constructor_declaration": "method",
            "compact_constructor_declaration": "method",
        },
        comments=frozenset({"line_comment", "block_comment"}),
    ),
    "c": Definitions(
        {
            "function_definition": "function",
            "struct_specifier": "struct",
            "union_specifier": "struct",
            "enum_specifier": "enum",
            "type_definition": "type",
            "preproc_function_def": "macro",
        }
    ),
}
