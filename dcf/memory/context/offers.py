"""Entries of nodes, and playbooks, as they are offered to a context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from dcf.citation import Citation
from dcf.memory.context.packing import Offer
from dcf.memory.database import Connection
from dcf.memory.node import NodeEntry
from dcf.memory.nodes.fields import node_entry_of, node_of
from dcf.memory.nodes.finding import entry_count, entry_rows, node_row
from dcf.memory.playbook import PlaybookMatch
from dcf.search import count_tokens

_EXCERPT = 200
"""Characters of an entry in an index."""


@dataclass(frozen=True, slots=True)
class EntryOffer(Offer):
    """The entry ``entry_id`` of the node ``node_id`` as it is offered."""

    node_id: str
    entry_id: str


def read_offers(connection: Connection, node_id: str, most: int) -> list[EntryOffer]:
    """The ``most`` newest entries that a node reads, the newest first. Raises UnknownNode."""
    skipped = max(entry_count(connection, node_id) - most, 0)
    rows = entry_rows(connection, node_id, limit=most, offset=skipped)
    return list(_offers(connection, [node_entry_of(row) for row in reversed(rows)]))


def branch_offers(connection: Connection, node_ids: Sequence[str]) -> list[EntryOffer]:
    """The own entries of nodes, branch by branch, each in the order of time. Raises UnknownNode."""
    rows = [row for one in node_ids for row in entry_rows(connection, one, inherited=False)]
    return list(_offers(connection, [node_entry_of(row) for row in rows]))


def _offers(connection: Connection, entries: Sequence[NodeEntry]) -> Iterator[EntryOffer]:
    owners = {one.node_id for one in entries}
    names = {one: node_of(node_row(connection, one)).called for one in owners}
    for one in entries:
        line = " ".join(one.text.split())
        short = line if len(line) <= _EXCERPT else f"{line[:_EXCERPT]}…"
        place, tokens = names[one.node_id], count_tokens(one.text)
        uri = str(Citation("memory", one.id))
        row = f"{one.id} {one.kind}: {short} ({place} {tokens}t)"
        details, why = f"{one.text}\n({one.kind} of {place})", f"{one.kind} of {place}"
        yield EntryOffer(uri, row, details, why, one.node_id, one.id)


@dataclass(frozen=True, slots=True)
class PlaybookOffer(Offer):
    """The playbook ``playbook_id`` as it is offered."""

    playbook_id: str

    @classmethod
    def of(cls, match: PlaybookMatch) -> Self:
        """A playbook that fits an error of the work."""
        one = match.playbook
        row = f"{one.id}: {' '.join(one.pattern.split())}"
        return cls(one.citation, row, match.text, match.reason, one.id)
