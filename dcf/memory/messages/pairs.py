"""Tool calls and their returns: neither may stand in a context without the other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def parts_of(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts in a message's row."""
    parts: list[dict[str, Any]] = [] if row["parts"] == "[]" else json.loads(row["parts"])
    return parts


def halves(rows: Iterable[Mapping[str, Any]]) -> set[int]:
    """Numbers of those messages, in order, that have a call without its return among ``rows``, or
    a return without its call before it."""
    open_calls: dict[str, int] = {}
    torn: set[int] = set()
    partners: dict[int, set[int]] = {}
    for row in rows:
        for part in parts_of(row):
            if part["kind"] == "call":
                open_calls[part["id"]] = row["seq"]
            elif part["id"] in open_calls:
                caller = open_calls.pop(part["id"])
                partners.setdefault(caller, set()).add(row["seq"])
                partners.setdefault(row["seq"], set()).add(caller)
            else:
                torn.add(row["seq"])
    torn |= set(open_calls.values())
    return _spread(torn, partners)


def _spread(torn: set[int], partners: Mapping[int, set[int]]) -> set[int]:
    """A message that is left out takes with it those whose calls or returns it has."""
    found: set[int] = set()
    waiting = list(torn)
    while waiting:
        seq = waiting.pop()
        if seq not in found:
            found.add(seq)
            waiting += partners.get(seq, ())
    return found
