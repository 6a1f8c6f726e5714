"""Which entries of some nodes are wanted: their kinds, what they have, whether it is verified."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dcf.memory.database import Connection

EVENT = "reproducibility_event"
"""The kind of an entry that says whether another one could be reproduced: its metadata have
``target_memory_id`` and ``status``."""
VERIFIED = ("confirmed", "passed", "reproduced", "verified")
"""What the status of an entry that could be reproduced is, in small or large letters."""
_NODES = "node_id IN (SELECT value FROM json_each(:nodes))"


@dataclass(frozen=True, slots=True)
class Choice:
    """``kinds``: only of one of these; ``having``: only with something under each of these names of
    its metadata; ``verified``: only what the newest event about it, of those that are read beside
    it, says could be reproduced."""

    kinds: Sequence[str] = ()
    having: Sequence[str] = ()
    verified: bool = False

    @property
    def is_all(self) -> bool:
        """Whether any entry is wanted."""
        return not (self.kinds or self.having or self.verified)


def chosen_ids(
    connection: Connection, choice: Choice, node_ids: Sequence[str], hidden: Collection[str]
) -> list[str]:
    """The entries of these nodes that are wanted, without those that are ``hidden``."""
    values = {"nodes": json.dumps(list(node_ids)), "kinds": json.dumps(list(choice.kinds))}
    where = [_NODES]
    if choice.kinds:
        where.append("kind IN (SELECT value FROM json_each(:kinds))")
    if choice.having:
        values["having"] = json.dumps(list(choice.having))
        where.append(
            "NOT EXISTS (SELECT 1 FROM json_each(:having) h WHERE NOT EXISTS ("
            "SELECT 1 FROM json_each(metadata) m WHERE m.key = h.value"
            " AND coalesce(m.value, '') NOT IN ('', '[]', '{}', 0)))"
        )
    rows = connection.execute(
        f"SELECT id FROM node_entries WHERE {' AND '.join(where)}", values
    ).fetchall()
    found = [row[0] for row in rows if row[0] not in hidden]
    if choice.verified:
        status = statuses(connection, node_ids, hidden)
        return [one for one in found if status.get(one, ("", ""))[1].lower() in VERIFIED]
    return found


def statuses(
    connection: Connection, node_ids: Sequence[str], hidden: Collection[str]
) -> dict[str, tuple[str, str]]:
    """By entry the newest event about it in these nodes, and the status that it says."""
    rows = connection.execute(
        "SELECT id, json_extract(metadata, '$.target_memory_id') AS target,"
        " json_extract(metadata, '$.status') AS status FROM node_entries"
        f" WHERE {_NODES} AND kind = :kind ORDER BY created_at, rowid",
        {"nodes": json.dumps(list(node_ids)), "kind": EVENT},
    ).fetchall()
    return {
        str(row["target"]): (row["id"], str(row["status"] or ""))
        for row in rows
        if row["id"] not in hidden
    }
