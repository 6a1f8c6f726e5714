"""A read of entries of nodes, and its rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dcf.memory.actor import Actor
from dcf.memory.audit.clean_text import clean
from dcf.memory.database import Connection

LOST_READS = "lost"
"""The operation of a row that says only how many reads before it could not be kept."""
MOST_ROWS = 200_000
"""Rows of the log that are kept at most, however new they are."""
_MOST_IDS = 20
_SWEPT_MORE = 100
"""Rows that one write removes at most beyond twice those that it adds."""
_NODES = "(SELECT id FROM nodes WHERE project = :project AND checkpoint = :checkpoint)"
_WITHIN = (
    f"(node_id IN {_NODES} AND (source_id IS NULL OR source_id IN {_NODES})"
    f" OR node_id IS NULL AND source_id IN {_NODES})"
)
"""A condition on a read: all nodes that it names are of one checkpoint."""

_LONGEST = 1_000
"""Characters of a reason that are kept: who calls over HTTP says it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """``by`` read ``count`` entries of the node ``source`` (None: nothing was found), the first of
    which are ``entries``, by an ``operation`` in the ``node`` (None: in no single one). Nodes are
    named as they were called then. ``at`` is in ms since the epoch, UTC. The ``tree`` of a node is
    one read of it: ``count`` are the entries in the node and below. Of the operation ``lost``
    ``count`` is how many reads could not be kept."""

    seq: int
    at: int
    by: Actor
    operation: str
    node_id: str | None
    node: str | None
    source_id: str | None
    source: str | None
    entries: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Noted:
    """A read that is still to be written: ``found`` are ids of entries by their nodes; ``count`` is
    of a read that gave a number alone."""

    at: int
    by: Actor
    operation: str
    node_id: str | None
    found: dict[str, list[str]]
    count: int = 0


def write_noted(connection: Connection, noted: Iterable[Noted], keep_ms: int) -> None:
    """Write reads, and remove some of what is older than ``keep_ms`` or too many: no more than a
    few rows for each that is written."""
    written = 0
    last = 0
    for one in noted:
        last = max(last, one.at)
        node = _called(connection, one.node_id)
        sources: list[tuple[str | None, list[str], int]] = [
            (source, ids, len(ids)) for source, ids in one.found.items()
        ]
        for source, ids, count in sources or [(one.node_id if one.count else None, [], one.count)]:
            connection.execute(
                "INSERT INTO node_reads (at, by_kind, by_name, by_reason, operation, node_id, node,"
                " source_id, source, entries, count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    one.at,
                    one.by.kind,
                    str(clean(one.by.name)),
                    str(clean(one.by.reason))[:_LONGEST],
                    one.operation,
                    one.node_id,
                    node,
                    source,
                    _called(connection, source),
                    json.dumps(ids[:_MOST_IDS]),
                    count,
                ),
            )
            written += 1
    connection.execute(
        "DELETE FROM node_reads WHERE seq IN (SELECT seq FROM node_reads ORDER BY seq LIMIT ?)"
        " AND (at < ? OR seq <= (SELECT max(seq) FROM node_reads) - ?)",
        (2 * written + _SWEPT_MORE, last - keep_ms, MOST_ROWS),
    )


def readings(
    connection: Connection,
    *,
    node: str | None,
    within: tuple[str, str] | None,
    by: str | None,
    since: int | None,
    before: int | None,
    limit: int,
) -> list[Reading]:
    """Reads, the newest first: in or from ``node`` (its id, or as it was called), in and from nodes
    ``within`` a checkpoint of a project alone, of the actor with the name ``by``, not older than
    ``since``, of the page behind the read ``before``."""
    project, checkpoint = within or (None, None)
    whose = _all(
        {
            _WITHIN: within,
            "(:node IN (node_id, source_id) OR :node IN (node, source))": node,
            "by_name = :by": by,
        }
    )
    when = _all({"at >= :since": since, "seq < :before": before})
    rows = connection.execute(
        f"SELECT * FROM node_reads WHERE ({whose} OR operation = :lost) AND {when}"
        " ORDER BY seq DESC LIMIT :limit",
        {
            "lost": LOST_READS,
            "node": node,
            "project": project,
            "checkpoint": checkpoint,
            "by": by,
            "since": since,
            "before": before,
            "limit": limit,
        },
    )
    return [
        Reading(
            seq=row["seq"],
            at=row["at"],
            by=Actor(row["by_kind"], row["by_name"], row["by_reason"]),
            operation=row["operation"],
            node_id=row["node_id"],
            node=row["node"],
            source_id=row["source_id"],
            source=row["source"],
            entries=tuple(json.loads(row["entries"])),
            count=row["count"],
        )
        for row in rows
    ]


def by_node(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Ids of entries by their nodes, from pairs of node and entry."""
    found: dict[str, list[str]] = {}
    for node_id, entry_id in pairs:
        found.setdefault(node_id, []).append(entry_id)
    return found


def _all(conditions: Mapping[str, object]) -> str:
    """The conditions of which a value is given."""
    asked = [text for text, value in conditions.items() if value is not None]
    return f"({' AND '.join(asked) or '1'})"


def _called(connection: Connection, node_id: str | None) -> str | None:
    """What a node is called now; its id if it is gone."""
    if node_id is None:
        return None
    row = connection.execute(
        "SELECT project, checkpoint, name FROM nodes WHERE id = ?", (node_id,)
    ).fetchone()
    if row is None:
        return node_id
    return f"{row['checkpoint']}/{row['name']}" if row["checkpoint"] else str(row["project"])
