"""The programming languages whose definitions are known, by the endings of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from tree_sitter import Language

_GRAMMARS = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "c": ("tree_sitter_c", "language"),
}
LANGUAGES = tuple(_GRAMMARS)
"""The languages whose definitions are known."""

_ENDINGS: Mapping[str, str] = MappingProxyType(
    {
        ".py": "python",
        ".pyi": "python",
        ".js": "javascript",
        ".mjs": "javascript",
        ".cjs": "javascript",
        ".jsx": "javascript",
        ".ts": "typescript",
        ".mts": "typescript",
        ".cts": "typescript",
        ".tsx": "tsx",
        ".go": "go",
        ".rs": "rust",
        ".java": "java",
        ".c": "c",
        ".h": "c",
    }
)


def language_of(path: str) -> str | None:
    """The language of the file at ``path`` by its ending; None for any other text."""
    return _ENDINGS.get(PurePosixPath(path).suffix.lower())


@cache
def has_grammar(language: str) -> bool:
    """Whether the packages of one of ``LANGUAGES`` are installed: they are of an extra."""
    return all(find_spec(name) is not None for name in ("tree_sitter", _GRAMMARS[language][0]))


@cache
def grammar(language: str) -> Language:
    """The grammar of one of ``LANGUAGES``, loaded when it is first asked for."""
    from tree_sitter import Language

    module, name = _GRAMMARS[language]
    load = cast(Callable[[], object], getattr(import_module(module), name))
    return Language(load())
