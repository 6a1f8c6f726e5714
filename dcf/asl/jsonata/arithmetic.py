"""The arithmetic of JSONata, which is JavaScript's: no division fails."""

from __future__ import annotations

import math
from collections.abc import Callable

from dcf.asl.jsonata.value import LARGEST_EXACT


def calculate(left: float, sign: str, right: float) -> float:
    """``left sign right``; a whole result below 64 bits is an integer."""
    result = _ARITHMETIC[sign](left, right)
    return int(result) if result.is_integer() and abs(result) < LARGEST_EXACT else result


def _divide(left: float, right: float) -> float:
    if right != 0:
        return left / right
    return math.nan if left == 0 or math.isnan(left) else math.copysign(math.inf, left)


def _remainder(left: float, right: float) -> float:
    return math.fmod(left, right) if right != 0 else math.nan


_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _divide,
    "%": _remainder,
}
