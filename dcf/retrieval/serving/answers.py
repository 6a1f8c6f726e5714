"""Items and pieces of code as the service answers them: names in camelCase, what is not there left
out."""

from __future__ import annotations

from typing import Any

from dcf.retrieval.candidate import Scored
from dcf.retrieval.item import Item


def stored(item: Item) -> dict[str, Any]:
    """A logged item."""
    return _there(
        id=item.id,
        text=item.text,
        tags=list(item.tags),
        source=item.source,
        filePath=item.file_path,
        timestamp=item.timestamp,
        citation=item.citation,
    )


def context_item(scored: Scored) -> dict[str, Any]:
    """One entry of a context."""
    candidate = scored.candidate
    rest = {
        "citation": candidate.citation,
        "why": list(scored.why),
        "times": candidate.times if candidate.times > 1 else None,
    }
    if candidate.memory is not None:
        item = stored(candidate.memory.item)
        return _there(type="memory", score=scored.score, **{**item, **rest})
    hit = candidate.code
    assert hit is not None
    return _there(
        type="code_snippet",
        score=scored.score,
        text=hit.text,
        filePath=hit.path,
        firstLine=hit.first_line,
        lastLine=hit.last_line,
        symbol=hit.symbol or None,
        **rest,
    )


def _there(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
