"""What a program gives names to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

SymbolKind: TypeAlias = Literal[
    "function", "method", "class", "interface", "struct", "enum", "trait", "type", "module", "macro"
]


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
