"""What a reader of one more format has to have, and what it reads: objects that may have anything
in the place of anything."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from dcf.memory.checking import MOMENTS, kept_time
from dcf.memory.threads.piece import Piece
from dcf.memory.threads.readers.json_stream import Entry
from dcf.memory.threads.readers.tally import Tally

MEDIA = frozenset({"image", "document", "file", "audio", "video"})
"""Blocks that stand for pictures and files."""
_SECONDS = 10_000_000_000
"""Seconds until the year 2286, and milliseconds until April 1970."""
TITLE = 200
"""Characters of a title that was made of a text."""


class Reading(Protocol):
    """The reading of one file of a format. What it does not know it keeps in turns of the role
    "unknown" and counts; nothing is refused."""

    def read(self, entry: Entry) -> Iterator[Piece]:
        """What the next entry says."""

    def end(self) -> Iterator[Piece]:
        """What is known when there are no more."""


class JsonFormat(Protocol):
    """A format of JSON objects."""

    @property
    def name(self) -> str:
        """The source type of its threads."""

    def recognises(self, value: Mapping[str, Any]) -> bool:
        """Whether only this format has an object like ``value``."""

    def reading(self, path: Path, tally: Tally) -> Reading:
        """The reading of a file; its name is for sources without an id of their own."""


class TextFormat(Protocol):
    """A format that is no JSON."""

    @property
    def name(self) -> str:
        """The source type of its threads."""

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether only this format has a file of this name that begins with ``head``."""

    def pieces(self, path: Path, chunks: Iterable[bytes], tally: Tally) -> Iterator[Piece]:
        """What a file says."""


class DatabaseFormat(Protocol):
    """A format of SQLite databases."""

    @property
    def name(self) -> str:
        """The source type of its threads."""

    def recognises(self, connection: sqlite3.Connection) -> bool:
        """Whether only this format has such a database. May raise ``sqlite3.Error``."""

    def pieces(self, path: Path, connection: sqlite3.Connection, tally: Tally) -> Iterator[Piece]:
        """What the database at ``path`` says, read by ``connection``."""


@dataclass(frozen=True, slots=True)
class SimpleReading:
    """The reading of a file each entry of which is a thread; ``pieces`` are those of an entry."""

    pieces: Callable[[Mapping[str, Any], Path, Tally], Iterator[Piece]]
    path: Path
    tally: Tally

    def read(self, entry: Entry) -> Iterator[Piece]:
        """The thread that an entry is."""
        return self.pieces(entry.value, self.path, self.tally)

    def end(self) -> Iterator[Piece]:
        """Nothing is left to say."""
        return iter(())


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
    blocks = (one for one in content if isinstance(one, dict))
    texts = (
        media_in(one) if one.get("type") in MEDIA else text_of(one, "text", "content")
        for one in blocks
    )
    return "\n".join(text for text in texts if text)


def media_in(block: Mapping[str, Any]) -> str:
    """What stands for a picture or a file."""
    source = object_of(block, "source")
    about = text_of(source, "media_type", "mediaType") or text_of(block, "media_type", "mimeType")
    name = text_of(block, "title", "name", "filename", "file_name") or text_of(source, "url")
    parts = (text_of(block, "type") or "file", name, about)
    return f"[{' '.join(part for part in parts if part)}]"


def given_in(value: Any) -> Mapping[str, Any]:
    """What a tool was called with: an object, or the text of one; of any other text ``input``."""
    if not isinstance(value, str):
        return value if isinstance(value, dict) else {}
    try:
        parsed = json.loads(value, parse_constant=str)
    except (ValueError, RecursionError):
        parsed = None
    # An escape may bring in what no memory keeps.
    return parsed if isinstance(parsed, dict) and "\\u" not in value else {"input": value}


def as_text(value: Any) -> str:
    """A result of a tool: its text, or any other value as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return said_in(value) or json.dumps(value, ensure_ascii=False)


def time_of(value: Any) -> int | None:
    """An ISO 8601 text, or milliseconds (seconds, if that is a time after 1970 only so) since 1970,
    in ms since the epoch; UTC where no zone is said. None for what is none or is not kept, as the
    first moment of the year 1 that programs in Go write for a time that is not set."""
    try:
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
            return kept_time(at if at.tzinfo else at.replace(tzinfo=UTC))
        if isinstance(value, int | float) and not isinstance(value, bool):
            ms = round(value * 1000 if 0 < value < _SECONDS else value)
            return ms if ms in MOMENTS else None
    except (ValueError, OverflowError):
        pass
    return None


def title_of(text: str) -> str:
    """The first line that says something."""
    lines = (line.strip() for line in text[: 10 * TITLE].splitlines())
    return next((line[:TITLE] for line in lines if line), "")
