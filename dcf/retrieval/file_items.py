"""Logged items in files that anybody can read: JSON Lines in a folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from threading import Lock
from typing import TypeVar

from dcf.memory import Clock, NewId
from dcf.retrieval.errors import FolderUnusable, UnknownItem
from dcf.retrieval.item import Item, Lifetimes, NewItem, Recalled
from dcf.retrieval.item_folder import ItemFolder
from dcf.retrieval.items import archive_of, demand_valid
from dcf.retrieval.together import TogetherIn
from dcf.retrieval.word_table import WordTable
from dcf.search import words

Out = TypeVar("Out")


class FileItems:
    """Items below ``folder``, one folder for each project, for every process that uses it. What was
    remembered is on the disk; each process has the items of the projects that it was asked for in
    its own memory, too, and finds them by their words."""

    def __init__(
        self, folder: Path, clock: Clock, new_id: NewId, lifetimes: Lifetimes | None = None
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._new_id = new_id
        self._lifetimes = lifetimes or Lifetimes()
        self._projects: dict[str, _Project] = {}
        # One wait for the disk for all that is logged while another one is written.
        self._writer = TogetherIn(self._append)

    async def remember(self, project: str, new: NewItem) -> Item:
        demand_valid(new)
        return await self._writer(project, new)

    async def recall(
        self, project: str, query: str, *, file_path: str | None = None, limit: int = 10
    ) -> tuple[Recalled, ...]:
        found = await self._at_work(self._project(project).found, query)
        why, now = "words" if words(query) else "newest", self._clock()
        wanted = [
            Recalled(item, why)
            for item in found
            if file_path in (None, item.file_path) and not self._lifetimes.is_over(item, now)
        ]
        return tuple(wanted[:limit])

    async def forget(self, project: str, item_id: str) -> None:
        if not await self._give_up(project, lambda item: item.id == item_id):
            raise UnknownItem(item_id=item_id)

    async def sweep(self, project: str) -> int:
        now = self._clock()
        gone = await self._give_up(project, lambda item: self._lifetimes.is_over(item, now))
        await self._at_work(self._project(project).compact)
        return gone

    async def keep_up(self) -> None:
        # Words alone decide here.
        return

    def leave_behind(self) -> None:
        return

    async def _append(self, project: str, new: Sequence[NewItem]) -> list[Item]:
        return await self._at_work(self._appended, project, new)

    def _appended(self, project: str, new: Sequence[NewItem]) -> list[Item]:
        items = [Item.of(one, self._new_id("passage"), self._clock()) for one in new]
        self._project(project).append(items)
        return items

    async def _give_up(self, project: str, which: Callable[[Item], bool]) -> int:
        return await self._at_work(self._project(project).give_up, which, self._clock())

    def _project(self, project: str) -> _Project:
        if project not in self._projects:
            self._projects[project] = _Project(self._folder / archive_of(project))
        return self._projects[project]

    async def _at_work(self, work: Callable[..., Out], *arguments: object) -> Out:
        """What ``work`` returns in another thread. Raises FolderUnusable."""
        try:
            return await asyncio.to_thread(work, *arguments)
        except OSError as error:
            where = error.filename or self._folder
            raise FolderUnusable(folder=where, reason=error.strerror or error) from error


class _Project:
    """The items of one project and their words, for any thread."""

    def __init__(self, folder: Path) -> None:
        self._lock = Lock()
        self._folder = ItemFolder(folder)
        self._numbers = count(1)
        self._kept: dict[int, Item] = {}
        self._number_of: dict[str, int] = {}
        self._words = WordTable()

    def found(self, query: str) -> list[Item]:
        """Those that say a word of ``query``, the best first; all, the newest first, where it has
        none."""
        with self._lock:
            self._follow()
            if words(query):
                return [self._kept[number] for number in self._words.best(query)]
            newest = sorted(self._kept, key=lambda one: (self._kept[one].timestamp, one))
            return [self._kept[number] for number in reversed(newest)]

    def append(self, items: Sequence[Item]) -> None:
        with self._lock:
            self._folder.append(items)

    def give_up(self, which: Callable[[Item], bool], now: int) -> int:
        with self._lock:
            return self._folder.give_up(which, now)

    def compact(self) -> None:
        with self._lock:
            self._folder.compact()

    def _follow(self) -> None:
        """Have what the folder has."""
        there = self._folder.read()
        for item_id in self._number_of.keys() - there.keys():
            number = self._number_of.pop(item_id)
            del self._kept[number]
            self._words.remove(number)
        fresh = [item for item_id, item in there.items() if item_id not in self._number_of]
        numbered = dict(zip(self._numbers, fresh, strict=False))
        self._words.put((number, item.text) for number, item in numbered.items())
        self._kept |= numbered
        self._number_of |= {item.id: number for number, item in numbered.items()}
