"""Making a block."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.clean_text import clean
from dcf.memory.audit.journal import Journal
from dcf.memory.block import Block, NewBlock
from dcf.memory.blocks.errors import BlockExists
from dcf.memory.blocks.fields import block_of, new_columns
from dcf.memory.blocks.holding import attach
from dcf.memory.blocks.limits import fit
from dcf.memory.entities import BLOCK, HOLDER


def create_block(journal: Journal, new: NewBlock, *, agent_id: str | None = None) -> Block:
    """Make a block, held by ``agent_id`` if that is given.

    Raises InvalidEntry with all that is wrong, UnknownAgent, BlockExists, OverLimit.
    """
    new = replace(new, value=clean(new.value))
    columns = new_columns(new)
    if agent_id is not None:
        agent_row(journal.connection, agent_id)
        if HOLDER.find(journal.connection, f"{agent_id}/{new.label}") is not None:
            raise BlockExists(agent_id=agent_id, label=new.label)
    fitted = fit(columns, new.value)
    row: dict[str, Any] = {
        "id": journal.new_id("block"),
        **columns,
        "value": fitted.text,
        "revision": 1,
        "created_at": journal.at,
        "updated_at": journal.at,
    }
    row = journal.create(BLOCK, row, agent_id=agent_id, label=new.label)
    if agent_id is not None:
        attach(journal, agent_id, row["id"], new.label)
    return block_of(row, warning=fitted.warning)
