"""Whether a value is what a recording expects, placeholders counted in."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

_ROUNDING = 1e-12


def alike(expected: Any, actual: Any, placeholders: Sequence[str] = ()) -> bool:
    """Whether ``actual`` is as ``expected``: members of objects in any order, items in theirs.

    A placeholder in an expected text or key stands for any text, alone for any value. Numbers
    are equal by value (1 is 1.0), a boolean is no number. Where an object, array, number,
    boolean or null is expected, its JSON text does too: recordings were parsed in places.
    """
    return _alike(expected, actual, tuple(placeholders))


def _alike(expected: Any, actual: Any, placeholders: tuple[str, ...]) -> bool:
    if isinstance(expected, str):
        return _text_alike(expected, actual, placeholders)
    if isinstance(expected, bool) or expected is None:
        return actual is expected
    if isinstance(expected, (int, float)):
        return _number_alike(expected, actual)
    if isinstance(actual, str):
        try:
            actual = json.loads(actual)
        except (ValueError, RecursionError):
            return False
    if isinstance(expected, dict):
        return isinstance(actual, dict) and _object_alike(expected, actual, placeholders)
    return (
        isinstance(actual, list)
        and len(actual) == len(expected)
        and all(_alike(e, a, placeholders) for e, a in zip(expected, actual, strict=True))
    )


def _text_alike(expected: str, actual: Any, placeholders: tuple[str, ...]) -> bool:
    if expected in placeholders:
        return True
    pattern = _pattern(expected, placeholders)
    if pattern is None:
        return isinstance(actual, str) and actual == expected
    text = actual if isinstance(actual, str) else json.dumps(actual)
    return pattern.fullmatch(text) is not None


def _number_alike(expected: int | float, actual: Any) -> bool:
    if not isinstance(actual, (int, float)) or isinstance(actual, bool):
        return False
    if actual == expected:
        return True
    return isinstance(expected, float) and abs(actual - expected) <= _ROUNDING * abs(expected)


def _object_alike(
    expected: dict[str, Any], actual: dict[str, Any], placeholders: tuple[str, ...]
) -> bool:
    """Each expected member takes one of ``actual``, by its own name or one its name stands for."""
    if len(expected) != len(actual):
        return False
    left = dict(actual)
    unnamed = []
    for key, value in expected.items():
        if key not in left:
            unnamed.append((key, value))
        elif not _alike(value, left.pop(key), placeholders):
            return False
    for key, value in unnamed:
        found = next(
            (
                name
                for name in left
                if _text_alike(key, name, placeholders) and _alike(value, left[name], placeholders)
            ),
            None,
        )
        if found is None:
            return False
        del left[found]
    return True


@lru_cache(maxsize=4096)
def _pattern(expected: str, placeholders: tuple[str, ...]) -> re.Pattern[str] | None:
    """The pattern that ``expected`` stands for; None when it has no placeholder in it."""
    present = sorted((name for name in placeholders if name in expected), key=len, reverse=True)
    if not present:
        return None
    pieces = re.split("(" + "|".join(map(re.escape, present)) + ")", expected)
    parts = (".*" if number % 2 else re.escape(piece) for number, piece in enumerate(pieces))
    return re.compile("".join(parts), re.DOTALL)
