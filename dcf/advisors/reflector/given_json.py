"""JSON texts that clients give: read so that what is kept can be read again."""

from __future__ import annotations

import json
from typing import Any

MOST_NESTED = 50


def read_given(name: str, text: str | None, warnings: list[str]) -> Any:
    """The value in ``text``; None where there is none, with a warning where it cannot be kept."""
    if text is None or not text.strip():
        return None
    try:
        value = json.loads(text, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        warnings.append(f"{name} holds half a surrogate pair, which is no text")
        return None
    except RecursionError:
        warnings.append(_deep(name))
        return None
    except ValueError as wrong:
        warnings.append(f"{name} is not JSON: {wrong}")
        return None
    if _is_deep(value):
        warnings.append(_deep(name))
        return None
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _deep(name: str) -> str:
    return f"{name} is nested more than {MOST_NESTED} levels deep"


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MOST_NESTED):
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner += one.values()
            elif isinstance(one, list):
                inner += one
        level = inner
    return bool(level)
