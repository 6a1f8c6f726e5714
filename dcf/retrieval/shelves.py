"""Code, observations, playbooks and facts of several projects, each named by its folder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dcf.code import CodeRetriever
from dcf.memory import Found, Memory, PlaybookMatch
from dcf.search import Embedder


class CodeShelf:
    """``folder`` holds the indexes; they can be deleted, and are made anew. With an ``embedder``
    meanings are compared too."""

    def __init__(self, folder: Path, embedder: Embedder | None = None) -> None:
        self._folder = folder
        self._embedder = embedder
        self._retrievers: dict[str, CodeRetriever] = {}

    def of(self, project: str) -> CodeRetriever:
        """The code below the folder ``project``. Raises ``RootMissing``."""
        found = self._retrievers.get(project)
        if found is None:
            name = hashlib.sha256(project.encode()).hexdigest()[:16]
            path = self._folder / f"{name}.db"
            found = self._retrievers[project] = CodeRetriever(Path(project), path, self._embedder)
        return found

    async def close(self) -> None:
        """End what goes on behind answers."""
        for retriever in self._retrievers.values():
            await retriever.close()


class ObservationShelf:
    """What runs, sessions and threads of a project showed, found in the memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def find(
        self, project: str, query: str, *, limit: int = 10, workflow: str | None = None
    ) -> tuple[Found, ...]:
        """At most ``limit`` (1 to 1,000) observations, of all workflows or of one, that answer
        ``query``, the best first. Raises InvalidEntry."""
        return await self._memory.search.find(
            query,
            k=limit,
            projects=[project],
            kinds=["observation"],
            workflows=() if workflow is None else [workflow],
        )


class PlaybookShelf:
    """What is known about errors of a project that were seen before."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def find(self, project: str, query: str, *, limit: int = 5) -> tuple[PlaybookMatch, ...]:
        """At most ``limit`` playbooks that fit an error in ``query``, the best first."""
        return await self._memory.playbooks.match(project, query, limit=limit)


@dataclass(frozen=True, slots=True)
class FactHit:
    """A sentence of a knowledge graph; ``citation`` is a run that it is known from, ``support`` of
    how many things that happened; ``at`` when that run's ended, ms, 0 where nobody knows."""

    text: str
    citation: str
    support: int
    at: int


class FactShelf(Protocol):
    """What a knowledge graph says of a project."""

    async def find(self, project: str, query: str, *, limit: int = 10) -> Sequence[FactHit]:
        """At most ``limit`` facts that answer ``query``, the best first. Raises FactsAway."""
        ...


def reason_of(found: Found) -> str:
    """Why memory's search gives a text."""
    if found.similarity is None:
        return f"words {found.words:.2f}" if found.words else "newest"
    return f"words {found.words:.2f}, meaning {found.similarity:.2f}"
