"""Up to which event history is given up."""

from __future__ import annotations

from dcf.memory.audit.border import border_of
from dcf.memory.database import Connection
from dcf.memory.garbage import Retention

_ROW = 200
"""Bytes of an event beside its change, about."""


def cut_of(connection: Connection, retention: Retention, now: int) -> int:
    """The newest event that is not kept; never below what was given up before."""
    return max(
        border_of(connection),
        _by_age(connection, retention, now),
        _by_number(connection, retention.most_events),
        _by_size(connection, retention),
    )


def file_bytes(connection: Connection) -> int:
    """Bytes of the file, once all that is committed is in it."""
    return _pragma(connection, "page_size") * _pragma(connection, "page_count")


def used_bytes(connection: Connection) -> int:
    """Bytes of the file that hold something."""
    free = _pragma(connection, "page_size") * _pragma(connection, "freelist_count")
    return file_bytes(connection) - free


def _pragma(connection: Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _by_age(connection: Connection, retention: Retention, now: int) -> int:
    if retention.events_ms is None:
        return 0
    first_kept = connection.execute(
        "SELECT seq FROM events WHERE at >= ? ORDER BY seq LIMIT 1", (now - retention.events_ms,)
    ).fetchone()
    return _last(connection) if first_kept is None else int(first_kept[0]) - 1


def _by_number(connection: Connection, most: int | None) -> int:
    if most is None:
        return 0
    row = connection.execute(
        "SELECT seq FROM events ORDER BY seq DESC LIMIT 1 OFFSET ?", (most,)
    ).fetchone()
    return 0 if row is None else int(row[0])


def _by_size(connection: Connection, retention: Retention) -> int:
    if retention.most_bytes is None:
        return 0
    excess = used_bytes(connection) - retention.most_bytes
    most = _by_number(connection, retention.least_events)
    cut = 0
    for row in connection.execute(
        "SELECT seq, length(CAST(change AS BLOB)) + coalesce(length(packed), 0) AS bytes"
        " FROM events WHERE seq <= ? ORDER BY seq",
        (most,),
    ):
        if excess <= 0:
            break
        excess -= row["bytes"] + _ROW
        cut = row["seq"]
    return cut


def _last(connection: Connection) -> int:
    row = connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
    return int(row[0])
