"""Parameters of queries as text: Cypher literals, made once for what is written again and again."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

_LARGEST = 2**63 - 1
_SPECIAL = re.compile(r'["\\\x00]')


class Literal(str):
    """Text that is a Cypher literal already."""

    __slots__ = ()


def literal(value: Any) -> str:
    """``value`` (None, bool, int, float, str, lists and mappings of them) as Cypher writes it.

    NUL is left out, integers beyond 64 bits and floats that are no numbers become null: the server
    would cut them, or refuse the query. Raises TypeError for anything else, ValueError for a key
    that cannot be written.
    """
    if isinstance(value, str):
        if isinstance(value, Literal):
            return value
        if _SPECIAL.search(value):
            value = value.replace("\x00", "").replace("\\", "\\\\").replace('"', '\\"')
        return f'"{value}"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if -_LARGEST <= value <= _LARGEST else "null"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "null"
    if isinstance(value, Mapping):
        return "{" + ",".join([f"`{_key(key)}`:{literal(value[key])}" for key in value]) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([literal(part) for part in value]) + "]"
    raise TypeError(f"{type(value).__name__} has no form in Cypher")


def vector(numbers: Iterable[float]) -> Literal:
    """Numbers as they go into ``vecf32``, with the digits that 32 bits have."""
    return Literal("[" + ",".join(f"{number:.7g}" for number in numbers) + "]")


def query(text: str, **parameters: Any) -> str:
    """A query with its parameters before it."""
    given = " ".join(f"{name}={literal(value)}" for name, value in parameters.items())
    return f"CYPHER {given} {text}" if given else text


def _key(key: Any) -> str:
    if not isinstance(key, str) or not key or "`" in key:
        raise ValueError(f"{key!r} cannot be the name of a property")
    return key
