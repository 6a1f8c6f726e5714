"""The search index of the skills that a server offers: one, used by one call at a time."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from dcf.search import DEFAULT_EMBEDDER, embedder_named
from dcf.skills.discovery import SkillSearch

T = TypeVar("T")


class SkillIndex:
    """The index in the file ``path``; None: in a temporary one, gone with ``close``.

    Embeddings are loaded by the first search.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._search: SkillSearch | None = None
        self._turn = asyncio.Lock()

    async def use(self, work: Callable[[SkillSearch], T]) -> T:
        """What ``work`` gives for the index, in a thread."""
        async with self._turn:
            return await asyncio.to_thread(lambda: work(self._opened()))

    def close(self) -> None:
        """Remove a temporary index."""
        if self._folder is not None:
            self._folder.cleanup()

    def _opened(self) -> SkillSearch:
        if self._search is None:
            path = self._path
            if path is None:
                self._folder = tempfile.TemporaryDirectory(prefix="dcf-skills-")
                path = Path(self._folder.name) / "skills.db"
            self._search = SkillSearch(path, embedder_named(DEFAULT_EMBEDDER))
        return self._search
