"""Versions of nodes and entries: what each was after each of its changes.

The versions of a checkpoint, in the order in which they came about, are all that there is to say of
it: who writes them one after the other into an empty one has its nodes and entries, their history
and their order in search.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from sys import maxsize
from typing import Any, Literal, TypeAlias

from dcf.memory.actor import SYSTEM, Actor
from dcf.memory.audit.change import Overlapped, row_before
from dcf.memory.audit.entity import Entity, Row
from dcf.memory.audit.history import Query, newest_first
from dcf.memory.database import Connection
from dcf.memory.entities import NODE, NODE_ENTRY

Kind: TypeAlias = Literal["node", "entry"]
ENTITIES: dict[Kind, Entity] = {"node": NODE, "entry": NODE_ENTRY}
_OF_THE_PROJECT = ("project", "checkpoint", "address")


@dataclass(frozen=True, slots=True)
class Version:
    """``row`` of a node or an entry as a change ``at`` a time (ms since the epoch, UTC) ``by``
    somebody left it: its columns but for those that the whole checkpoint has alike, with
    ``metadata`` as data. What stands below the root of the project has None for a parent."""

    kind: Kind
    row: Row
    at: int
    by: Actor

    @property
    def id(self) -> str:
        """Of the node or the entry."""
        return str(self.row["id"])


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A version with the number of the event that made it."""

    seq: int
    version: Version


def versions_of(connection: Connection, project: str, checkpoint: str) -> tuple[Version, ...]:
    """All versions of what is in a checkpoint, in the order in which they came about; of what the
    history was given up, only those since. Empty if there is no such checkpoint."""
    values = (project, checkpoint)
    nodes = connection.execute(
        "SELECT * FROM nodes WHERE project = ? AND checkpoint = ? ORDER BY rowid DESC", values
    ).fetchall()
    entries = connection.execute(
        "SELECT e.* FROM nodes n JOIN node_entries e ON e.node_id = n.id"
        " WHERE n.project = ? AND n.checkpoint = ? ORDER BY e.rowid DESC",
        values,
    ).fetchall()
    inside = {row["id"] for row in nodes}
    found = [
        *_numbered(_past(connection, "entry", dict(row)) for row in entries),
        *_numbered(_past(connection, "node", dict(row)) for row in nodes),
    ]
    found.reverse()
    found.sort(key=lambda one: one.seq)
    return tuple(_below_root(one.version, inside) for one in found)


def removed_versions(
    connection: Connection,
    project: str,
    checkpoint: str,
    here: Sequence[Version],
    there: Sequence[Version],
) -> tuple[Version, ...]:
    """The versions of what stands ``there`` and in the checkpoint no longer, of which it has
    ``here``, as far as their events are kept."""
    inside = last_rows((*here, *there), "node")
    found: list[Version] = []
    for kind in ENTITIES:
        for row_id in last_rows(there, kind).keys() - last_rows(here, kind).keys():
            query = Query(entity=ENTITIES[kind].name, entity_id=row_id)
            last = next(newest_first(connection, query, limit=1), None)
            if last is None or "deleted" not in last.change:
                continue
            row = dict(last.change["deleted"])
            if kind == "entry" or (row["project"], row["checkpoint"]) == (project, checkpoint):
                past = _past(connection, kind, row, last.seq)
                found += (_below_root(one.version, inside) for one in past)
    return tuple(found)


def last_rows(versions: Iterable[Version], kind: Kind) -> dict[str, Row]:
    """The rows of a kind as their last versions have them, by id, in the order in which they were
    made."""
    return {one.id: one.row for one in versions if one.kind == kind}


def _numbered(pasts: Iterable[list[_Numbered]]) -> Iterator[_Numbered]:
    """The versions of rows, the row that was made last first. Where the first events of a row were
    given up it is made no later than those that were made after it."""
    first = maxsize
    for *later, oldest in pasts:
        first = min(first, oldest.seq)
        yield from later
        yield replace(oldest, seq=first)


def _past(
    connection: Connection, kind: Kind, row: dict[str, Any], before_seq: int | None = None
) -> list[_Numbered]:
    """The versions of a row, the newest first; of one that was removed those before the event that
    did it."""
    entity, now = ENTITIES[kind], row
    found: list[_Numbered] = []
    query = Query(entity=entity.name, entity_id=row["id"], before=before_seq)
    for event in newest_first(connection, query):
        if found:
            now["updated_at"] = event.at
        found.append(_Numbered(event.seq, Version(kind, dict(now), event.at, event.by)))
        try:
            before = row_before(entity, event.change, now)
        except Overlapped:
            break
        if before is None:
            break
        # An event that only notes something counts no revision.
        counted = event.change.get("changed") != {}
        now = {**before, "revision": max(now["revision"] - counted, 1)}
    if not found:
        return [_Numbered(0, Version(kind, row, row["updated_at"], SYSTEM))]
    changed = [new for new, old in pairwise(found) if new.version.row != old.version.row]
    return [*changed, found[-1]]


def _below_root(version: Version, inside: Collection[str]) -> Version:
    """The version without what is the project's: its root has another id in each memory."""
    row = {name: value for name, value in version.row.items() if name not in _OF_THE_PROJECT}
    if version.kind == "node" and row["parent"] not in inside:
        row["parent"] = None
    return replace(version, row={**row, "metadata": json.loads(row["metadata"])})
