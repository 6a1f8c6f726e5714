"""The backend ``memory``: logged items and documents that end with their process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from itertools import count, islice

from dcf.memory import Clock, NewId
from dcf.retrieval.backend import Elsewhere, demand_valid
from dcf.retrieval.errors import UnknownItem
from dcf.retrieval.item import Item, Lifetimes, NewItem, Recalled
from dcf.retrieval.tabled_documents import DocumentTable, TabledDocuments
from dcf.retrieval.word_table import WordTable
from dcf.search import words


class VolatileItems:
    """Items in the memory of this process: nothing is written to a disk."""

    def __init__(self, clock: Clock, new_id: NewId, lifetimes: Lifetimes | None = None) -> None:
        self._clock = clock
        self._new_id = new_id
        self._lifetimes = lifetimes or Lifetimes()
        self._numbers = count(1)
        # By project, and by a number that grows: the order in which they were logged.
        self._kept: dict[str, dict[int, Item]] = {}
        self._number_of: dict[tuple[str, str], int] = {}
        self._words = WordTable()

    async def remember(self, project: str, new: NewItem) -> Item:
        demand_valid(new)
        item = await asyncio.to_thread(Item.of, new, self._new_id("passage"), self._clock())
        number = next(self._numbers)
        self._kept.setdefault(project, {})[number] = item
        self._number_of[project, item.id] = number
        await asyncio.to_thread(self._words.put, [(number, item.said)], project)
        return item

    async def recall(
        self, project: str, query: str, *, file_path: str | None = None, limit: int = 10
    ) -> tuple[Recalled, ...]:
        kept = self._kept.get(project, {})
        numbers: Iterable[int]
        if words(query):
            why, numbers = "words", await asyncio.to_thread(self._words.best, query, project)
        else:
            # Read until there are enough, with no other task between.
            why, numbers = "newest", reversed(kept)
        now = self._clock()
        found = (kept[number] for number in numbers if number in kept)
        wanted = (
            Recalled(item, why)
            for item in found
            if file_path in (None, item.file_path) and not self._lifetimes.is_over(item, now)
        )
        return tuple(islice(wanted, limit))

    async def get(self, item_id: str) -> Item:
        for (project, known), number in self._number_of.items():
            if known == item_id:
                return self._kept[project][number]
        raise UnknownItem(item_id=item_id)

    async def forget(self, project: str, item_id: str) -> None:
        number = self._number_of.get((project, item_id))
        if number is None:
            raise UnknownItem(item_id=item_id)
        self._remove(project, number)

    async def sweep(self, project: str) -> int:
        over = partial(self._lifetimes.is_over, now=self._clock())
        there = list(self._kept.get(project, {}).items())
        gone = await asyncio.to_thread(lambda: [number for number, item in there if over(item)])
        return sum(self._remove(project, number) for number in gone)

    async def compact(self) -> None:
        # What is gone has no room here.
        return

    async def keep_up(self, elsewhere: Elsewhere | None = None) -> None:
        # Words alone decide here.
        return

    def leave_behind(self) -> None:
        return

    def _remove(self, project: str, number: int) -> bool:
        """Whether it was still there."""
        item = self._kept[project].pop(number, None)
        if item is None:
            return False
        del self._number_of[project, item.id]
        self._words.remove(number)
        return True


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
