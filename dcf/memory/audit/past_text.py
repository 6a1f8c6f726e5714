"""The texts that a block had."""

from __future__ import annotations

from dcf.memory.audit.border import TextForgotten, refuse_beyond
from dcf.memory.audit.change import ContentForgotten, row_before
from dcf.memory.audit.history import Query, newest_first
from dcf.memory.database import Connection
from dcf.memory.entities import BLOCK


def text_at(connection: Connection, block_id: str, seq: int) -> str | None:
    """The block's text just after event ``seq``; None if there was no such block then.

    Raises HistoryForgotten, TextForgotten.
    """
    refuse_beyond(connection, seq)
    row = BLOCK.find(connection, block_id)
    later = Query(entity=BLOCK.name, entity_id=block_id, behind=seq)
    for event in newest_first(connection, later):
        try:
            before = row_before(BLOCK, event.change, row)
        except ContentForgotten as forgotten:
            what = f"the block before event {event.seq}"
            raise TextForgotten(what, forgotten.receipt_id) from forgotten
        row = None if before is None else dict(before)
    return None if row is None else str(row["value"])
