"""Documents on their way into and out of RedisJSON, which does not keep every number.

A number that would come back changed (an integer beyond 64 bits, some floats) is stored as
``{"$json": "<its text>"}``, and so is a user's own object that has a member ``$json``; all else
stands as it is, to be looked at with any Redis client.
"""

from __future__ import annotations

import json
from typing import Any, Final

from control_plane import JSON, payload

_MARK: Final = "$json"
_INT64: Final = 2**63


def store_text(value: JSON) -> str:
    """The text to store for ``value``. Raises control_plane.BadDocument for what is no JSON."""
    return payload.to_text(_marked(value))


def read_text(text: str) -> JSON:
    """The document behind a stored text."""
    return _unmarked(json.loads(text))


def _marked(value: JSON) -> JSON:
    if isinstance(value, dict):
        if _MARK in value:
            return {_MARK: payload.to_text(value)}
        return {name: _marked(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_marked(item) for item in value]
    if isinstance(value, float) or (type(value) is int and not -_INT64 <= value < _INT64):
        return json.loads(payload.encode(value).stored)
    return value


def _unmarked(value: Any) -> JSON:
    if isinstance(value, list):
        return [_unmarked(item) for item in value]
    if isinstance(value, dict):
        if value.keys() == {_MARK} and isinstance(value[_MARK], str):
            return _spelled(value)
        return {name: _unmarked(item) for name, item in value.items()}
    return value


def _spelled(marked: dict[str, Any]) -> JSON:
    """What ``marked`` spells; itself when somebody else wrote it and it spells nothing."""
    try:
        return json.loads(marked[_MARK])
    except ValueError:
        return marked
