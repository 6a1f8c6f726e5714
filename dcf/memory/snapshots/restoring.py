"""Writing the versions of a snapshot into a memory, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import json_of
from dcf.memory.database import Connection
from dcf.memory.node import NewEntry, NewNode
from dcf.memory.nodes import entry_columns, fields_of, new_columns, root_row
from dcf.memory.snapshot import Restored
from dcf.memory.snapshots.comparing import difference
from dcf.memory.snapshots.errors import CheckpointDiffers, SnapshotUnreadable
from dcf.memory.snapshots.lines import counts_of
from dcf.memory.snapshots.version import ENTITIES, Version, last_rows, versions_of


def write_versions(
    journal: Journal, versions: Sequence[Version], project: str, checkpoint: str, path: Path
) -> Restored:
    """Make the checkpoint what the ``versions`` say, if there is none of this name; nothing, if it
    is that already. What was forgotten for good since they were written does not come back. Raises
    CheckpointDiffers, InvalidEntry, SnapshotUnreadable."""
    versions = _without_forgotten(journal.connection, versions)
    counts = counts_of(versions)
    done = Restored(project, checkpoint, counts["nodes"], counts["entries"], is_new=True)
    here = versions_of(journal.connection, project, checkpoint)
    if here:
        found = difference(here, versions)
        if found:
            raise CheckpointDiffers(checkpoint=checkpoint, project=project, path=path, text=found)
        return replace(done, is_new=False)
    ids = _new_ids(journal, versions)
    writer = _Writer(journal, project, checkpoint, ids, path)
    # A version may name a parent of which the first version comes later.
    journal.connection.execute("PRAGMA defer_foreign_keys = ON")
    with _fitting(path):
        for version in versions:
            writer.write(version)
    writer.note()
    return replace(done, has_new_ids=bool(ids))


def _without_forgotten(connection: Connection, versions: Sequence[Version]) -> tuple[Version, ...]:
    """The versions without entries that were forgotten for good; such nodes are as they are now."""
    ids = json_of([one.id for one in versions])
    rows = connection.execute(
        "SELECT DISTINCT kind, ref FROM tombstones WHERE store = 'memory'"
        " AND kind IN ('node', 'entry') AND ref IN (SELECT value FROM json_each(?))",
        (ids,),
    )
    gone = {tuple(row) for row in rows}
    kept = (one for one in versions if one.kind == "node" or ("entry", one.id) not in gone)
    return tuple(_emptied(connection, one) if ("node", one.id) in gone else one for one in kept)


def _emptied(connection: Connection, version: Version) -> Version:
    row = connection.execute(
        "SELECT name, title, metadata FROM nodes WHERE id = ?", (version.id,)
    ).fetchone()
    now = (
        {"name": f"forgotten-{version.id}", "title": "", "metadata": {}}
        if row is None
        else {**dict(row), "metadata": json.loads(row["metadata"])}
    )
    return replace(version, row={**version.row, **now})


class _Writer:
    """Writes versions of rows, each as it was made, into one checkpoint."""

    def __init__(
        self, journal: Journal, project: str, checkpoint: str, ids: Mapping[str, str], path: Path
    ) -> None:
        self._journal, self._ids, self._path = journal, ids, path
        self._project, self._checkpoint = project, checkpoint
        self._root = root_row(journal, project)["id"]
        self._rows: dict[str, Row] = {}

    def write(self, version: Version) -> None:
        """Raises InvalidEntry, SnapshotUnreadable."""
        journal = replace(self._journal, at=version.at, by=version.by)
        entity = ENTITIES[version.kind]
        row = self._node(version.row) if version.kind == "node" else self._entry(version.row)
        before = self._rows.get(version.id)
        if before is not None and before.get("node_id") != row.get("node_id"):
            # No operation moves an entry, and the index of search keeps the node that it was in.
            raise SnapshotUnreadable(
                path=self._path, reason=f"it moves the entry {version.id} to another node"
            )
        if before is None:
            self._rows[version.id] = journal.create(entity, row)
        else:
            kept = journal.update(entity, before, row)
            # Without a difference that is recorded: when it was written, and its revision.
            self._rows[version.id] = kept or entity.replace(journal.connection, row, before)

    def note(self) -> None:
        """Record who restored the nodes: their versions say who made them."""
        entity = ENTITIES["node"]
        for row in self._rows.values():
            if "checkpoint" in row:
                self._journal.note(
                    entity, row, row, operation="restored", agent_id=None, label=None
                )

    def _node(self, row: Row) -> dict[str, Any]:
        given = {name: row[name] for name in ("name", "title", "score", "metadata")}
        columns = new_columns(NewNode(self._project, self._checkpoint, **given))
        parent = self._root if row["parent"] is None else self._id(row["parent"])
        return {**self._kept(row), **columns, "parent": parent}

    def _entry(self, row: Row) -> dict[str, Any]:
        given = {name: row[name] for name in ("text", "kind", "metadata")}
        columns = entry_columns(fields_of(NewEntry(**given)))
        places = {"node_id": self._id(row["node_id"]), "shadows": row["shadows"]}
        if row["shadows"] is not None:
            places["shadows"] = self._id(row["shadows"])
        return {**self._kept(row), **columns, **places}

    def _kept(self, row: Row) -> dict[str, Any]:
        own = {name: row[name] for name in ("revision", "created_at", "updated_at")}
        return {"id": self._id(row["id"]), **own}

    def _id(self, old: str) -> str:
        return self._ids.get(old, old)


def _new_ids(journal: Journal, versions: Sequence[Version]) -> dict[str, str]:
    """Other ids for all, if others in this memory have one of them; none else. They stand in the
    same order, as nodes of one moment are shown by it."""
    old = {kind: sorted(last_rows(versions, kind)) for kind in ENTITIES}
    taken = any(
        journal.connection.execute(
            f"SELECT 1 FROM {ENTITIES[kind].table} WHERE id IN (SELECT value FROM json_each(?))",
            (json_of(ids),),
        ).fetchone()
        for kind, ids in old.items()
    )
    if not taken:
        return {}
    new = {kind: sorted(journal.new_id(kind) for _ in ids) for kind, ids in old.items()}
    return {one: it for kind, ids in old.items() for one, it in zip(ids, new[kind], strict=True)}


@contextmanager
def _fitting(path: Path) -> Iterator[None]:
    """Raises SnapshotUnreadable where rows cannot stand beside one another, as two nodes of one
    name: no checkpoint had them."""
    try:
        yield
    except Exception as error:
        if not str(getattr(error, "sqlite_errorname", "")).startswith("SQLITE_CONSTRAINT"):
            raise
        raise SnapshotUnreadable(path=path, reason=f"it contradicts itself: {error}") from error
