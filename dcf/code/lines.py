"""The lines that belong to a definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

from dcf.code.definitions import ATTRIBUTES, WRAPPERS


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
