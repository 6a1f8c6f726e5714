"""The definitions in a text of a known language: by its grammar, or for Python without one by
Python's own parser."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcf.code.definitions import (
    ATTRIBUTES,
    DEFINITIONS,
    FUNCTION_VALUES,
    WRAPPERS,
    Definitions,
    Parsed,
    Symbol,
    SymbolKind,
)
from dcf.code.language import grammar

if TYPE_CHECKING:
    from tree_sitter import Node

# A text of a hundred thousand classes in one another would have names as long as it is, each.
_NAMES_AROUND = 16
_CLASSES = frozenset({"class", "interface", "struct", "enum", "trait", "type"})
_NAMES = frozenset(
    {"identifier", "field_identifier", "type_identifier", "property_identifier", "operator_name"}
)

_OPENING = re.compile(r"^\s*(?:/\*[*!]?|\*/|\*(?!\*)|//[/!]?)[ \t]?")


@dataclass(frozen=True, slots=True)
class _Around:
    """What the next definitions stand in, until the byte ``end``."""

    end: int
    name: str
    is_class: bool


def parsed(text: str, language: str) -> Parsed:
    """The symbols of ``text``, also where it has errors of syntax: what the grammar can read beside
    them; with the first line that is no ``language``. Raises ``KeyError`` for a language that is
    not one of ``LANGUAGES``."""
    from tree_sitter import Parser

    # Half surrogates are no UTF-8; with a question mark for each, the lines stay as they are.
    tree = Parser(grammar(language)).parse(text.encode("utf-8", "replace"))
    found = dict.fromkeys(_symbols(tree.root_node, language))
    ordered = sorted(found, key=lambda one: (one.first_line, -one.last_line))
    return Parsed(tuple(ordered), _error_line(tree.root_node))


def _candidates(root: Node, rules: Definitions) -> Iterator[Node]:
    """The nodes that may define something, the outer before the inner.

    Not by a query of tree-sitter: it takes a time that is quadratic in the length of a text full of
    errors, a walk does not.
    """
    types = {*rules.kinds, *rules.around, *rules.assigned}
    cursor = root.walk()
    while True:
        node = cursor.node
        # A keyword may be called as the node that it begins, as the `module` of TypeScript.
        if node is not None and node.is_named and node.type in types:
            yield node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _symbols(root: Node, language: str) -> Iterator[Symbol]:
    rules = DEFINITIONS[language]
    around: list[_Around] = []
    for node in _candidates(root, rules):
        while around and around[-1].end <= node.start_byte:
            around.pop()
        name = _name(node)
        if not name:
            continue
        if node.type in rules.around:
            around.append(_Around(node.end_byte, name, is_class=True))
            continue
        kind = _kind(node, rules)
        if kind is None:
            continue
        if kind == "function" and around and around[-1].is_class:
            kind = "method"
        yield _symbol(node, name, kind, around, rules, language)
        # In C a `struct` may stand in the `typedef` of the same name, and is not inside of it.
        if node.type != "type_definition":
            around.append(_Around(node.end_byte, name, is_class=kind in _CLASSES))


def _symbol(
    node: Node,
    name: str,
    kind: SymbolKind,
    around: list[_Around],
    rules: Definitions,
    language: str,
) -> Symbol:
    before: Above = above(node, rules.comments)
    names = [one.name for one in around[-_NAMES_AROUND:]]
    if node.type == "method_declaration" and language == "go":
        names += _receiver(node)
    if language == "python":
        docstring = python_docstring(node)
    else:
        docstring = comment_text([_text(one) for one in before.comments])
    return Symbol(
        name=name,
        kind=kind,
        qualified_name=".".join([*names, name]),
        first_line=before.row + 1,
        last_line=max(last_row(node), first_row(node)) + 1,
        docstring=docstring,
    )


def _kind(node: Node, rules: Definitions) -> SymbolKind | None:
    """None for what only looks like a definition: a variable that is no function, a ``struct`` that
    is only named."""
    if node.type in rules.assigned:
        value = node.child_by_field_name("value")
        return "function" if value is not None and value.type in FUNCTION_VALUES else None
    kind = rules.kinds[node.type]
    if node.type.endswith("_specifier") and node.child_by_field_name("body") is None:
        return None
    if node.type == "type_spec":
        written = node.child_by_field_name("type")
        if written is not None and written.type == "struct_type":
            return "struct"
        if written is not None and written.type == "interface_type":
            return "interface"
    return kind


def _name(node: Node) -> str:
    """What ``node`` is called; empty where it has no name that can be asked for."""
    if node.type == "impl_item":
        return _first_name(node.child_by_field_name("type"))
    named = node.child_by_field_name("name") or node.child_by_field_name("property")
    if named is not None:
        # A pattern (`const {a, b} = …`) names several things.
        return "" if named.type.endswith("_pattern") else _text(named).strip("\"'`")
    # The name in C is in the middle of what is declared: `int *(*f(void))[3]`.
    inner = node.child_by_field_name("declarator")
    while inner is not None and inner.type not in _NAMES:
        inner = inner.child_by_field_name("declarator") or _declared(inner)
    return _text(inner) if inner is not None else ""


def _declared(node: Node) -> Node | None:
    """The declarator in brackets, which has no field of its own."""
    inner = (one for one in node.named_children if one.type.endswith("declarator"))
    return next(inner, None)


def _receiver(node: Node) -> list[str]:
    """The type that a method of Go belongs to."""
    name = _first_name(node.child_by_field_name("receiver"))
    return [name] if name else []


def _first_name(node: Node | None) -> str:
    """The first name of a type below ``node``: ``Set`` of ``*Set[K]``."""
    waiting = [node] if node is not None else []
    while waiting:
        one = waiting.pop()
        if one.type == "type_identifier":
            return _text(one)
        waiting += reversed(one.named_children)
    return ""


def _error_line(root: Node) -> int | None:
    if not root.has_error:
        return None
    node = root
    while not (node.is_error or node.is_missing):
        inner = next((one for one in node.children if one.has_error or one.is_missing), None)
        if inner is None:
            break
        node = inner
    return first_row(node) + 1


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Above:
    """``row`` is the first of a definition with all that stands right above it and belongs to it,
    from 0; ``comments`` are in the order of lines."""

    row: int
    comments: tuple[Node, ...]


def above(node: Node, comments: frozenset[str]) -> Above:
    """What belongs to ``node``: ``export``, decorators, attributes, and comments without an empty
    line between."""
    whole = _wrapped(node)
    row, found = first_row(whole), []
    before = whole.prev_sibling
    while before is not None and (before.type in comments or before.type in ATTRIBUTES):
        if last_row(before) < row - 1 or _ends_a_line(before):
            break
        if before.type in comments:
            found.append(before)
        row = first_row(before)
        before = before.prev_sibling
    return Above(row, tuple(reversed(found)))


def first_row(node: Node) -> int:
    return node.start_point.row


def last_row(node: Node) -> int:
    """The row of the last character; a node that ends with its newline does not end a row later."""
    end = node.end_point
    return end.row - 1 if end.column == 0 and end.row > node.start_point.row else end.row


def _wrapped(node: Node) -> Node:
    """The outermost node that is about this definition alone."""
    while True:
        parent = node.parent
        if parent is None or parent.type not in WRAPPERS:
            return node
        before = node.prev_named_sibling
        if before is not None and before.type not in ATTRIBUTES:
            return node
        node = parent


def _ends_a_line(comment: Node) -> bool:
    """Whether it stands behind code, which it is about."""
    before = comment.prev_sibling
    return before is not None and last_row(before) == first_row(comment)


def python_docstring(node: Node) -> str:
    """The string that the body of a Python definition begins with, without its quotes."""
    body = node.child_by_field_name("body")
    said = (one for one in body.named_children if one.type != "comment") if body else iter(())
    first = next(said, None)
    if first is None or first.type != "expression_statement" or not first.named_children:
        return ""
    string = first.named_children[0]
    if string.type != "string":
        return ""
    parts = [one.text or b"" for one in string.named_children if one.type == "string_content"]
    return inspect.cleandoc(b"".join(parts).decode("utf-8", "replace")).strip()


def comment_text(comments: Sequence[str]) -> str:
    """The text of comments above one another, without their marks.

    >>> comment_text(["/** Adds.", " * Twice. */"])
    'Adds.\\nTwice.'
    """
    lines = [line for comment in comments for line in comment.splitlines()]
    return "\n".join(_OPENING.sub("", _unclosed(line)).rstrip() for line in lines).strip()


def _unclosed(line: str) -> str:
    """``line`` without the end of a comment."""
    line = line.rstrip()
    return line[:-1].rstrip("*").rstrip() if line.endswith("*/") else line


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
    found = sorted(
        _python_symbols(tree, "", False), key=lambda one: (one.first_line, -one.last_line)
    )
    return Parsed(tuple(found), None)


def _python_symbols(node: ast.AST, around: str, in_class: bool) -> Iterator[Symbol]:
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _python_symbols(inner, around, in_class)
            continue
        is_class = isinstance(inner, ast.ClassDef)
        kind: SymbolKind = "class" if is_class else "method" if in_class else "function"
        name = f"{around}.{inner.name}" if around else inner.name
        first = min([inner.lineno, *(one.lineno for one in inner.decorator_list)])
        last = inner.end_lineno or inner.lineno
        yield Symbol(inner.name, kind, name, first, last, ast.get_docstring(inner) or "")
        yield from _python_symbols(inner, name, is_class)
