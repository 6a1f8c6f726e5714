"""Putting observations into a block, where they are told outside of their project and workflow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dcf.memory.audit.journal import Journal
from dcf.memory.block import Block
from dcf.memory.blocks.errors import OverLimit
from dcf.memory.blocks.fields import block_of
from dcf.memory.blocks.finding import held_row
from dcf.memory.blocks.limits import fit
from dcf.memory.blocks.writing import appended, refuse_read_only, write_block
from dcf.memory.database import Connection
from dcf.memory.observation import Observation
from dcf.memory.observations.fields import observation_of
from dcf.memory.observations.finding import observation_row
from dcf.memory.observations.rendering import details_of


@dataclass(frozen=True, slots=True)
class Promoted:
    """The ``block`` as it is with what was ``added``; what is ``already`` in it was not added
    again. A rollback of ``event`` takes all of it out; None where nothing changed."""

    block: Block
    added: tuple[Observation, ...]
    already: tuple[Observation, ...]
    event: int | None = None


@dataclass(frozen=True, slots=True)
class _Draft:
    row: dict[str, Any]
    value: str
    added: tuple[Observation, ...]
    already: tuple[Observation, ...]


def promote(journal: Journal, ids: Sequence[str], agent_id: str, label: str) -> Promoted:
    """Add the observations to the block, all or none. Raises UnknownAgent, UnknownBlock,
    UnknownObservation, ReadOnlyBlock, OverLimit."""
    draft = _draft(journal.connection, ids, agent_id, label)
    block = write_block(journal, draft.row, draft.value, agent_id=agent_id, label=label)
    event = journal.noted[-1].seq if journal.noted else None
    return Promoted(block, draft.added, draft.already, event)


def promotable(connection: Connection, ids: Sequence[str], agent_id: str, label: str) -> Promoted:
    """What ``promote`` would do. Raises as it does."""
    draft = _draft(connection, ids, agent_id, label)
    fitted = fit(draft.row, draft.value)
    row = {**draft.row, "value": fitted.text}
    return Promoted(block_of(row, label=label, warning=fitted.warning), draft.added, draft.already)


def _draft(connection: Connection, ids: Sequence[str], agent_id: str, label: str) -> _Draft:
    row = held_row(connection, agent_id, label)
    refuse_read_only(row, "writing", as_owner=False)
    found = [observation_of(observation_row(connection, one)) for one in dict.fromkeys(ids)]
    there = set(row["value"].splitlines())
    added = tuple(one for one in found if _address(one) not in there)
    value = row["value"]
    for one in added:
        value = appended(value, f"{details_of(one)}\n{_address(one)}")
    if added:
        _refuse_cut(row, label, value)
    return _Draft(row, value, added, tuple(one for one in found if one not in added))


def _address(one: Observation) -> str:
    """The line behind an observation, by which it is known."""
    return f"({one.citation})"


def _refuse_cut(row: dict[str, Any], label: str, value: str) -> None:
    """What would be cut has no address at its end."""
    size, limit = len(value.encode()), row["hard_limit"]
    if row["on_limit"] == "truncate" and limit is not None and size > limit:
        raise OverLimit(label=label, size=size, limit=limit)
