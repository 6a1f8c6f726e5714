"""Plain field paths, ``$states.input.a.b``, read without the JSONata engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from dcf.asl.jsonata.exact_numbers import LARGEST_EXACT
from dcf.asl.jsonata.tokens import Token, neighbours
from dcf.asl.payload import JSON
from dcf.asl.scope import Scope

Shortcut: TypeAlias = Callable[[Scope], tuple[bool, JSON]]
"""Whether it could answer, and the answer; when not, the engine must."""

ReadIndex: TypeAlias = Callable[[slice], Shortcut]
"""Of the place of an index in the expression, what reads its value."""

_NO = (False, None)
_GOES_ON = (".", "[", "(", "{", "@", "#", "^", ":=")
"""Signs behind a path that change what the path is."""


def read_shortcut(words: Sequence[Token], read_index: ReadIndex) -> Shortcut | None:
    """A reader of ``$name`` or ``$name.field[index].field``; None for any other expression.

    An index is a number, again such a path, or arithmetic with these, for which ``read_index`` has
    a reader. The reader answers only while every value on the way is an object (an array where an
    index follows) and the last one is there: other arrays on the way are mapped over, which is the
    engine's matter, as are numbers that JSONata writes in its own way (``1.0``), wherever they
    stand.
    """
    way, end = _way(words, 0, read_index)
    return _reader(way) if way and end == len(words) else None


def read_picks(words: Sequence[Token], read_index: ReadIndex) -> list[tuple[slice, Shortcut]]:
    """The paths with an index that are a part of an expression: the place of each, and its reader.

    Who picks an item out of a long array, again and again, need not give the array away.
    """
    bound = _bound(words)
    if "%" in bound:
        return []
    found = []
    place = 0
    while place < len(words):
        way, end = _way(words, place, read_index)
        is_start = place == 0 or not words[place - 1].is_sign(".")
        goes_on = end < len(words) and words[end].is_sign(*_GOES_ON)
        names = {word.text for word in words[place:end] if word.kind == "variable"}
        is_picked = len(way) > 1 and any(not isinstance(step, str) for step in way)
        if is_start and is_picked and not goes_on and bound.isdisjoint(names):
            found.append((slice(words[place].start, words[end - 1].end), _reader(way)))
            place = end
        else:
            place += 1
    return found


def _bound(words: Sequence[Token]) -> set[str]:
    """Names that the expression gives a value of its own; ``%`` where it may look at a parent."""
    names: set[str] = set()
    in_head = False
    for before, word, after in neighbours(words):
        if word.kind == "variable":
            is_set = after is not None and after.is_sign(":=")
            if in_head or is_set or (before is not None and before.is_sign("@", "#")):
                names.add(word.text)
        elif word.is_sign("%"):
            names.add("%")
        elif word.is_sign("("):
            in_head = before is not None and before.text in ("function", "λ")
        elif word.is_sign(")"):
            in_head = False
    return names


def _reader(way: Sequence[str | Shortcut]) -> Shortcut:
    root, *steps = way

    def read(scope: Scope) -> tuple[bool, JSON]:
        value: JSON = scope.states if root == "states" else scope.variables.get(str(root), _NO)
        for step in steps:
            if isinstance(step, str):
                found, value = _field(value, step)
            else:
                found, value = _item(value, step(scope))
            if not found:
                return _NO
        if value is _NO or _is_written_otherwise(value):
            return _NO
        return True, value

    return read


def _field(value: JSON, name: str) -> tuple[bool, JSON]:
    if type(value) is not dict or name not in value:
        return _NO
    return True, value[name]


def _item(value: JSON, index: tuple[bool, JSON]) -> tuple[bool, JSON]:
    position = index[1]
    if type(value) is not list or type(position) is not int:
        return _NO
    if not -len(value) <= position < len(value):
        return _NO
    item = value[position]
    return _NO if type(item) is list else (True, item)


def _is_written_otherwise(value: JSON) -> bool:
    """Whether a number in ``value`` is none that JSONata leaves as it is: ``1.0``, ``2**63``."""
    waiting, seen = [value], set()
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is dict or kind is list:
            if id(item) not in seen:  # what stands in many places is looked at once
                seen.add(id(item))
                waiting.extend(item.values() if kind is dict else item)
        elif (kind is int or kind is float) and _changes(item):
            return True
    return False


def _changes(number: float) -> bool:
    if isinstance(number, int):
        return not -LARGEST_EXACT <= number < LARGEST_EXACT
    return number.is_integer() or not math.isfinite(number)


def _way(
    words: Sequence[Token], start: int, read_index: ReadIndex
) -> tuple[list[str | Shortcut], int]:
    """The variable, then fields and readers of indices, and where they end; none for no path."""
    if start == len(words) or words[start].kind != "variable" or words[start].text in ("", "$"):
        return [], start
    way: list[str | Shortcut] = [words[start].text]
    place = start + 1
    while place + 1 < len(words):
        if words[place].is_sign(".") and words[place + 1].kind == "name":
            way.append(words[place + 1].text)
            place += 2
        elif words[place].is_sign("[") and isinstance(way[-1], str):
            end = _closing(words, place)
            index = _index(words[place + 1 : end], read_index)
            if index is None:
                break
            way.append(index)
            place = end + 1
        else:
            break
    return way, place


def _closing(words: Sequence[Token], opening: int) -> int:
    depth = 0
    for place in range(opening, len(words)):
        if words[place].is_sign("(", "[", "{"):
            depth += 1
        elif words[place].is_sign(")", "]", "}"):
            depth -= 1
            if depth == 0:
                return place
    return len(words)


def _index(words: Sequence[Token], read_index: ReadIndex) -> Shortcut | None:
    if len(words) == 1 and words[0].kind == "number":
        number = float(words[0].text)
        answer = (True, int(number) if number.is_integer() else number)
        return lambda _: answer
    path = read_shortcut(words, read_index)
    if path is not None or not _is_steady(words):
        return path
    return read_index(slice(words[0].start, words[-1].end))


def _is_steady(words: Sequence[Token]) -> bool:
    """Whether ``words`` are sums and products of numbers and variables, which no item changes."""
    return len(words) > 0 and all(_is_part(*three) for three in neighbours(words))


def _is_part(before: Token | None, word: Token, after: Token | None) -> bool:
    is_field = before is not None and before.is_sign(".")
    if word.kind == "variable":
        is_called = after is not None and after.is_sign("(")
        return word.text not in ("", "$") and not is_called and not is_field
    if word.kind == "name":
        return is_field
    if word.is_sign("."):
        return before is not None and before.kind in ("variable", "name")
    return word.kind == "number" or word.is_sign("+", "-", "*", "/", "%", "(", ")")
