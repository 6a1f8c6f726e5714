"""Finding nodes, and what can be read in one: the entries of its ancestors and its own.

Who asks for a node's entries names the node alone. The way up to its root is looked for in the same
statement, so that it is that of the moment at which the entries are read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from dcf.memory.database import Connection
from dcf.memory.entities import NODE, NODE_ENTRY
from dcf.memory.node import ROOT
from dcf.memory.nodes.errors import UnknownEntry, UnknownNode
from dcf.memory.nodes.fields import address_of

_LINEAGE = """
WITH RECURSIVE lineage (id, parent, up) AS (
    SELECT id, parent, 0 FROM nodes WHERE id = :node
    UNION ALL
    SELECT n.id, n.parent, l.up + 1 FROM nodes n JOIN lineage l ON n.id = l.parent
)
"""
# The deepest first, which is each node before its children: https://sqlite.org/lang_with.html#rcex3
_BELOW = """
WITH RECURSIVE below (id, depth, created_at) AS (
    SELECT id, :depth, created_at FROM nodes WHERE id = :node
    UNION ALL
    SELECT n.id, b.depth + 1, n.created_at FROM nodes n JOIN below b ON n.parent = b.id
    ORDER BY 2 DESC, 3, 1
)
"""
_NAMES = 2_000
"""Most names among which similar ones are looked for."""

_VISIBLE = (
    "NOT EXISTS (SELECT 1 FROM node_entries s JOIN lineage l ON l.id = s.node_id"
    " WHERE s.shadows = e.id AND l.up < (SELECT up FROM lineage WHERE id = e.node_id))"
)
"""A condition on an entry ``e`` of a ``lineage``: no other one stands for it there. That is one of
a nearer node: since a move it may be that of one above, which takes nothing from what is below."""


def node_row(connection: Connection, node_id: str) -> dict[str, Any]:
    """The row of a node. Raises UnknownNode."""
    found = NODE.find(connection, node_id)
    if found is None:
        raise UnknownNode(node_id)
    return found


def named_row(connection: Connection, project: str, checkpoint: str, name: str) -> dict[str, Any]:
    """The row of the node with this name. Raises UnknownNode with the closest names."""
    found = known_row(connection, project, checkpoint, name)
    if found is None:
        rows = connection.execute(
            "SELECT checkpoint, name FROM nodes WHERE project = ? AND parent IS NOT NULL"
            " ORDER BY created_at DESC LIMIT ?",
            (project, _NAMES),
        )
        names = [f"{row['checkpoint']}/{row['name']}" for row in rows]
        wanted = f"{checkpoint}/{name}" if checkpoint else project
        raise UnknownNode(wanted, get_close_matches(wanted, names, n=3))
    return found


def known_row(
    connection: Connection, project: str, checkpoint: str = ROOT, name: str = ROOT
) -> dict[str, Any] | None:
    """The row of the node with this name, if there is one; without a name that of the root."""
    row = connection.execute(
        "SELECT * FROM nodes WHERE address = ?", (address_of(project, checkpoint, name),)
    ).fetchone()
    return None if row is None else dict(row)


def lineage_rows(connection: Connection, node_id: str) -> list[dict[str, Any]]:
    """A node's ancestors from the root on, and the node itself as the last. Raises UnknownNode."""
    rows = connection.execute(
        f"{_LINEAGE} SELECT n.* FROM lineage l JOIN nodes n ON n.id = l.id ORDER BY l.up DESC",
        {"node": node_id},
    ).fetchall()
    if not rows:
        raise UnknownNode(node_id)
    return [dict(row) for row in rows]


def tree_rows(connection: Connection, node_id: str) -> list[dict[str, Any]]:
    """A node and all below it, each with its ``depth`` and the number of its own ``entries``; each
    before its children, which stand in the order in which they were made. Raises UnknownNode."""
    depth = len(lineage_rows(connection, node_id)) - 1
    rows = connection.execute(
        f"{_BELOW} SELECT n.*, b.depth,"
        " (SELECT count(*) FROM node_entries WHERE node_id = n.id) AS entries"
        " FROM below b CROSS JOIN nodes n ON n.id = b.id",
        {"node": node_id, "depth": depth},
    )
    return [dict(row) for row in rows]


def entry_row(connection: Connection, entry_id: str) -> dict[str, Any]:
    """The row of an entry. Raises UnknownEntry."""
    found = NODE_ENTRY.find(connection, entry_id)
    if found is None:
        raise UnknownEntry(entry=entry_id)
    return found


