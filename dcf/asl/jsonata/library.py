"""The JSONata library, as a copy of our own: it is changed here, and nobody else may notice."""

from __future__ import annotations

import sys
from typing import Any

from dcf.asl.jsonata.private_copy import PrivateCopy

RECURSION_LIMIT = 3000
"""Python frames: enough for an expression at its deepest, and safe for the C code of ``json``."""

_before = sys.getrecursionlimit()
_copy = PrivateCopy("jsonata", "dcf_jsonata")
_library: Any = _copy.module("jsonata")
datetimeutils: Any = _copy.module("jsonata.datetimeutils")
JException, Jsonata, Parser = _library.JException, _library.Jsonata, _library.Parser
Signature, Utils = _library.Signature, _library.Utils
Functions: Any = _copy.module("jsonata.functions").Functions
RegexFlags: Any = _copy.module("jsonata.regex_engine").RegexFlags

# The library asks for 10,000 frames, which lets deeply nested JSON overflow the C stack. What
# somebody else has asked for stays.
sys.setrecursionlimit(max(_before, RECURSION_LIMIT))

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
