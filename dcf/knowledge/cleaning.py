"""JSON without what must not be kept."""

from __future__ import annotations

import json
from typing import Any

from dcf.knowledge.privacy import Privacy

LONGEST = 1_000
"""So many characters of a text that an analysis has written are kept."""


def clean_json(text: str, privacy: Privacy) -> str:
    """``text`` with its strings cleaned: its numbers are counts and times, which may look like what
    is taken out. What is no JSON is cleaned as a whole."""
    try:
        value = json.loads(text)
    except ValueError:
        return privacy.text(text, LONGEST)
    cleaned = clean(value, privacy)
    return text if cleaned == value else json.dumps(cleaned, sort_keys=True)


def clean(value: Any, privacy: Privacy) -> Any:
    """A JSON value with its strings cleaned."""
    match value:
        case str():
            return privacy.text(value, LONGEST)
        case list():
            return [clean(one, privacy) for one in value]
        case dict():
            return {privacy.text(name): clean(one, privacy) for name, one in value.items()}
        case _:
            return value
