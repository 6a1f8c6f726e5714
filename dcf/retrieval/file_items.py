"""Logged items in files that anybody can read: JSON Lines in a folder."""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_left, insort
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count, islice
from pathlib import Path
from threading import Lock
from typing import TypeVar

from dcf.memory import Clock, NewId
from dcf.retrieval.backend import (
    ARCHIVE,
    BATCH,
    Elsewhere,
    Kept,
    archive_of,
    archives_named,
    demand_valid,
)
from dcf.retrieval.batcher import ProjectBatcher
from dcf.retrieval.errors import UnknownItem
from dcf.retrieval.item import Item, Lifetimes, NewItem, Recalled, faults_of_kept
from dcf.retrieval.item_folder import NAME, ItemFolder, line_of
from dcf.retrieval.locked_folder import usable
from dcf.retrieval.word_table import WordTable
from dcf.search import words

Out = TypeVar("Out")

log = logging.getLogger(__name__)


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
        self._told: set[tuple[Path, bytes]] = set()
        # One wait for the disk for all that is logged while another one is written.
        self._writer = ProjectBatcher(self._append)

    async def remember(self, project: str, new: NewItem) -> Item:
        demand_valid(new)
        return await self._writer(project, new)

    async def recall(
        self, project: str, query: str, *, file_path: str | None = None, limit: int = 10
    ) -> tuple[Recalled, ...]:
        why, now = "words" if words(query) else "newest", self._clock()

        def wanted(item: Item) -> bool:
            of_file = file_path in (None, item.file_path)
            return of_file and not self._lifetimes.is_over(item, now)

        found = await self._at_work(self._project(project).found, query, wanted, limit)
        return tuple(Recalled(item, why) for item in found)

    async def get(self, item_id: str) -> Item:
        for folder in await self._at_work(self._folders):
            found = await self._at_work(self._of(folder).get, item_id)
            if found is not None:
                return found
        raise UnknownItem(item_id=item_id)

    async def forget(self, project: str, item_id: str) -> None:
        if not await self.forget_all(project, [item_id]):
            raise UnknownItem(item_id=item_id)

    async def forget_all(self, project: str, item_ids: Sequence[str]) -> int:
        named = frozenset(item_ids)
        return await self._at_work(
            self._project(project).give_up, lambda item: item.id in named, self._clock()
        )

    async def sweep(self, project: str) -> int:
        now = self._clock()
        over = partial(self._lifetimes.is_over, now=now)
        gone = await self._at_work(partial(self._project(project).give_up, over, now, over=True))
        await self._at_work(self._project(project).compact)
        return gone

    async def compact(self) -> None:
        for folder in await self._at_work(self._folders):
            await self._at_work(self._of(folder).compact, True)

    async def keep_up(self, elsewhere: Elsewhere | None = None) -> None:
        # Words alone decide here.
        return

    async def archives(self) -> Mapping[str, str | None]:
        return await self._at_work(self._archives)

    async def all(self, project: str) -> AsyncIterator[Sequence[Item]]:
        items = await self._at_work(self._project(project).all)
        for start in range(0, len(items), BATCH):
            yield items[start : start + BATCH]

    async def forgotten(self, project: str) -> Sequence[str]:
        return await self._at_work(self._project(project).forgotten)

    async def keep(self, project: str, items: Sequence[Item]) -> Sequence[Kept]:
        return await self._at_work(self._project(project).keep, items)

    def _archives(self) -> dict[str, str | None]:
        return archives_named((one.name, _named_in(one)) for one in self._folders())

    async def named(self, is_named: Callable[[str], bool]) -> tuple[Item, ...]:
        """The items of all projects that ``is_named`` takes, as the lines that they are in."""
        return await self._at_work(self._named, is_named)

    async def purge(self, is_named: Callable[[str], bool]) -> None:
        """Give them up, and what else of the files ``is_named`` takes: no byte of it is left."""
        for folder in await self._at_work(self._folders):
            purge = ItemFolder(folder, told=self._told).purge
            await self._at_work(purge, is_named, self._clock())

    def _folders(self) -> list[Path]:
        """Those of projects: whoever chose the folder may have others of their own in it."""
        return sorted(one for one in self._folder.glob(f"{ARCHIVE}*") if one.is_dir())

    def _named(self, is_named: Callable[[str], bool]) -> tuple[Item, ...]:
        folders = (ItemFolder(folder, told=self._told) for folder in self._folders())
        every = (item for folder in folders for item in folder.read().values())
        return tuple(item for item in every if is_named(line_of(item).decode()))

    def leave_behind(self) -> None:
        return

    async def _append(self, project: str, new: Sequence[NewItem]) -> list[Item]:
        return await self._at_work(self._appended, project, new)

    def _appended(self, project: str, new: Sequence[NewItem]) -> list[Item]:
        items = [Item.of(one, self._new_id("passage"), self._clock()) for one in new]
        self._project(project).append(items)
        return items

    def _of(self, folder: Path) -> _Project:
        """What has the folder. Of a project that was asked for its items are in memory already: a
        service that read them once more each night would have them twice meanwhile."""
        known = (one for one in [*self._projects.values()] if one.path == folder)
        return next(known, None) or _Project(folder, told=self._told)

    def _project(self, project: str) -> _Project:
        if project not in self._projects:
            folder = self._folder / archive_of(project)
            self._projects[project] = _Project(folder, project, self._told)
        return self._projects[project]

    async def _at_work(self, work: Callable[..., Out], *arguments: object) -> Out:
        """What ``work`` returns in another thread. Raises FolderUnusable."""
        with usable(self._folder):
            return await asyncio.to_thread(work, *arguments)


