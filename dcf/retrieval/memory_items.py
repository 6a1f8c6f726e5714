"""Logged items in the memory that everything else uses: passages of an archive for each project."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.memory import (
    Actor,
    AgentExists,
    InvalidEntry,
    Memory,
    NewAgent,
    NewPassage,
    Passage,
    UnknownAgent,
    UnknownPassage,
)
from dcf.retrieval.errors import UnknownItem
from dcf.retrieval.item import OWN, Item, Lifetimes, NewItem, Recalled
from dcf.retrieval.items import MOST, archive_of, demand_valid
from dcf.retrieval.shelves import reason_of
from dcf.retrieval.together import TogetherIn

_FILE = f"{OWN}file="
_PAGE = 100


class MemoryItems:
    """Items in ``memory``, for every process that has it open. A project's are the archive of an
    agent that does nothing else, so that all of memory's commands work with them; the path of an
    item's file is a tag there, which filters by it."""

    def __init__(self, memory: Memory, by: Actor, lifetimes: Lifetimes | None = None) -> None:
        """``by`` is who changes the memory, for its record."""
        self._memory = memory
        self._by = by
        self._lifetimes = lifetimes or Lifetimes()
        # One transaction for all that is logged while another one is written: each has a price.
        self._writer = TogetherIn(self._insert)

    async def remember(self, project: str, new: NewItem) -> Item:
        demand_valid(new)
        return await self._writer(project, new)

    async def recall(
        self, project: str, query: str, *, file_path: str | None = None, limit: int = 10
    ) -> tuple[Recalled, ...]:
        found = await self._memory.search.find(
            query,
            # Those whose time is over are among them until they are swept.
            k=min(2 * limit, MOST) if self._lifetimes.by_tag else limit,
            agent_ids=[archive_of(project)],
            kinds=["passage"],
            tags=_file_tags(file_path),
        )
        why = {one.ref: reason_of(one) for one in found}
        # One that was deleted meanwhile is not among them.
        kept = map(_item, await self._memory.passages.several(list(why)))
        now = self._memory.ledger.clock()
        recalled = [
            Recalled(item, why[item.id]) for item in kept if not self._lifetimes.is_over(item, now)
        ]
        return tuple(recalled[:limit])

    async def forget(self, project: str, item_id: str) -> None:
        try:
            passage = await self._memory.passages.get(item_id)
            if passage.agent_id != archive_of(project):
                raise UnknownItem(item_id=item_id)
            await self._memory.passages.delete(item_id, by=self._by)
        except UnknownPassage as error:
            raise UnknownItem(item_id=item_id) from error

    async def sweep(self, project: str) -> int:
        return sum([await self._sweep(project, tag) for tag in self._lifetimes.by_tag])

    async def keep_up(self) -> None:
        await self._memory.search.keep_up()

    def leave_behind(self) -> None:
        self._memory.search.leave_behind()

    async def _insert(self, project: str, new: Sequence[NewItem]) -> list[Item]:
        """Keep items, all or none."""
        archive, passages = archive_of(project), [_passage(one) for one in new]
        try:
            kept = await self._memory.passages.insert(archive, *passages, by=self._by)
        except UnknownAgent:
            await self._make_archive(project)
            kept = await self._memory.passages.insert(archive, *passages, by=self._by)
        return [*map(_item, kept)]

    async def _sweep(self, project: str, tag: str) -> int:
        total = 0
        while True:
            try:
                page = await self._memory.passages.list(
                    archive_of(project), tags=[tag], limit=_PAGE
                )
            except UnknownAgent:
                return total
            now = self._memory.ledger.clock()
            over = [one.id for one in page if self._lifetimes.is_over(_item(one), now)]
            for passage_id in over:
                await self.forget(project, passage_id)
            total += len(over)
            # The oldest come first: behind one that stays with this tag, all do.
            if len(over) < len(page) or not page:
                return total

    async def _make_archive(self, project: str) -> None:
        agent_id = archive_of(project)
        # Named by its id: a name that held a credential would be refused, a description has it
        # taken out.
        new = NewAgent(agent_id, description=f"What was logged about {project}", role="archive")
        try:
            await self._memory.agents.create(new, agent_id=agent_id, blocks=[], by=self._by)
        except (AgentExists, InvalidEntry):
            # Another process was faster; whatever else it may be is raised here.
            await self._memory.agents.get(agent_id)


def _file_tags(file_path: str | None) -> tuple[str, ...]:
    return () if file_path is None else (f"{_FILE}{file_path}",)


def _passage(new: NewItem) -> NewPassage:
    tags = (*new.tags, *_file_tags(new.file_path))
    return NewPassage(new.text, tags=tags, source=new.source or "")


def _item(passage: Passage) -> Item:
    files = [tag.removeprefix(_FILE) for tag in passage.tags if tag.startswith(_FILE)]
    return Item(
        passage.id,
        passage.text,
        tuple(tag for tag in passage.tags if not tag.startswith(OWN)),
        passage.source or None,
        files[0] if files else None,
        passage.created_at,
    )
