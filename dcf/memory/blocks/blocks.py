"""The blocks in the memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Unpack

from dcf.memory.actor import Actor
from dcf.memory.audit.journal import Journal
from dcf.memory.block import Block, BlockType, NewBlock
from dcf.memory.blocks.creation import create_block
from dcf.memory.blocks.errors import BlockOfProject
from dcf.memory.blocks.fields import BlockFields, block_of
from dcf.memory.blocks.finding import (
    block_row,
    held_row,
    held_rows,
    holders_of,
    matching_rows,
    paths_with,
)
from dcf.memory.blocks.holding import attach, delete_block, goes_with_holder, release
from dcf.memory.blocks.writing import (
    appended,
    change_block,
    refuse_read_only,
    refuse_stale,
    replaced,
    write_block,
)
from dcf.memory.entities import HOLDER
from dcf.memory.ledger import Ledger


class Blocks:
    """Blocks, mostly as an agent sees them: by label.

    With ``expected`` a change is made only to that revision, else it raises RevisionConflict. With
    ``fields`` a text comes together with other limits and so on: both are kept, or none.
    Read-only blocks are changed by their keepers only, who say ``as_owner``. Changes return the
    block as it is now, with a ``warning`` if a limit is reached.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def create(self, agent_id: str | None, new: NewBlock, *, by: Actor) -> Block:
        """A new block, held by the agent (None: by nobody yet).

        Raises InvalidEntry, UnknownAgent, BlockExists, OverLimit.
        """
        return await self._ledger.change(
            by, lambda journal: create_block(journal, new, agent_id=agent_id)
        )

    async def get(self, block_id: str) -> Block:
        """The block with this id. Raises NoSuchBlock."""
        return await self._ledger.read(lambda connection: block_of(block_row(connection, block_id)))

    async def read(self, agent_id: str, label: str) -> Block:
        """The block that is ``label`` for the agent. Raises UnknownAgent, UnknownBlock."""
        return await self._ledger.read(
            lambda connection: block_of(held_row(connection, agent_id, label), label=label)
        )

    async def list(self, agent_id: str) -> tuple[Block, ...]:
        """All blocks of the agent, in the order in which it got them. Raises UnknownAgent."""
        return await self._ledger.read(
            lambda connection: tuple(
                block_of(row, label=label) for label, row in held_rows(connection, agent_id)
            )
        )

    async def find(
        self,
        *,
        label: str | None = None,
        type: BlockType | None = None,
        project: str | None = None,
        limit: int = 100,
        after: str = "",
    ) -> tuple[Block, ...]:
        """Blocks of all agents and of none, for which every given field holds, by id: at most
        ``limit``, from behind the id ``after``."""
        rows = await self._ledger.read(
            lambda connection: matching_rows(
                connection, label=label, type=type, project=project, limit=limit, after=after
            )
        )
        return tuple(map(block_of, rows))

    async def holders(self, block_id: str) -> tuple[tuple[str, str], ...]:
        """(agent id, label) of everyone who holds the block itself."""
        return await self._ledger.read(lambda connection: tuple(holders_of(connection, block_id)))

    async def write(
        self,
        agent_id: str,
        label: str,
        value: str,
        *,
        by: Actor,
        expected: int | None = None,
        as_owner: bool = False,
        fields: BlockFields | None = None,
    ) -> Block:
        """Give the block another text.

        Raises UnknownAgent, UnknownBlock, RevisionConflict, ReadOnlyBlock, InvalidEntry, OverLimit.
        """
        return await self._edit(agent_id, label, lambda _: value, by, expected, as_owner, fields)

    async def append(
        self,
        agent_id: str,
        label: str,
        text: str,
        *,
        by: Actor,
        expected: int | None = None,
        as_owner: bool = False,
        fields: BlockFields | None = None,
    ) -> Block:
        """Add ``text`` on a new line, whatever others do at the same time. Raises as ``write``."""
        return await self._edit(
            agent_id, label, lambda before: appended(before, text), by, expected, as_owner, fields
        )

    async def replace(
        self,
        agent_id: str,
        label: str,
        old: str,
        new: str,
        *,
        by: Actor,
        expected: int | None = None,
        as_owner: bool = False,
        fields: BlockFields | None = None,
    ) -> Block:
        """Let the one place that says ``old`` say ``new``.

        Raises as ``write``, and TextNotFound, TextNotUnique.
        """
        return await self._edit(
            agent_id,
            label,
            partial(replaced, label, old=old, new=new),
            by,
            expected,
            as_owner,
            fields,
        )

    async def change(
        self,
        agent_id: str,
        label: str,
        *,
        by: Actor,
        expected: int | None = None,
        as_owner: bool = False,
        **fields: Unpack[BlockFields],
    ) -> Block:
        """Change what is not the block's text: its limits, description and so on.

        Raises UnknownAgent, UnknownBlock, RevisionConflict, ReadOnlyBlock, InvalidEntry.
        """

        def work(journal: Journal) -> Block:
            row = held_row(journal.connection, agent_id, label)
            return change_block(
                journal,
                row,
                fields,
                agent_id=agent_id,
                label=label,
                expected=expected,
                as_owner=as_owner,
            )

        return await self._ledger.change(by, work)

    async def delete(
        self,
        agent_id: str,
        label: str,
        *,
        by: Actor,
        expected: int | None = None,
        as_owner: bool = False,
    ) -> None:
        """Remove the block for good. Raises as ``change``, and BlockShared if others hold it."""

        def work(journal: Journal) -> None:
            row = held_row(journal.connection, agent_id, label)
            refuse_stale(row, expected)
            refuse_read_only(row, "deleting", as_owner)
            delete_block(journal, row, agent_id, label)

        await self._ledger.change(by, work)

    async def discard(self, block_id: str, *, by: Actor, as_owner: bool = False) -> None:
        """Remove for good a block that nobody holds.

        Raises NoSuchBlock, ReadOnlyBlock, and BlockShared if somebody holds it.
        """

        def work(journal: Journal) -> None:
            row = block_row(journal.connection, block_id)
            refuse_read_only(row, "deleting", as_owner)
            delete_block(journal, row, None, row["label"])

        await self._ledger.change(by, work)

    async def attach(
        self, agent_id: str, block_id: str, *, by: Actor, label: str | None = None
    ) -> Block:
        """Let the agent hold a block that there is, as ``label`` (None: the block's own).

        Raises UnknownAgent, NoSuchBlock, InvalidEntry, BlockExists.
        """

        def work(journal: Journal) -> Block:
            row = block_row(journal.connection, block_id)
            held_as = row["label"] if label is None else label
            attach(journal, agent_id, block_id, held_as)
            return block_of(row, label=held_as)

        return await self._ledger.change(by, work)

    async def detach(self, agent_id: str, label: str, *, by: Actor, as_owner: bool = False) -> None:
        """Let the agent hold the block no longer. One that nobody holds then is deleted, unless it
        is ``shared``. Raises UnknownAgent, UnknownBlock, BlockOfProject for one that it sees in its
        project, and ReadOnlyBlock for what would be deleted."""

        def work(journal: Journal) -> None:
            row = held_row(journal.connection, agent_id, label)
            if goes_with_holder(journal.connection, row):
                refuse_read_only(row, "deleting", as_owner)
            holder = HOLDER.find(journal.connection, f"{agent_id}/{label}")
            if holder is None or holder["block_id"] != row["id"]:
                paths = paths_with(journal.connection, row["id"])
                raise BlockOfProject(label=label, paths=", ".join(paths))
            release(journal, holder)

        await self._ledger.change(by, work)

    async def _edit(
        self,
        agent_id: str,
        label: str,
        edit: Callable[[str], str],
        by: Actor,
        expected: int | None,
        as_owner: bool,
        fields: BlockFields | None,
    ) -> Block:
        def work(journal: Journal) -> Block:
            row: dict[str, Any] = held_row(journal.connection, agent_id, label)
            # Before the edit: who may not write here is told that, not that a text was not found.
            refuse_stale(row, expected)
            refuse_read_only(row, "writing", as_owner)
            return write_block(
                journal,
                row,
                edit(row["value"]),
                agent_id=agent_id,
                label=label,
                as_owner=as_owner,
                fields=fields,
            )

        return await self._ledger.change(by, work)
