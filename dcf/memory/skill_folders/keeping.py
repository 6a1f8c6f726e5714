"""Keeping the blocks ``skills`` and ``loaded_skills`` as the rows of skills say, in the same
transaction. They are read-only for everybody else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.blocks.creation import create_block
from dcf.memory.blocks.finding import block_row
from dcf.memory.blocks.labels import known_block
from dcf.memory.blocks.writing import write_block
from dcf.memory.database import Connection
from dcf.memory.entities import HOLDER
from dcf.memory.skill import LOADED_SKILLS, SKILLS
from dcf.memory.skill_folders.rendering import Catalog, catalog, instructions
from dcf.memory.skill_folders.rows import loaded_in_order
from dcf.problem import Problem


def loaded_limit(connection: Connection, agent_id: str) -> int | None:
    """How many bytes the instructions of loaded skills may have."""
    return _limit(connection, agent_id, LOADED_SKILLS)


def loaded_size(rows: Mapping[str, Row]) -> int:
    """How many bytes the instructions of loaded skills have."""
    return len(instructions(loaded_in_order(rows)).encode())


def keep_blocks(journal: Journal, agent_id: str, rows: Mapping[str, Row]) -> list[Problem]:
    """Write both blocks; what the catalog had no room for. Raises OverLimit."""
    limit = _limit(journal.connection, agent_id, SKILLS)
    said = catalog([rows[name] for name in sorted(rows)], limit)
    _write(journal, agent_id, SKILLS, said.text)
    _write(journal, agent_id, LOADED_SKILLS, instructions(loaded_in_order(rows)))
    return list(_problems(said))


def _write(journal: Journal, agent_id: str, label: str, text: str) -> None:
    row = _own_row(journal.connection, agent_id, label)
    if row is None:
        if not text:
            return
        made = create_block(journal, known_block(journal.connection, label), agent_id=agent_id)
        row = block_row(journal.connection, made.id)
    write_block(journal, row, text, agent_id=agent_id, label=label, as_owner=True)


def _limit(connection: Connection, agent_id: str, label: str) -> int | None:
    row = _own_row(connection, agent_id, label)
    if row is None:
        return known_block(connection, label).hard_limit
    limit: int | None = row["hard_limit"]
    return limit


def _own_row(connection: Connection, agent_id: str, label: str) -> dict[str, Any] | None:
    holder = HOLDER.find(connection, f"{agent_id}/{label}")
    return None if holder is None else block_row(connection, holder["block_id"])


def _problems(said: Catalog) -> Iterator[Problem]:
    hint = "raise the limit of the block `skills`, or have fewer skills"
    if said.longest is not None:
        what = "left out" if said.longest == 0 else f"cut to {said.longest} characters"
        message = f"the catalog has no room for all descriptions: they were {what}"
        yield Problem("MEMORY_SKILLS_SHORTENED", message, "", hint, "warning")
    if said.left_out:
        message = f"the catalog has no room for {said.left_out} skills, the last by name"
        yield Problem("MEMORY_SKILLS_LEFT_OUT", message, "", hint, "warning")
