"""Documents in the memory that everything else uses."""

from __future__ import annotations

from dcf.memory import Documents, Memory
from dcf.retrieval.documents import DocumentHit
from dcf.retrieval.shelves import reason


class MemoryDocuments(Documents):
    """Those of ``memory``, for every process that has it open, found by its search."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory.ledger)
        self._memory = memory

    async def find(self, project: str, query: str, *, limit: int = 10) -> tuple[DocumentHit, ...]:
        found = {
            one.ref: one
            for one in await self._memory.search.find(
                query, k=limit, projects=[project], kinds=["document"]
            )
        }
        pieces = await self.several(list(found))
        hits = ((piece, found[f"{piece.document_id}/{piece.number}"]) for piece in pieces)
        return tuple(
            DocumentHit(
                *(piece, one.score, reason(words=one.says_it, likeness=one.similarity)),
                one.similarity,
            )
            for piece, one in hits
        )

    async def catch_up(self) -> None:
        await self._memory.search.catch_up()
