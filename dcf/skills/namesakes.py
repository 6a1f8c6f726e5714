"""Known values that an argument may mean when none has its name: of its shape, and akin in name.

Names are split into words (``shippingAddress``, ``shipping_address``). Words at the end that are
units or kinds of text (``cents``, ``id``, ``at``, ``email``) have to be the same, and so has the
last word before them, which says what the thing is: a ``shipping_address`` is an ``address``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

Schema = Mapping[str, Any]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# fmt: off
_UNITS = frozenset((
    "id", "key", "ref", "uri", "url", "path", "email", "mail", "phone", "name", "title", "code",
    "number", "no", "date", "time", "at", "on", "until", "seconds", "minutes", "hours", "days",
    "weeks", "ms", "s", "min", "h", "cents", "usd", "eur", "gbp", "percent", "pct", "ratio",
    "rate", "kg", "g", "km", "m", "cm", "mm", "bytes", "kb", "mb", "gb", "count", "index",
    "status", "state", "type", "kind", "text", "note",
))
# fmt: on
_ALIKE = (
    frozenset({"customer", "client", "buyer", "purchaser"}),
    frozenset({"amount", "total", "sum", "price", "cost"}),
    frozenset({"delivery", "shipping", "shipment"}),
    frozenset({"vendor", "supplier", "seller"}),
    frozenset({"employee", "worker", "staff"}),
    frozenset({"host", "server", "machine", "node"}),
    frozenset({"article", "item", "product"}),
    frozenset({"invoice", "bill"}),
)
_FEWEST_MEMBERS = 2
"""A record is known by its members alone if there are as many at least."""


class Kinship(IntEnum):
    """How near a value's name is to an argument's. ``MEMBERS``: not at all, but both are records
    with the same members; ``HEAD``: the same thing otherwise qualified, or by a word of like
    meaning; ``NARROWER``: the words of one are among those of the other; ``SAME``: the same words,
    written in another way, which leaves no doubt."""

    MEMBERS = 1
    HEAD = 2
    NARROWER = 3
    SAME = 4


@dataclass(frozen=True, slots=True)
class Namesake:
    """``path`` is the dotted name of the value."""

    path: str
    kinship: Kinship

    @property
    def rank(self) -> tuple[int, int]:
        """Less is better: by name, then nearest the top."""
        return -self.kinship, self.path.count(".")


def namesakes(name: str, wanted: Schema, known: Mapping[str, Schema]) -> list[Namesake]:
    """What of ``known`` (schemas by dotted name) the argument ``name`` may mean, the best first. A
    value without a type, or an argument without, has no shape to compare."""
    found = []
    for path, schema in known.items():
        kinship = _kinship(name, path.rpartition(".")[2], wanted, schema)
        if kinship is not None and same_shape(schema, wanted):
            found.append(Namesake(path, kinship))
    return sorted(found, key=lambda one: (one.rank, one.path))


def best_of(found: Iterable[Namesake]) -> Namesake | None:
    """The one that is better than all others; None where two are as good."""
    ranked = sorted(found, key=lambda one: one.rank)
    if len(ranked) > 1 and ranked[0].rank == ranked[1].rank:
        return None
    return ranked[0] if ranked else None


def same_shape(have: Schema, want: Schema) -> bool:
    """Whether every value of ``have`` can be given for ``want``, as far as types, formats,
    alternatives and required members go; False where one of the two has no type."""
    kinds = have.get("type"), want.get("type")
    if not all(isinstance(kind, str) for kind in kinds):
        return False
    if kinds[0] != kinds[1] and kinds != ("integer", "number"):
        return False
    if "format" in want and have.get("format", want["format"]) != want["format"]:
        return False
    if "enum" in want and not ("enum" in have and _among(have["enum"], want["enum"])):
        return False
    if kinds[1] == "array":
        items = have.get("items"), want.get("items")
        return not all(map(_is_typed, items)) or same_shape(*items)  # type: ignore[arg-type]
    members: Mapping[str, Any] = have.get("properties") or {}
    needed = want.get("required", ()) if kinds[1] == "object" else ()
    return all(
        member in members and _fits(members[member], (want.get("properties") or {}).get(member))
        for member in needed
    )


def shape_of(value: Any, deep: int = 3) -> dict[str, Any]:
    """The schema of a JSON ``value``: its type, and the members of records, ``deep`` levels."""
    if isinstance(value, Mapping) and deep:
        members = {name: shape_of(one, deep - 1) for name, one in value.items()}
        return {"type": "object", "properties": members, "required": list(members)}
    kinds = {
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "string",
        list: "array",
        dict: "object",
    }
    kind = kinds.get(type(value))
    return {"type": kind} if kind else {}


def shape_words(schema: Schema) -> str:
    """``record with street, city``, ``list``, ``text (date-time)``."""
    kind = str(schema.get("type", "value"))
    said = {"object": "record", "string": "text", "array": "list", "boolean": "yes/no"}
    words = {**said, "integer": "whole number"}.get(kind, kind)
    if kind == "object" and schema.get("properties"):
        return f"{words} with {', '.join(schema['properties'])}"
    return f"{words} ({schema['format']})" if "format" in schema else words


def _fits(have: Any, want: Any) -> bool:
    return not (_is_typed(have) and _is_typed(want)) or same_shape(have, want)


def _is_typed(schema: Any) -> bool:
    return isinstance(schema, Mapping) and isinstance(schema.get("type"), str)


def _among(some: Iterable[Any], all_: Iterable[Any]) -> bool:
    allowed = [(type(one), one) for one in all_]
    return all((type(one), one) in allowed for one in some)


def _kinship(name: str, other: str, wanted: Schema, have: Schema) -> Kinship | None:
    (mine, my_unit), (theirs, their_unit) = _split(name), _split(other)
    if mine == theirs and my_unit == their_unit and (mine or my_unit):
        return Kinship.SAME
    if mine and theirs and my_unit == their_unit:
        if mine[-1] == theirs[-1] and (set(mine) <= set(theirs) or set(theirs) <= set(mine)):
            return Kinship.NARROWER
        if mine[-1] == theirs[-1] or any({mine[-1], theirs[-1]} <= one for one in _ALIKE):
            return Kinship.HEAD
    members = set(wanted.get("required", ())) & set(have.get("properties") or ())
    is_record = wanted.get("type") == "object" and len(members) >= _FEWEST_MEMBERS
    return Kinship.MEMBERS if is_record else None


def _split(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of ``name`` in the singular, and the units behind them."""
    words = [one.lower() for one in _WORD.findall(name)]
    units: list[str] = []
    while words and {words[-1], _singular(words[-1])} & _UNITS:
        units.insert(0, _singular(words.pop()))
    return tuple(map(_singular, words)), tuple(units)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
