"""Code, observations, threads, playbooks and facts of several projects, named by their folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dcf.code import CodeRetriever
from dcf.memory import Found, Memory, PlaybookMatch, ThreadHit
from dcf.retrieval.backend import project_digest
from dcf.search import Embedder, words


class CodeRetrievers:
    """``folder`` holds the indexes; they can be deleted, and are made anew. With an ``embedder``
    meanings are compared too. ``goes_on``: whether indexing goes on behind answers."""

    def __init__(
        self, folder: Path, embedder: Embedder | None = None, *, goes_on: bool = True
    ) -> None:
        self._folder = folder
        self._embedder = embedder
        self._goes_on = goes_on
        self._retrievers: dict[str, CodeRetriever] = {}

    def of(self, project: str) -> CodeRetriever:
        """The code below the folder ``project``. Raises ``RootMissing``."""
        found = self._retrievers.get(project)
        if found is None:
            path = self._folder / f"{project_digest(project)}.db"
            found = CodeRetriever(Path(project), path, self._embedder, goes_on=self._goes_on)
            self._retrievers[project] = found
        return found

    async def close(self) -> None:
        """End what goes on behind answers."""
        for retriever in self._retrievers.values():
            await retriever.close()


class ObservationRetriever:
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


class ThreadRetriever:
    """What was said and done in threads of a project and of folders in it, found in the memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def find(
        self, project: str, query: str, *, limit: int = 10, tools: bool = True
    ) -> tuple[ThreadHit, ...]:
        """The turns that are the best ``limit`` (1 to 1,000) answers to ``query``, the best first,
        with those beside them; none where it has no words. Without ``tools`` what was said in them
        alone. Raises InvalidEntry."""
        projects = await self._memory.threads.projects_in(project) if words(query) else ()
        if not projects:
            return ()
        found = await self._memory.search.find(query, k=limit, projects=projects, kinds=["thread"])
        return await self._memory.threads.hits(found, tools=tools)


class PlaybookRetriever:
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


class FactRetriever(Protocol):
    """What a knowledge graph says of a project."""

    async def find(self, project: str, query: str, *, limit: int = 10) -> Sequence[FactHit]:
        """At most ``limit`` facts that answer ``query``, the best first. Raises FactsAway."""
        ...


def reason(*, words: bool, likeness: float | None) -> str:
    """Why any backend gives an item or a piece of a document: it says ``words`` of the query, is
    like it, or both; else it is one of the newest. How well is said in the same way of all: by the
    relevance."""
    parts = ["words"] if words else []
    if likeness is not None:
        parts.append(f"meaning {likeness:.2f}")
    return ", ".join(parts) or "newest"


def reason_of(found: Found) -> str:
    """Why memory's search gives a text."""
    if found.similarity is None and not found.words:
        return "newest"
    parts = [f"words {found.words:.2f}"]
    if found.near:
        parts.append(f"{found.near:.2f} of it beside")
    if found.similarity is not None:
        parts.append(f"meaning {found.similarity:.2f}")
    return ", ".join(parts)
