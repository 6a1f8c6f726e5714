"""Documents in files that anybody can read: JSON in a folder."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from dcf.memory import Clock, NewId
from dcf.retrieval.document_folder import DocumentFolder
from dcf.retrieval.locked_folder import usable
from dcf.retrieval.tabled_documents import TabledDocuments

Out = TypeVar("Out")

_FIRST = "documents-"


class FileDocuments(TabledDocuments):
    """Documents below ``folder``, one folder for each project, for every process that uses it. What
    was kept is on the disk; each process has the documents of the projects that it was asked for
    in its own memory, too."""

    def __init__(self, folder: Path, clock: Clock, new_id: NewId) -> None:
        super().__init__(clock, new_id)
        self._folder = folder
        self._by_name: dict[str, DocumentFolder] = {}

    def _table(self, project: str) -> DocumentFolder:
        # A name for its folder that is none itself.
        return self._named(f"{_FIRST}{hashlib.sha256(project.encode()).hexdigest()[:16]}")

    def _tables(self) -> Iterable[DocumentFolder]:
        return [self._named(one.name) for one in sorted(self._folder.glob(f"{_FIRST}*"))]

    def _tables_with(self, document_id: str) -> Iterable[DocumentFolder]:
        return (one for one in self._tables() if one.may_have(document_id))

    def _named(self, name: str) -> DocumentFolder:
        return self._by_name.setdefault(name, DocumentFolder(self._folder / name))

    async def _at_work(self, work: Callable[..., Out], *arguments: object) -> Out:
        """What ``work`` returns in another thread. Raises FolderUnusable."""
        with usable(self._folder):
            return await asyncio.to_thread(work, *arguments)
