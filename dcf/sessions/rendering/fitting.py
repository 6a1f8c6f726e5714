"""What of a document there is room for in a block."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dcf.search import count_tokens


@dataclass(frozen=True, slots=True)
class Room:
    """How long the text of a block may be: bytes of UTF-8, and tokens as ``dcf.search`` counts
    them."""

    size: int
    tokens: int

    def holds(self, text: str) -> bool:
        # Counting tokens is dear; bytes tell of most texts that are too long.
        return len(text.encode()) <= self.size and count_tokens(text) <= self.tokens


@dataclass(frozen=True, slots=True)
class Part:
    """A member of a document of which something may be left out: of a list its first (oldest)
    elements, of an object its largest members, of a text its end, of anything else all.

    ``name`` may lead inwards (``a.b``). At most ``most`` elements or characters stay however much
    room there is. ``before`` is how many elements the document never had. ``where`` says where to
    find what is left out.
    """

    name: str
    where: str
    most: int | None = None
    before: int = 0


def fitted(document: dict[str, Any], parts: Sequence[Part], room: Room) -> str:
    """``document`` as JSON text that ``room`` holds. ``parts`` are filled one after the other, each
    with as much as there is room for; what is left out then is counted in ``left_out``.

    Raises ValueError when there is no room for what is in no part.
    """
    sizes = [_size(_member(document, part.name)) for part in parts]
    least = [
        0 if part.most is None else max(0, size - part.most)
        for part, size in zip(parts, sizes, strict=True)
    ]
    text = _text(document, parts, least)
    if room.holds(text):
        return text
    gone = sizes
    for number in range(len(parts)):

        def holds(count: int, others: list[int], at: int) -> bool:
            return room.holds(_text(document, parts, [*others[:at], count, *others[at + 1 :]]))

        # From the least that must go to all of it: the first count with which it fits.
        counts = range(least[number], sizes[number])
        found = bisect_left(counts, True, key=partial(holds, others=gone, at=number))
        gone = [*gone[:number], least[number] + found, *gone[number + 1 :]]
    text = _text(document, parts, gone)
    if not room.holds(text):
        raise ValueError(
            f"{room.size} bytes and {room.tokens} tokens are too few for a block of"
            f" {', '.join(document)}"
        )
    return text


def _text(document: dict[str, Any], parts: Sequence[Part], gone: Sequence[int]) -> str:
    left_out = []
    for part, count in zip(parts, gone, strict=True):
        value = _member(document, part.name)
        if count:
            document = _with(document, part.name, _without(value, count))
        if count + part.before:
            what = f"characters of {part.name}" if isinstance(value, str) else part.name
            left_out.append({"what": what, "count": count + part.before, "where": part.where})
    if left_out:
        document = {**document, "left_out": left_out}
    text = json.dumps(document, ensure_ascii=False)
    # JSON may hold half surrogates, a memory may not.
    return text.encode("utf-8", "replace").decode()


def _size(value: Any) -> int:
    """How many pieces ``value`` can lose."""
    if isinstance(value, (list, dict, str)):
        return len(value)
    return 0 if value is None else 1


def _without(value: Any, count: int) -> Any:
    if isinstance(value, list):
        return value[count:]
    if isinstance(value, dict):
        large = sorted(value, key=lambda name: (-len(json.dumps(value[name])), name))[:count]
        return {name: value[name] for name in value if name not in large}
    if isinstance(value, str):
        return value[: len(value) - count] + "…"
    return None


def _member(document: dict[str, Any], name: str) -> Any:
    value: Any = document
    for step in name.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _with(document: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    step, _, rest = name.partition(".")
    return {**document, step: _with(document[step], rest, value) if rest else value}
