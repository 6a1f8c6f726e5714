"""The definitions in a text of Python where no grammar is installed: by Python's own parser."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from dcf.code.symbol import Parsed, Symbol, SymbolKind


def python_parsed(text: str) -> Parsed:
    """As ``symbols.parsed``; of a text with an error of syntax nothing is known but its line."""
    try:
        with warnings.catch_warnings():
            # What the compiler warns of is not for whoever searches.
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        return Parsed((), error.lineno or 1)
    except (ValueError, RecursionError):
        return Parsed((), 1)
    found = sorted(_symbols(tree, "", False), key=lambda one: (one.first_line, -one.last_line))
    return Parsed(tuple(found), None)


def _symbols(node: ast.AST, around: str, in_class: bool) -> Iterator[Symbol]:
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _symbols(inner, around, in_class)
            continue
        is_class = isinstance(inner, ast.ClassDef)
        kind: SymbolKind = "class" if is_class else "method" if in_class else "function"
        name = f"{around}.{inner.name}" if around else inner.name
        first = min([inner.lineno, *(one.lineno for one in inner.decorator_list)])
        last = inner.end_lineno or inner.lineno
        yield Symbol(inner.name, kind, name, first, last, ast.get_docstring(inner) or "")
        yield from _symbols(inner, name, is_class)
