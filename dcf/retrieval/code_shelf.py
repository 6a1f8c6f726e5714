"""The code of several projects: an index for each, made when it is first asked for."""

from __future__ import annotations

import hashlib
from pathlib import Path

from dcf.code import CodeRetriever
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
