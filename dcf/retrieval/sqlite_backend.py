"""The backend ``sqlite``: logged items and documents in the memory that everything else uses. Items
are passages of an archive for each project."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from dcf.citation import Citation
from dcf.memory import (
    Actor,
    AgentExists,
    Documents,
    Found,
    InvalidEntry,
    Memory,
    NewAgent,
    NewPassage,
    Passage,
    UnknownAgent,
)
from dcf.retrieval.backend import (
    ARCHIVE,
    BATCH,
    MOST,
    DocumentHit,
    Elsewhere,
    Kept,
    archive_of,
    archives_named,
    demand_valid,
    kept_of,
)
from dcf.retrieval.batcher import ProjectBatcher
from dcf.retrieval.errors import UnknownItem
from dcf.retrieval.item import FILE, OWN, Item, Lifetimes, NewItem, Recalled
from dcf.retrieval.retrievers import reason

Out = TypeVar("Out")

_ABOUT = "What was logged about "
_OVER = "the time of what was logged is over"
"""Why what is swept is deleted: nobody had it forgotten."""


class SqliteItems:
    """Items in ``memory``, for every process that has it open. A project's are the archive of an
    agent that does nothing else, so that all of memory's commands work with them; the path of an
    item's file is a tag there, which filters by it."""

    def __init__(self, memory: Memory, by: Actor, lifetimes: Lifetimes | None = None) -> None:
        """``by`` is who changes the memory, for its record."""
        self._memory = memory
        self._by = by
        self._lifetimes = lifetimes or Lifetimes()
        # One transaction for all that is logged while another one is written: each has a price.
        self._writer = ProjectBatcher(self._insert)

    async def remember(self, project: str, new: NewItem) -> Item:
        demand_valid(new)
        return await self._writer(project, new)

    async def recall(
        self, project: str, query: str, *, file_path: str | None = None, limit: int = 10
    ) -> tuple[Recalled, ...]:
        now = self._memory.ledger.clock()
        find = partial(
            self._memory.search.find,
            query,
            agent_ids=[archive_of(project)],
            kinds=["passage"],
            tags=_file_tags(file_path),
        )
        # Those whose time is over are among them until they are swept: mostly none, else a few.
        for many in dict.fromkeys((limit, min(2 * limit, MOST))):
            found = await find(k=many)
            recalled = await self._live(found, now)
            if len(recalled) >= limit or len(found) < many:
                break
        else:
            # A search that leaves them out looks at every hit: it takes longer.
            recalled = await self._live(await find(k=limit, ended=self._lifetimes.ends(now)), now)
        return tuple(recalled[:limit])

    async def _live(self, found: Sequence[Found], now: int) -> list[Recalled]:
        why = {
            one.ref: (reason(words=one.says_it, likeness=one.similarity), one.similarity)
            for one in found
        }
        # One that was deleted meanwhile is not among them.
        kept = map(_item, await self._memory.passages.several(list(why)))
        return [
            Recalled(item, *why[item.id]) for item in kept if not self._lifetimes.is_over(item, now)
        ]

    async def get(self, item_id: str) -> Item:
        for passage in await self._memory.passages.several([item_id]):
            if passage.agent_id.startswith(ARCHIVE):
                return _item(passage)
        raise UnknownItem(item_id=item_id)

    async def forget(self, project: str, item_id: str) -> None:
        if not await self.forget_all(project, [item_id]):
            raise UnknownItem(item_id=item_id)

    async def forget_all(self, project: str, item_ids: Sequence[str]) -> int:
        return await self._delete(project, item_ids, self._by)

    async def sweep(self, project: str) -> int:
        tags = tuple(self._lifetimes.by_tag)
        gone = sum([await self._sweep(project, tags=[tag]) for tag in tags])
        if self._lifetimes.others is not None:
            gone += await self._sweep(project, without=tags)
        return gone

    async def compact(self) -> None:
        await self._memory.ledger.database.shrink()

    async def keep_up(self, elsewhere: Elsewhere | None = None) -> None:
        await self._memory.search.keep_up(elsewhere)

    async def archives(self) -> Mapping[str, str | None]:
        found: list[tuple[str, str]] = []
        page = await self._memory.agents.list()
        while page:
            found += [
                (one.id, one.description.removeprefix(_ABOUT))
                for one in page
                if one.id.startswith(ARCHIVE)
            ]
            page = await self._memory.agents.list(after=page[-1].name)
        return archives_named(found)

    async def all(self, project: str) -> AsyncIterator[Sequence[Item]]:
        last: Passage | None = None
        while True:
            try:
                page = await self._memory.passages.list(
                    archive_of(project), limit=BATCH, after=last
                )
            except UnknownAgent:
                return
            if not page:
                return
            yield [*map(_item, page)]
            last = page[-1]

    async def forgotten(self, project: str) -> Sequence[str]:
        return await self._memory.passages.deleted(archive_of(project), but=_OVER)

    async def keep(self, project: str, items: Sequence[Item]) -> Sequence[Kept]:
        archive = archive_of(project)
        passages = [_passage_of(item, archive) for item in items]
        keep = partial(self._memory.passages.keep, archive, passages, by=self._by, again=_OVER)
        left = await self._in_archive(project, keep)
        return [_kept(item, archive, left) for item in items]

    def leave_behind(self) -> None:
        self._memory.search.leave_behind()

    async def _insert(self, project: str, new: Sequence[NewItem]) -> list[Item]:
        """Keep items, all or none."""
        passages = [_passage(one) for one in new]
        insert = partial(self._memory.passages.insert, archive_of(project), *passages, by=self._by)
        return [*map(_item, await self._in_archive(project, insert))]

    async def _in_archive(self, project: str, change: Callable[[], Awaitable[Out]]) -> Out:
        """What ``change`` returns, which needs the archive: made if it is missing."""
        try:
            return await change()
        except UnknownAgent:
            await self._make_archive(project)
            return await change()

    async def _sweep(
        self, project: str, *, tags: Sequence[str] = (), without: Sequence[str] = ()
    ) -> int:
        """Give up what is over of those with all ``tags`` and none of ``without``."""
        total = 0
        while True:
            try:
                page = await self._memory.passages.list(
                    archive_of(project), tags=tags, without=without, limit=BATCH
                )
            except UnknownAgent:
                return total
            now = self._memory.ledger.clock()
            over = [one.id for one in page if self._lifetimes.is_over(_item(one), now)]
            total += await self._delete(project, over, self._by.because(_OVER))
            # The oldest come first: behind one that stays, all of these do.
            if len(over) < len(page) or not page:
                return total

    async def _delete(self, project: str, item_ids: Sequence[str], by: Actor) -> int:
        return await self._memory.passages.delete_several(archive_of(project), item_ids, by=by)

    async def _make_archive(self, project: str) -> None:
        agent_id = archive_of(project)
        # Named by its id: a name that held a credential would be refused, a description has it
        # taken out.
        new = NewAgent(agent_id, description=f"{_ABOUT}{project}", role="archive")
        try:
            await self._memory.agents.create(new, agent_id=agent_id, blocks=[], by=self._by)
        except (AgentExists, InvalidEntry):
            # Another process was faster; whatever else it may be is raised here.
            await self._memory.agents.get(agent_id)


