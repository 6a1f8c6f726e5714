"""What a reader of one more format has to have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dcf.transcripts.thread import Thread


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

    def threads(self, entries: Sequence[Entry], stem: str) -> Iterator[Thread]:
        """The threads of a file; ``stem`` is its name, for sources without an id of their own."""
