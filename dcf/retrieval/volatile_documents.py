"""Documents that end with their process."""

from __future__ import annotations

from collections.abc import Iterable

from dcf.memory import Clock, NewId
from dcf.retrieval.document_table import DocumentTable
from dcf.retrieval.tabled_documents import TabledDocuments


class VolatileDocuments(TabledDocuments):
    """Documents in the memory of this process: nothing is written to a disk."""

    def __init__(self, clock: Clock, new_id: NewId) -> None:
        super().__init__(clock, new_id)
        self._by_project: dict[str, DocumentTable] = {}

    def _table(self, project: str) -> DocumentTable:
        return self._by_project.setdefault(project, DocumentTable())

    def _tables(self) -> Iterable[DocumentTable]:
        return [*self._by_project.values()]

    def _tables_with(self, document_id: str) -> Iterable[DocumentTable]:
        return self._tables()