async def logged_among(memory: Memory, found: Iterable[Found]) -> Mapping[str, Sequence[str]]:
    """The addresses of logged items among what a search of ``memory`` found, by project."""
    ids: dict[str, list[str]] = {}
    for one in found:
        if one.agent_id is not None and one.agent_id.startswith(ARCHIVE):
            ids.setdefault(one.agent_id, []).append(str(Citation("memory", one.ref)))
    return {await _project_of(memory, archive): some for archive, some in ids.items()}


async def _project_of(memory: Memory, archive: str) -> str:
    """The archive's own name, where it is gone meanwhile."""
    try:
        return (await memory.agents.get(archive)).description.removeprefix(_ABOUT)
    except UnknownAgent:
        return archive


def _file_tags(file_path: str | None) -> tuple[str, ...]:
    return () if file_path is None else (f"{FILE}{file_path}",)


def _passage(new: NewItem) -> NewPassage:
    tags = (*new.tags, *_file_tags(new.file_path))
    return NewPassage(new.text, tags=tags, source=new.source or "")


def _passage_of(item: Item, archive: str) -> Passage:
    new = _passage(NewItem(item.text, item.tags, item.source, item.file_path))
    return Passage(
        item.id,
        archive,
        new.text,
        new.tags,
        new.salience,
        new.source,
        reads=0,
        read_at=None,
        created_at=item.timestamp,
    )


def _kept(item: Item, archive: str, left: Mapping[str, Passage | None]) -> Kept:
    if item.id not in left:
        return "copied"
    there = left[item.id]
    if there is not None and there.agent_id != archive:
        return "differing"
    return kept_of(item, None if there is None else _item(there))


def _item(passage: Passage) -> Item:
    files = [tag.removeprefix(FILE) for tag in passage.tags if tag.startswith(FILE)]
    return Item(
        passage.id,
        passage.text,
        tuple(tag for tag in passage.tags if not tag.startswith(OWN)),
        passage.source or None,
        files[0] if files else None,
        passage.created_at,
    )


class SqliteDocuments(Documents):
    """Those of ``memory``, for every process that has it open, found by its search."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory.ledger)
        self._memory = memory

    async def find(self, project: str, query: str, *, limit: int = 10) -> tuple[DocumentHit, ...]:
        found = {
            one.ref: one
            for one in await self._memory.search.find(
                query, k=limit, projects=[project], kinds=["document"]
            )
        }
        pieces = await self.several(list(found))
        hits = ((piece, found[f"{piece.document_id}/{piece.number}"]) for piece in pieces)
        return tuple(
            DocumentHit(
                *(piece, one.score, reason(words=one.says_it, likeness=one.similarity)),
                one.similarity,
            )
            for piece, one in hits
        )

    async def catch_up(self) -> None:
        await self._memory.search.catch_up()
