"""What a reader of one more format has to have, and what it reads: objects that may have anything
in the place of anything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from dcf.memory.thread import NewThread

TITLE = 200
"""Characters of a title that was made of a text."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A JSON object of a file, and the line (from 1) on which it begins."""

    line: int
    value: Mapping[str, Any]


class Adapter(Protocol):
    """A format. Entries that it does not know are passed over, never refused."""

    name: str

    def recognises(self, value: Mapping[str, Any]) -> bool:
        """Whether only this format has an object like ``value``."""

    def threads(self, entries: Sequence[Entry], stem: str) -> Iterator[NewThread]:
        """The threads of a file; ``stem`` is its name, for sources without an id of their own."""


def text_of(value: Mapping[str, Any], *names: str) -> str:
    """The first of ``names`` that is a text and not empty."""
    found = (value.get(name) for name in names)
    return next((one for one in found if isinstance(one, str) and one.strip()), "")


def object_of(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """What is at ``name`` if it is an object; otherwise an empty one."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def objects_of(value: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """The objects in the list at ``name``."""
    found = value.get(name)
    if isinstance(found, list):
        yield from (one for one in found if isinstance(one, dict))


def said_in(content: Any) -> str:
    """The text of a message whose content is a text, or blocks of which some are."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (text_of(one, "text") for one in content if isinstance(one, dict))
    return "\n".join(text for text in texts if text)


def as_text(value: Any) -> str:
    """A result of a tool: its text, or any other value as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return said_in(value) or json.dumps(value, ensure_ascii=False)


def time_of(value: Any) -> int | None:
    """An ISO 8601 text, or milliseconds since 1970, in ms since the epoch; UTC where no zone is
    said."""
    try:
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
            return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
        if isinstance(value, int | float) and not isinstance(value, bool):
            datetime.fromtimestamp(value / 1000, UTC)
            return round(value)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def title_of(text: str) -> str:
    """The first line that says something."""
    lines = (line.strip() for line in text[: 10 * TITLE].splitlines())
    return next((line[:TITLE] for line in lines if line), "")
