"""What every backend of logged items and of documents does, whatever it keeps them in."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from dcf.memory import Actor, DocumentPiece, FileState, KeptDocument, KeptDocuments
from dcf.retrieval.errors import InvalidItem, UnnamedProjects
from dcf.retrieval.item import Item, NewItem, Recalled, problems_of
from dcf.search import Vectors

MOST = 1_000
"""Items that are recalled at once."""
BATCH = 500
"""Items that are read and kept at once, where many are."""
Elsewhere: TypeAlias = Callable[[Sequence[str]], Awaitable[Vectors]]
"""Embeds texts in another process, as the embedder here does."""
ARCHIVE = "artifacts-"
"""What the name of a project's archive begins with."""

Kept: TypeAlias = Literal["copied", "there", "forgotten", "differing"]
"""What came of an item that was to be kept under its id: it was not there before, it was there,
it had been forgotten there, or another one has its id."""


class Items(Protocol):
    """Logged items of projects, each named by its folder: what one has, no other sees.

    Items whose time is over are not recalled, and ``sweep`` gives them up. Texts are kept without
    the secrets that were in them. Any number of callers at once.
    """

    async def remember(self, project: str, new: NewItem) -> Item:
        """Keep ``new``: what this returned is recalled from then on. Raises InvalidItem."""

    async def recall(
        self, project: str, query: str, *, file_path: str | None = None, limit: int = 10
    ) -> tuple[Recalled, ...]:
        """At most ``limit`` (1 to 1,000) items that answer ``query``, the best first; the newest
        first for a query without any word. ``file_path``: only those that are about this file."""

    async def get(self, item_id: str) -> Item:
        """The item with this id, whichever project's. Raises UnknownItem."""

    async def forget(self, project: str, item_id: str) -> None:
        """Give an item up. Raises UnknownItem."""

    async def sweep(self, project: str) -> int:
        """Give up the items whose time is over; how many they were."""

    async def compact(self) -> None:
        """Give back the room that items had which are gone, of all projects."""

    async def keep_up(self, elsewhere: Elsewhere | None = None) -> None:
        """Make new items found by their meaning too, until it is cancelled: what ``recall`` else
        begins with. Texts may be embedded ``elsewhere``."""

    def leave_behind(self) -> None:
        """Another process keeps up: ``recall`` here begins with nothing."""


class LastingItems(Items, Protocol):
    """Items that outlast their process, so that they can be moved. What was forgotten stays known
    by its id, and is not kept again."""

    async def archives(self) -> Mapping[str, str | None]:
        """Whatever has items, or had some that were forgotten, by its name (``archive_of``): the
        project's folder, None where that is not known."""

    def all(self, project: str) -> AsyncIterator[Sequence[Item]]:
        """All items of a project, at most ``BATCH`` at once. Of what is logged or forgotten
        meanwhile some may be among them."""

    async def forgotten(self, project: str) -> Sequence[str]:
        """Ids of a project's items that were forgotten."""

    async def keep(self, project: str, items: Sequence[Item]) -> Sequence[Kept]:
        """Keep valid items of another place as they are, all or none; what came of each."""

    async def forget_all(self, project: str, item_ids: Sequence[str]) -> int:
        """Give up those of these items that are there; how many they were."""


def archive_of(project: str) -> str:
    """What a project's items are kept under."""
    return f"{ARCHIVE}{project_digest(project)}"


def project_digest(project: str) -> str:
    """A name for a project's folder that is no path itself: 16 hexadecimal digits."""
    return hashlib.sha256(project.encode()).hexdigest()[:16]


def archives_named(named: Iterable[tuple[str, str | None]]) -> dict[str, str | None]:
    """Archives and what says which project each is of, where that is right."""
    return {
        archive: project if project is not None and archive_of(project) == archive else None
        for archive, project in named
    }


async def projects_in(items: LastingItems, roots: Sequence[str] = ()) -> list[str]:
    """All projects that have items, or had some; ``roots`` are folders of those that ``items``
    cannot name. Raises UnnamedProjects."""
    known = {archive_of(root): root for root in roots}
    archives = await items.archives()
    named = {archive: project or known.get(archive) for archive, project in archives.items()}
    unnamed = [archive for archive, project in named.items() if project is None]
    if unnamed:
        raise UnnamedProjects(archives=", ".join(unnamed))
    return sorted(project for project in named.values() if project is not None)


def kept_of(item: Item, there: Item | None) -> Kept:
    """What came of ``item``, which was left alone, where ``there`` has its id."""
    if there is None:
        return "forgotten"
    return "there" if there == item else "differing"


def demand_valid(new: NewItem) -> None:
    """Raises InvalidItem with all that keeps ``new`` from being logged."""
    problems = tuple(problems_of(new))
    if problems:
        raise InvalidItem(problems)


@dataclass(frozen=True, slots=True)
class DocumentHit:
    """A piece of a document that was found, and why. ``score`` is between 0 and 1, and may be
    compared inside of one answer. ``likeness`` is that of the meanings, at most 1, None where they
    were not compared. ``outdated`` says why the file no longer says it, where that is known."""

    piece: DocumentPiece
    score: float
    why: str
    likeness: float | None = None
    outdated: str = ""


class ProjectDocuments(KeptDocuments, Protocol):
    """Documents of projects that are found: what one project has, no other sees. Any number of
    callers at once."""

    async def take(self, known: KeptDocument, *, by: Actor) -> bool:
        """Keep a document of another place as it is there, its id and times too, unless its file
        or its id has one here; whether it was kept."""

    async def find(self, project: str, query: str, *, limit: int = 10) -> tuple[DocumentHit, ...]:
        """At most ``limit`` (1 to 1,000) pieces that answer ``query``, the best first; those of
        what was read last for a query without any word. Raises InvalidEntry."""

    async def files(self, project: str, document_ids: Sequence[str]) -> Mapping[str, FileState]:
        """The states in which the files of these documents were when they were read, by their ids;
        without those that are there no more."""

    async def catch_up(self) -> None:
        """Make all that is kept found by its meaning too: what ``find`` else begins with."""
