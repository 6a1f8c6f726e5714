"""Long texts of old events, compressed: taken out of the JSON of a change, and put back."""

from __future__ import annotations

import json
import zlib
from typing import Any

SHORTEST = 200
"""Characters of a text that is taken out. What queries look at in a change is shorter."""

_MARK = "$text"


def packed(change: Any, level: int) -> tuple[Any, bytes]:
    """``change`` with ``{"$text": n}`` for each long text, and these texts, compressed by zlib at
    ``level`` (1 to 9). No change has such an object of its own: that is no name of a
    column."""
    texts: list[str] = []
    return _taken_out(change, texts), zlib.compress(
        json.dumps(texts, ensure_ascii=False).encode("utf-8", "surrogatepass"), level
    )


def unpacked(change: Any, value: bytes | None) -> Any:
    """``change`` as it was before ``packed``; as it is if nothing was taken out."""
    if value is None:
        return change
    return _put_back(change, json.loads(zlib.decompress(value).decode("utf-8", "surrogatepass")))


def _taken_out(part: Any, texts: list[str]) -> Any:
    if isinstance(part, dict):
        return {name: _taken_out(one, texts) for name, one in part.items()}
    if isinstance(part, list):
        return [_taken_out(one, texts) for one in part]
    if isinstance(part, str) and len(part) >= SHORTEST:
        texts.append(part)
        return {_MARK: len(texts) - 1}
    return part


def _put_back(part: Any, texts: list[str]) -> Any:
    if isinstance(part, dict):
        if part.keys() == {_MARK}:
            return texts[part[_MARK]]
        return {name: _put_back(one, texts) for name, one in part.items()}
    if isinstance(part, list):
        return [_put_back(one, texts) for one in part]
    return part
