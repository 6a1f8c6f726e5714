"""JSONata's ``$string``: values written as JavaScript writes them."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

from dcf.asl.evaluation_budget import Budget
from dcf.asl.jsonata.library import JException, Jsonata, Parser
from dcf.asl.jsonata.value import NULL, weigh

_EXPONENT_FROM = 1e21
_EXPONENT_BELOW = 1e-6


def to_text(value: Any, budget: Budget, indent: str = "") -> str:
    """A string as it is, a function as nothing, all else as JSON text."""
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        weigh(value, budget)
    return _text(value, indent, "\n")


def number_text(value: float) -> str:
    """Fifteen digits, whole numbers below 1e21 in full: ``3``, ``0.1``, ``1e+21``, ``1e-7``."""
    if isinstance(value, float) and not math.isfinite(value):
        raise JException("D3001", -1)
    rounded = float(f"{value:.15g}") if not _is_safe(value) else value
    if rounded == int(rounded) and abs(rounded) < _EXPONENT_FROM:
        return str(int(rounded))
    if abs(rounded) >= _EXPONENT_FROM or abs(rounded) < _EXPONENT_BELOW:
        mantissa, _, exponent = repr(float(rounded)).partition("e")
        return f"{mantissa}e{int(exponent):+d}"
    return format(Decimal(repr(float(rounded))), "f")


def _is_safe(value: float) -> bool:
    return isinstance(value, int) and abs(value) < 2**53


def _text(value: Any, indent: str, newline: str) -> str:
    if value is None or value is NULL:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    inner = newline + indent
    between, colon = (f",{inner}", ": ") if indent else (",", ":")
    if isinstance(value, dict):
        pairs = [
            f"{json.dumps(key, ensure_ascii=False)}{colon}{_text(item, indent, inner)}"
            for key, item in value.items()
        ]
        return _enclosed("{", between.join(pairs), "}", indent, newline)
    if isinstance(value, list):
        items = [_text(item, indent, inner) for item in value]
        return _enclosed("[", between.join(items), "]", indent, newline)
    if isinstance(value, (Jsonata.JFunctionCallable, Parser.Symbol)):
        return '""' if newline != "\n" else ""
    return '""'


def _enclosed(opening: str, content: str, closing: str, indent: str, newline: str) -> str:
    if not indent or not content:
        return f"{opening}{content}{closing}"
    return f"{opening}{newline}{indent}{content}{newline}{closing}"
