"""The rows of receipts and tombstones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from dcf.memory.actor import Actor
from dcf.memory.audit.clean_text import clean
from dcf.memory.audit.entity import Row
from dcf.memory.database import Connection
from dcf.memory.forgetting.errors import UnknownReceipt
from dcf.memory.forgetting.places import renamed, without_leaves
from dcf.memory.forgetting.subject import Subject
from dcf.memory.receipt import Receipt, Tombstone, Unreached


def receipt_begun(connection: Connection, subject: Subject, new: str, by: Actor, at: int) -> str:
    """The id of the receipt for the subject that is not ended yet; else of one that begins now,
    with the id ``new``."""
    for row in connection.execute("SELECT id, about FROM receipts WHERE ended_at IS NULL"):
        if row["about"] == subject.digest(row["id"]):
            return str(row["id"])
    # Who asks may be the subject; a name or a reason would be the last place that says it.
    name = renamed(str(clean(by.name)), subject, new)
    reason = "" if subject.is_named_in(by.reason) else clean(by.reason)
    connection.execute(
        "INSERT INTO receipts (id, about, by_kind, by_name, by_reason, began_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (new, subject.digest(new), by.kind, name, str(reason), at),
    )
    return new


def add_tombstones(connection: Connection, receipt_id: str, some: Sequence[Tombstone]) -> None:
    """Add to what a receipt says."""
    last = connection.execute(
        "SELECT coalesce(max(number), 0) FROM tombstones WHERE receipt_id = ?", (receipt_id,)
    ).fetchone()[0]
    connection.executemany(
        "INSERT INTO tombstones VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (receipt_id, number, one.store, one.kind, one.ref, one.fate, one.digest, one.at)
            for number, one in enumerate(some, last + 1)
        ],
    )


def remove_tombstones(connection: Connection, receipt_id: str, some: Sequence[Tombstone]) -> None:
    """Take back what a receipt says."""
    connection.executemany(
        "DELETE FROM tombstones WHERE receipt_id = ? AND store = ? AND kind = ? AND ref = ?",
        [(receipt_id, one.store, one.kind, one.ref) for one in some],
    )


def end_receipt(
    connection: Connection,
    subject: Subject,
    receipt_id: str,
    unreached: Sequence[Unreached],
    at: int,
) -> None:
    """Nothing more has to go. What was not reached may be a path that names the subject."""
    missed = json.dumps([*map(asdict, unreached)], ensure_ascii=False)
    if subject.is_named_in(missed):
        missed = without_leaves(missed, subject)
    connection.execute(
        "UPDATE receipts SET ended_at = ?, unreached = ? WHERE id = ?",
        (at, missed, receipt_id),
    )


def receipts(connection: Connection) -> tuple[Receipt, ...]:
    """All receipts, the newest first."""
    rows = connection.execute("SELECT * FROM receipts ORDER BY began_at DESC, id").fetchall()
    return tuple(_receipt(connection, row) for row in rows)


def receipt_of(connection: Connection, receipt_id: str) -> Receipt:
    """Raises UnknownReceipt."""
    row = connection.execute("SELECT * FROM receipts WHERE id = ?", (receipt_id,)).fetchone()
    if row is None:
        raise UnknownReceipt(receipt_id=receipt_id)
    return _receipt(connection, row)


def _receipt(connection: Connection, row: Row) -> Receipt:
    stones = connection.execute(
        "SELECT store, kind, ref, fate, digest, at FROM tombstones WHERE receipt_id = ?"
        " ORDER BY number",
        (row["id"],),
    )
    return Receipt(
        row["id"],
        row["about"],
        Actor(row["by_kind"], row["by_name"], row["by_reason"]),
        row["began_at"],
        row["ended_at"],
        tuple(Tombstone(**dict(one)) for one in stones),
        tuple(Unreached(**one) for one in json.loads(row["unreached"])),
    )
