"""Items and pieces of code as the service answers them: names in camelCase, what is not there left
out."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic.alias_generators import to_camel

from dcf.retrieval.bundle import Bundle
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
    one = scored.candidate
    about = {to_camel(name): value for name, value in one.about.items()}
    return _there(
        type=one.type,
        score=scored.score,
        text=one.text,
        **about,
        citation=one.citation,
        tokens=scored.tokens,
        why=list(scored.why),
    )


def bundle(made: Bundle) -> dict[str, Any]:
    """What a budget was spent on, in tokens."""
    kinds = {
        kind: {to_camel(name): value for name, value in asdict(part).items()}
        for kind, part in made.parts.items()
    }
    return {"budget": made.budget, "used": made.used, "kinds": kinds}


def _there(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