class _Project:
    """The items of one project and their words, for any thread."""

    def __init__(
        self,
        folder: Path,
        project: str | None = None,
        told: set[tuple[Path, bytes]] | None = None,
    ) -> None:
        """See ``ItemFolder``."""
        self._lock = Lock()
        self.path = folder
        self._folder = ItemFolder(folder, project, told)
        self._numbers = count(1)
        self._kept: dict[int, Item] = {}
        self._number_of: dict[str, int] = {}
        self._in_time: list[tuple[int, int]] = []
        self._words = WordTable()

    def found(self, query: str, wanted: Callable[[Item], bool], limit: int) -> list[Item]:
        """At most ``limit`` of those that are ``wanted`` and say a word of ``query``, the best
        first; of all, the newest first, where it has none."""
        with self._lock:
            self._follow()
            if words(query):
                numbers: Iterable[int] = self._words.best(query)
            else:
                numbers = (number for _, number in reversed(self._in_time))
            return [*islice(filter(wanted, map(self._kept.__getitem__, numbers)), limit)]

    def all(self) -> list[Item]:
        """The oldest first."""
        with self._lock:
            return sorted(self._folder.read().values(), key=lambda one: (one.timestamp, one.id))

    def get(self, item_id: str) -> Item | None:
        with self._lock:
            return self._folder.read().get(item_id)

    def forgotten(self) -> list[str]:
        with self._lock:
            return self._folder.forgotten()

    def append(self, items: Sequence[Item]) -> None:
        with self._lock:
            self._folder.append(items)

    def keep(self, items: Sequence[Item]) -> list[Kept]:
        with self._lock:
            return self._folder.keep(items)

    def give_up(self, which: Callable[[Item], bool], now: int, *, over: bool = False) -> int:
        with self._lock:
            return self._folder.give_up(which, now, over=over)

    def compact(self, every: bool = False) -> None:
        with self._lock:
            self._folder.compact(every)

    def _follow(self) -> None:
        """Have what the folder has."""
        changed, is_all = self._folder.changes()
        gone = {item_id for item_id, item in changed.items() if item is None}
        for item_id in gone | (self._number_of.keys() - changed.keys() if is_all else set()):
            self._remove(item_id)
        fresh = [
            item
            for item_id, item in changed.items()
            if item is not None and item_id not in self._number_of and _can_be_told(item)
        ]
        numbered = dict(zip(self._numbers, fresh, strict=False))
        self._words.put((number, item.said) for number, item in numbered.items())
        self._kept |= numbered
        self._number_of |= {item.id: number for number, item in numbered.items()}
        for number, item in numbered.items():
            insort(self._in_time, (item.timestamp, number))

    def _remove(self, item_id: str) -> None:
        number = self._number_of.pop(item_id, None)
        if number is None:
            return
        item = self._kept.pop(number)
        del self._in_time[bisect_left(self._in_time, (item.timestamp, number))]
        self._words.remove(number)


def _can_be_told(item: Item) -> bool:
    """Whether it can be found and cited: somebody may have written it by hand."""
    faults = "; ".join(faults_of_kept(item))
    if faults:
        log.warning("the logged item %r is left out: %s", item.id, faults)
    return not faults


def _named_in(folder: Path) -> str | None:
    """The project that a folder says it is of; folders that were made before say nothing."""
    try:
        return (folder / NAME).read_text(encoding="utf-8").removesuffix("\n")
    except (FileNotFoundError, UnicodeDecodeError):
        return None
