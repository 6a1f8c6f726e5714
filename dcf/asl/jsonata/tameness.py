"""Which JSONata expressions are evaluated in this process: those that surely end, and soon.

An expression is tame when nothing in it loops but over its data, and when no value that it makes is
much larger than these. What one step of the engine does is then no more than a walk over such a
value, and between two steps the engine looks at its limits.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from typing import NamedTuple

from dcf.asl.jsonata.tokens import Token, ends_value, neighbours

LARGEST_VALUE = 2_000_000
"""Characters of JSON text that a value of a tame expression has at most."""

_SIZES = (250, 500, *range(1_000, 8_000, 1_000), *range(8_000, 512_001, 8_000))
_MOST_WORDS = 1_000
"""A value may nest as deep as an expression is long."""

_MOST_BRACKETS = 40
"""Deepest nesting that is looked into."""


_SAME = """
    abs append assert average base64decode boolean ceil contains count decodeUrl decodeUrlComponent
    error exists floor fromMillis join length lookup lowercase max merge millis min
    not now number power reverse sort sqrt substring substringAfter substringBefore sum toMillis
    trim type uppercase zip
"""
_TIMES = {
    **dict.fromkeys(_SAME.split(), 1),
    **{"base64encode": 2, "spread": 2},
    **{"encodeUrl": 3, "encodeUrlComponent": 3},
    "split": 4,  # a letter becomes a text
    "string": 6,  # a letter becomes \u0000
}
"""The functions whose work is that of a few walks over their arguments, and how many times larger
than these the result may be. ``$keys`` and ``$distinct`` compare everything with everything."""

_MOST_ARGUMENTS = {"now": 0, "millis": 0, "string": 1, "fromMillis": 1, "toMillis": 1}
"""With more of them, such as a picture, they may do more."""

_WILD_SIGNS = ("..", "**", "~>", "|", "@", "#")


def tame_size(words: Sequence[Token]) -> int:
    """The most characters of JSON text that the data may have for the expression to be tame.

    0 where nothing says that it ends soon.
    """
    if len(words) > _MOST_WORDS:
        return 0
    try:
        for three in neighbours(words):
            _refuse_wild(*three)
        fitting = bisect(_SIZES, False, key=lambda size: _largest(words, size) > LARGEST_VALUE)
    except _Wild:
        return 0
    return _SIZES[fitting - 1] if fitting else 0


class _Wild(Exception):
    """An expression is not tame."""


class _Weight(NamedTuple):
    """The size of a value: so many times the context item, so many times a variable, and more."""

    context: float = 0
    variables: float = 0
    more: float = 0

    def times(self, factor: float) -> _Weight:
        return _Weight(*(part * factor for part in self))

    def plus(self, other: _Weight) -> _Weight:
        return _Weight(*map(sum, zip(self, other, strict=True)))


def _largest(words: Sequence[Token], size: int) -> float:
    context, variables, more = _Weighing(words, size).sequence()
    return (context + variables) * size + more


def _refuse_wild(before: Token | None, word: Token, after: Token | None) -> None:
    is_called = after is not None and after.is_sign("(")
    match word.kind:
        case "name" if word.text in ("and", "or", "in"):  # a field, or an operator
            is_wild = not ends_value(before)
        case "name":
            is_wild = is_called
        case "variable":
            is_wild = is_called and word.text not in _TIMES
        case "sign" if word.text in ("*", "%"):  # every field, a parent; or an operator
            is_wild = not ends_value(before)
        case kind:
            is_wild = kind == "regex" or word.is_sign(*_WILD_SIGNS)
    if is_wild:
        raise _Wild


class _Weighing:
    """Walks once over the words of an expression; its data have ``size`` characters."""

    def __init__(self, words: Sequence[Token], size: int) -> None:
        self._words = words
        self._size = size
        self._place = 0
        self._depth = 0
        self._variable = 1.0  # the size of one, in terms of the data

    def sequence(self) -> _Weight:
        """All values up to the next closing bracket, which is passed."""
        self._depth += 1
        if self._depth > _MOST_BRACKETS:
            raise _Wild
        start, outside = self._place, self._variable
        values, path = _Weight(), _Weight()  # those before, and the one that may go on
        while self._place < len(self._words):
            before = self._words[self._place - 1] if self._place > start else None
            word = self._words[self._place]
            self._place += 1
            if word.is_sign(")", "]", "}"):
                break
            if word.is_sign(";"):
                self._variable *= self._once(values.plus(path))
                values = path = _Weight()
            elif word.is_sign(":="):
                self._refuse_unless_first(start)
            elif word.is_sign("(", "[", "{") or word.kind != "sign":
                value = self._value(word)
                is_once = word.is_sign("[") or (before and before.is_sign("^"))
                if before and before.is_sign("."):
                    path = path.times(self._each(value))
                elif _may_go_on(before):
                    path = path.times(self._once(value) if is_once else self._each(value))
                else:
                    values, path = values.plus(path), value
        self._depth -= 1
        self._variable = outside
        return values.plus(path)

    def _once(self, value: _Weight) -> float:
        """How many times as large as an item is what is made of it, and forgotten."""
        return max(1, value.context + value.variables + value.more / self._size)

    def _each(self, value: _Weight) -> float:
        """How many times as large as the items is what is made of each of them."""
        return max(1, value.context + value.variables * self._size + value.more)

    def _value(self, word: Token) -> _Weight:
        if word.kind == "sign":
            return self.sequence().plus(_Weight(more=0 if word.text == "(" else 3))
        if word.kind == "variable" and self._is_next("("):
            return self._call(word.text)
        if word.kind == "variable" and word.text:
            return _Weight(variables=self._variable)
        if word.kind in ("variable", "name"):
            return _Weight(context=1)
        return _Weight(more=len(word.text) if word.kind == "text" else 8)

    def _call(self, name: str) -> _Weight:
        self._place += 1
        start = self._place
        given = self.sequence()
        arguments = _arguments(self._words[start : self._place - 1])
        if len(arguments) > _MOST_ARGUMENTS.get(name, len(arguments)):
            raise _Wild
        times = _TIMES[name]
        if name == "join" and len(arguments) > 1:
            [separator, *others] = arguments[-1]
            if separator.kind != "text" or others:
                raise _Wild
            times = len(separator.text)
        return given.plus(_Weight(context=1)).times(times)

    def _refuse_unless_first(self, start: int) -> None:
        """A variable is set at the start of what a ``;`` ends, so that all that reads it is behind
        that, and in a block, which no call is."""
        place = self._place - 2  # of the variable
        is_called = start > 1 and self._words[start - 2].kind == "variable"
        is_in_block = start > 0 and self._words[start - 1].is_sign("(") and not is_called
        if not is_in_block or not (place == start or self._words[place - 1].is_sign(";")):
            raise _Wild

    def _is_next(self, sign: str) -> bool:
        return self._place < len(self._words) and self._words[self._place].is_sign(sign)


def _may_go_on(before: Token | None) -> bool:
    """Whether a bracket behind ``before`` does something with the value in front of it."""
    is_operator = before is not None and before.is_sign("*", "%")
    return (ends_value(before) and not is_operator) or (before is not None and before.is_sign("^"))


def _arguments(words: Sequence[Token]) -> list[list[Token]]:
    """What stands between the commas of a call."""
    found: list[list[Token]] = [[]] if words else []
    depth = 0
    for word in words:
        depth += word.is_sign("(", "[", "{") - word.is_sign(")", "]", "}")
        if depth == 0 and word.is_sign(","):
            found.append([])
        else:
            found[-1].append(word)
    return found
