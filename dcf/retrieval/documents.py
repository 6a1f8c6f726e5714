"""What every backend of documents does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dcf.memory import Actor, DocumentPiece, KeptDocument, KeptDocuments


@dataclass(frozen=True, slots=True)
class DocumentHit:
    """A piece of a document that was found, and why. ``score`` is between 0 and 1, and may be
    compared inside of one answer. ``likeness`` is that of the meanings, at most 1, None where they
    were not compared."""

    piece: DocumentPiece
    score: float
    why: str
    likeness: float | None = None


class ProjectDocuments(KeptDocuments, Protocol):
    """Documents of projects that are found: what one project has, no other sees. Any number of
    callers at once."""

    async def take(self, known: KeptDocument, *, by: Actor) -> bool:
        """Keep a document of another place as it is there, its id and times too, unless its file
        or its id has one here; whether it was kept."""

    async def find(self, project: str, query: str, *, limit: int = 10) -> tuple[DocumentHit, ...]:
        """At most ``limit`` (1 to 1,000) pieces that answer ``query``, the best first; those of
        what was read last for a query without any word. Raises InvalidEntry."""

    async def catch_up(self) -> None:
        """Make all that is kept found by its meaning too: what ``find`` else begins with."""
