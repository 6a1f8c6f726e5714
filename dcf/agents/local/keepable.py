"""What models and tools say, in the form in which it can be kept."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dcf.agents.assignment import JSON

_DEEPEST = 100


def keepable(value: object, depth: int = 0) -> JSON:
    """``value`` as JSON that a memory takes: no NUL, no half surrogates, no NaN, not endlessly
    deep. What is no JSON at all stands there as its text."""
    if depth > _DEEPEST:
        return "…"
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {_text(str(name)): keepable(one, depth + 1) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [keepable(one, depth + 1) for one in value]
    return _text(value if isinstance(value, str) else str(value))


def _text(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "replace").decode()
