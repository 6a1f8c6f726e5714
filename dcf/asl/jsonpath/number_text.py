"""Numbers and the texts that write them, as Java does, in which Jayway's JsonPath compares them."""

from __future__ import annotations

import re
from decimal import Decimal

_WRITTEN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_LONGEST = 40


class NumberLiteral(float):
    """A number that a filter writes with a fraction or an exponent: it keeps its digits, by which
    the text ``1.50`` equals ``1.50`` and not ``1.5``."""

    def __new__(cls, text: str) -> NumberLiteral:
        literal = super().__new__(cls, text)
        literal.text = _exact(Decimal(text))
        return literal

    text: str


def number_in(text: str) -> float | None:
    """The number that ``text`` writes; None when it writes none."""
    return float(text) if len(text) <= _LONGEST and _WRITTEN.fullmatch(text) else None


def compared_text(number: float) -> str:
    """The text that equals ``number`` in a filter: ``1`` and ``1.0`` differ (``BigDecimal``)."""
    if isinstance(number, NumberLiteral):
        return number.text
    return str(number) if isinstance(number, int) else _exact(Decimal(joined_text(number)))


def joined_text(number: float) -> str:
    """``number`` as ``concat()`` writes it: ``1``, ``1.5``, ``1.0E25`` (``Double.toString``)."""
    plain = repr(number)
    if isinstance(number, int) or 1e-3 <= abs(number) < 1e7 or number == 0:
        return plain
    sign, digits, _ = Decimal(plain).normalize().as_tuple()
    first, *more = map(str, digits)
    return f"{'-' * sign}{first}.{''.join(more) or '0'}E{Decimal(plain).adjusted()}"


def _exact(number: Decimal) -> str:
    return str(number if number else abs(number))
