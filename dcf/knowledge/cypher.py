"""Queries as text: parameters as Cypher literals, and several queries as one."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

_LARGEST = 2**63 - 1
_SPECIAL = re.compile(r'["\\\x00]')
_PARAMETER = re.compile(r"\$(\w+)")
# One row whatever came before, so that what follows runs once; and nothing before it is left open.
_NEXT = "\nWITH count(*) AS part\n"


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


class Query(str):
    """A query with its parameters before it, as the server takes it: ``text`` without them, and
    ``given``, each as a literal by its name."""

    __slots__ = ("given", "text")

    text: str
    given: Mapping[str, str]

    @classmethod
    def of(cls, text: str, given: Mapping[str, str]) -> Self:
        """The query ``text`` with parameters that are literals already."""
        named = " ".join(f"{name}={value}" for name, value in given.items())
        whole = cls(f"CYPHER {named} {text}" if named else text)
        whole.text, whole.given = text, given
        return whole


def query(text: str, **parameters: Any) -> Query:
    """A query with its parameters before it."""
    return Query.of(text, {name: literal(value) for name, value in parameters.items()})


def joined(queries: Sequence[Query]) -> Query:
    """``queries``, which only write, as one that does what they do one after the other: all of it
    or, when it fails or the server dies, nothing. What several are given is there once."""
    if len(queries) == 1:
        return queries[0]
    names: dict[str, str] = {}
    texts = []
    for one in queries:
        own = {name: names.setdefault(value, f"p{len(names)}") for name, value in one.given.items()}
        texts.append(_renamed(one.text, own))
    return Query.of(_NEXT.join(texts), {name: value for value, name in names.items()})


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """``text`` with other names for its parameters."""
    return _PARAMETER.sub(lambda found: f"${names[found[1]]}", text)


def _key(key: Any) -> str:
    if not isinstance(key, str) or not key or "`" in key:
        raise ValueError(f"{key!r} cannot be the name of a property")
    return key
