"""What the file operations give back. Paths are relative to the root, with ``/``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EntryType = Literal["file", "directory", "symlink", "other"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder; ``size`` in bytes, ``modified`` in ISO 8601 (UTC)."""

    name: str
    path: str
    type: EntryType
    size: int | None
    modified: str | None


@dataclass(frozen=True, slots=True)
class Listing:
    """The entries of a folder by name; ``truncated`` when there are more."""

    path: str
    entries: tuple[Entry, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Content:
    """A part of a file. ``bytes_read`` is how far it goes from the offset; ``size`` is that of the
    whole file; ``truncated`` when more follows that was not read."""

    path: str
    content: str
    bytes_read: int
    size: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class Written:
    """What was written."""

    path: str
    bytes_written: int
    mode: Literal["append", "overwrite"]


@dataclass(frozen=True, slots=True)
class Made:
    """A folder that is there now; ``created`` unless it was before."""

    path: str
    created: bool


@dataclass(frozen=True, slots=True)
class Removed:
    """What is gone."""

    path: str
    removed: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """What has another place now."""

    source: str
    destination: str
