"""What is said of a definition where it stands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_OPENING = re.compile(r"^\s*(?:/\*[*!]?|\*/|\*(?!\*)|//[/!]?)[ \t]?")


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
