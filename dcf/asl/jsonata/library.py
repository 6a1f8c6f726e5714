"""The JSONata library, imported in one place because its import changes the whole process."""

from __future__ import annotations

import sys
from typing import Any

RECURSION_LIMIT = 3000
"""Python frames: enough for an expression at its deepest, and safe for the C code of ``json``."""

_before = sys.getrecursionlimit()
from jsonata import JException, Jsonata, Parser, Signature, Utils, datetimeutils  # noqa: E402
from jsonata.functions import Functions  # noqa: E402
from jsonata.regex_engine import RegexFlags  # noqa: E402

# The library asks for 10,000 frames, which lets deeply nested JSON overflow the C stack.
sys.setrecursionlimit(max(_before if _before != 10_000 else 0, RECURSION_LIMIT))

# A node of a tree has fifty attributes, most of them never set: the class holds what they are then.
_UNSET = {name: value for name, value in vars(Parser.Symbol(None)).items() if not value}
for _name, _value in _UNSET.items():
    setattr(Parser.Symbol, _name, _value)


def slimmed(tree: Any) -> Any:
    """``tree`` with the attributes that no node ever set left out: a quarter of the memory."""
    waiting, seen = [tree], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, (list, tuple)):
            waiting.extend(node)
        elif isinstance(node, Parser.Symbol) and id(node) not in seen:
            seen.add(id(node))
            node.__dict__ = {
                name: value
                for name, value in vars(node).items()
                if name not in _UNSET or value is not _UNSET[name]
            }
            waiting.extend(vars(node).values())
    return tree


__all__ = [
    "Functions",
    "JException",
    "Jsonata",
    "Parser",
    "RegexFlags",
    "Signature",
    "Utils",
    "datetimeutils",
    "slimmed",
]
