"""An array that a filter asks again and again whether it has a value."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from dcf.asl.jsonpath.number_text import compared_text, number_in
from dcf.asl.payload import JSON, is_number


class _Scalars(NamedTuple):
    """The scalars of an array by kind; ``written`` are the numbers that its texts write, and
    ``number_texts`` the texts of its numbers."""

    texts: set[str]
    numbers: set[Any]
    written: set[float]
    number_texts: set[str]
    words: set[bool | None]


class KnownArray(list[JSON]):
    """An array that knows its scalars, so that one look tells whether a scalar is among them."""

    def has(self, value: JSON) -> bool:
        """Whether ``value``, a scalar, equals an element, as ``value == element`` in a filter."""
        known = self._scalars
        if isinstance(value, str):
            return value in known.texts or value in known.number_texts
        if is_number(value):
            return value in known.numbers or value in known.written
        return value in known.words

    def gives(self, value: JSON) -> bool:
        """Whether an element equals ``value``, a scalar, as ``element == value`` in a filter."""
        known = self._scalars
        if isinstance(value, str):
            return value in known.texts or number_in(value) in known.numbers
        if is_number(value):
            return value in known.numbers or compared_text(value) in known.texts
        return value in known.words

    @cached_property
    def _scalars(self) -> _Scalars:
        texts = {item for item in self if isinstance(item, str)}
        written = {number for number in map(number_in, texts) if number is not None}
        numbers = [item for item in self if is_number(item)]
        # Apart from the numbers: for Python, ``True`` is 1.
        words = {item for item in self if item is None or isinstance(item, bool)}
        # Texts of all of them: for Python 1 and 1.0 are the same number.
        number_texts = set(map(compared_text, numbers))
        return _Scalars(texts, set(numbers), written, number_texts, words)
