"""What blocks of a label are made with: a table that users may change."""

from __future__ import annotations

from dataclasses import replace

from dcf.memory.block import NewBlock
from dcf.memory.database import Connection
from dcf.memory.ledger import Ledger


class Labels:
    """The known labels, with their limits. A block may have any other label too."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def defaults(self) -> tuple[NewBlock, ...]:
        """What a new agent gets, empty."""
        return await self._ledger.read(default_blocks)

    async def new(self, label: str, value: str = "") -> NewBlock:
        """A new block of this label, with the limits known for it (none for an unknown label)."""
        known = await self._ledger.read(lambda connection: known_block(connection, label))
        return replace(known, value=value)


def default_blocks(connection: Connection) -> tuple[NewBlock, ...]:
    """An empty block of each default label."""
    rows = connection.execute("SELECT * FROM block_labels WHERE is_default ORDER BY position")
    return tuple(_new(row) for row in rows)


def known_block(connection: Connection, label: str) -> NewBlock:
    """An empty block of this label."""
    row = connection.execute("SELECT * FROM block_labels WHERE label = ?", (label,)).fetchone()
    return NewBlock(label) if row is None else _new(row)


def _new(row: dict[str, object]) -> NewBlock:
    known = dict(row)
    for column in ("is_default", "position"):
        del known[column]
    return NewBlock(**{**known, "read_only": bool(known["read_only"])})  # type: ignore[arg-type]