def entry_rows(
    connection: Connection,
    node_id: str,
    *,
    inherited: bool = True,
    kinds: Sequence[str] = (),
    limit: int = -1,
    offset: int = 0,
    newest: bool = False,
) -> list[dict[str, Any]]:
    """The entries that can be read in a node, oldest first: those of its ancestors that no other
    one shadows, and its own. Without ``inherited`` its own alone; with ``newest`` the last of them.
    Raises UnknownNode."""
    node_row(connection, node_id)
    where, values = _readable(node_id, inherited, kinds)
    order = "e.created_at DESC, e.rowid DESC" if newest else "e.created_at, e.rowid"
    rows = connection.execute(
        f"{_LINEAGE} SELECT e.* FROM node_entries e WHERE {where}"
        f" ORDER BY {order} LIMIT :limit OFFSET :offset",
        {**values, "limit": limit, "offset": offset},
    )
    found = [dict(row) for row in rows]
    return found[::-1] if newest else found


def entry_count(
    connection: Connection, node_id: str, *, inherited: bool = True, kinds: Sequence[str] = ()
) -> int:
    """How many entries can be read in a node. Raises UnknownNode."""
    node_row(connection, node_id)
    where, values = _readable(node_id, inherited, kinds)
    row = connection.execute(
        f"{_LINEAGE} SELECT count(*) FROM node_entries e WHERE {where}", values
    )
    return int(row.fetchone()[0])


def named_entries(
    connection: Connection, project: str, checkpoint: str, names: Sequence[str] | None
) -> dict[str, list[dict[str, Any]]]:
    """What nodes of a checkpoint wrote themselves (None: all of them), oldest first, by name."""
    if names is None:
        nodes = checkpoint_rows(connection, project, checkpoint)
    else:
        known = (known_row(connection, project, checkpoint, one) for one in dict.fromkeys(names))
        nodes = [one for one in known if one is not None]
    return {one["name"]: entry_rows(connection, one["id"], inherited=False) for one in nodes}


def checkpoint_rows(connection: Connection, project: str, checkpoint: str) -> list[dict[str, Any]]:
    """All nodes of a checkpoint, oldest first."""
    rows = connection.execute(
        "SELECT * FROM nodes WHERE project = ? AND checkpoint = ? ORDER BY created_at, rowid",
        (project, checkpoint),
    )
    return [dict(row) for row in rows]


def checkpoint_size(
    connection: Connection, project: str, checkpoint: str, but: Sequence[str]
) -> tuple[int, int]:
    """How many nodes a checkpoint has, and how many entries; without those of the names ``but``."""
    row = connection.execute(
        "SELECT count(*), coalesce(sum("
        "(SELECT count(*) FROM node_entries WHERE node_id = n.id)), 0)"
        " FROM nodes n WHERE project = ? AND checkpoint = ?"
        " AND name NOT IN (SELECT value FROM json_each(?))",
        (project, checkpoint, json.dumps(list(but))),
    ).fetchone()
    return int(row[0]), int(row[1])


def shadowing_row(connection: Connection, node_id: str, entry_id: str) -> dict[str, Any] | None:
    """The entry that stands for another one in a node, if one does: the nearest."""
    row = connection.execute(
        f"{_LINEAGE} SELECT s.* FROM node_entries e JOIN lineage o ON o.id = e.node_id"
        " JOIN node_entries s ON s.shadows = e.id JOIN lineage l ON l.id = s.node_id"
        " WHERE e.id = :entry AND l.up < o.up ORDER BY l.up LIMIT 1",
        {"node": node_id, "entry": entry_id},
    ).fetchone()
    return None if row is None else dict(row)


def shadowed_ids(connection: Connection, node_ids: Sequence[str]) -> list[str]:
    """The entries of these nodes for which a nearer one of them has another."""
    rows = connection.execute(
        "SELECT e.id, e.node_id, s.node_id FROM node_entries s"
        " JOIN node_entries e ON e.id = s.shadows"
        " WHERE s.node_id IN (SELECT value FROM json_each(:nodes))"
        " AND e.node_id IN (SELECT value FROM json_each(:nodes))",
        {"nodes": json.dumps(list(node_ids))},
    ).fetchall()
    nodes = {node for _, *both in rows for node in both}
    depths = {one: len(lineage_rows(connection, one)) for one in nodes}
    return [entry for entry, owner, other in rows if depths[other] > depths[owner]]


def _readable(
    node_id: str, inherited: bool, kinds: Sequence[str]
) -> tuple[str, dict[str, str | int]]:
    """A condition on an entry ``e`` below the lineage, with its values."""
    values: dict[str, str | int] = {"node": node_id}
    where = (
        ["e.node_id IN (SELECT id FROM lineage)", _VISIBLE] if inherited else ["e.node_id = :node"]
    )
    for number, kind in enumerate(kinds):
        values[f"kind{number}"] = kind
    if kinds:
        where.append(f"e.kind IN ({', '.join(f':kind{number}' for number in range(len(kinds)))})")
    return " AND ".join(where), values
