"""The documents of several projects, found in the memory."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.memory import DocumentPiece, Found, Memory


@dataclass(frozen=True, slots=True)
class DocumentHit:
    """A piece of a document that was found, and why."""

    piece: DocumentPiece
    score: float
    why: str


class DocumentShelf:
    """What ``dcf documents add`` keeps; each project, named by its folder, has its own."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def find(self, project: str, query: str, *, limit: int = 10) -> tuple[DocumentHit, ...]:
        """At most ``limit`` (1 to 1,000) pieces that answer ``query``, the best first; the newest
        first for a query without any word. Raises InvalidEntry."""
        found = {
            one.ref: one
            for one in await self._memory.search.find(
                query, k=limit, projects=[project], kinds=["document"]
            )
        }
        pieces = await self._memory.documents.several(list(found))
        hits = ((piece, found[f"{piece.document_id}/{piece.number}"]) for piece in pieces)
        return tuple(DocumentHit(piece, one.score, reason_of(one)) for piece, one in hits)


def reason_of(found: Found) -> str:
    """Why memory's search gives a text."""
    if found.similarity is None:
        return f"words {found.words:.2f}" if found.words else "newest"
    return f"words {found.words:.2f}, meaning {found.similarity:.2f}"
