"""Keeping the index: in the same transaction as the rows."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.memory.audit.entity import Entity, Row
from dcf.memory.database import Connection
from dcf.memory.search.entry import Entry, entry_of
from dcf.memory.search.place import (
    NOBODY,
    bounds,
    given_number,
    next_place,
    range_at,
    range_of,
)

FORM = 5
"""Grows when what is indexed changes: an index of another form is made anew."""

_TABLES = (
    ("message", "messages"),
    ("passage", "passages"),
    ("block", "blocks"),
    ("observation", "observations"),
)


def follow_search(
    connection: Connection, entity: Entity, before: Row | None, after: Row | None
) -> None:
    """A follower: the index holds what the rows say. For rows that are made without an event it is
    called by who makes them."""
    if entity.name == "agent" and after is None and before is not None:
        _forget_agent(connection, before["id"])
        return
    old, new = entry_of(entity.name, before), entry_of(entity.name, after)
    if old == new:
        return
    place = None if old is None else _remove(connection, old)
    if new is not None:
        _add(connection, new, place)


def is_index_old(connection: Connection) -> bool:
    """Whether the file has no index of this form."""
    return bool(connection.execute("SELECT form FROM search_state").fetchone()[0] != FORM)


def make_index(connection: Connection) -> None:
    """Make the index, unless another process has done so meanwhile."""
    if is_index_old(connection):
        rebuild(connection)


def rebuild(connection: Connection) -> int:
    """Make the index anew from the rows; how many texts are in it. Vectors come with use."""
    connection.execute("INSERT INTO search_words (search_words) VALUES ('delete-all')")
    connection.execute("INSERT INTO search_abouts (search_abouts) VALUES ('delete-all')")
    for table in ("search_documents", "search_ranges", "search_vectors", "search_spaces"):
        connection.execute(f"DELETE FROM {table}")
    count = 0
    for entry in entries(connection):
        _add(connection, entry, None)
        count += 1
    connection.execute("UPDATE search_state SET form = ?, embedded = 0", (FORM,))
    return count


def entries(connection: Connection) -> Iterator[Entry]:
    """All that is to be searched."""
    for name, table in _TABLES:
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY rowid"):
            entry = entry_of(name, dict(row))
            if entry is not None:
                yield entry


def _add(connection: Connection, entry: Entry, place: int | None) -> None:
    if place is None:
        place = _place(connection, entry)
    version = connection.execute(
        "UPDATE search_state SET version = version + 1 RETURNING version"
    ).fetchall()[0][0]
    length = entry.length
    connection.execute(
        "INSERT INTO search_documents (place, kind, ref, length, version) VALUES (?, ?, ?, ?, ?)",
        (place, entry.kind, entry.ref, length, version),
    )
    connection.execute(
        "INSERT INTO search_words (rowid, text, about) VALUES (?, ?, ?)", (place, *entry.indexed)
    )
    if entry.about:
        connection.execute(
            "INSERT INTO search_abouts (rowid, about) VALUES (?, ?)", (place, entry.indexed[1])
        )
    _count(connection, place, 1, length)
    _read_anew(connection, entry, place + 1)


def _remove(connection: Connection, entry: Entry) -> int:
    """Take an entry out; the place that it had."""
    place, length = connection.execute(
        "SELECT place, length FROM search_documents WHERE kind = ? AND ref = ?",
        (entry.kind, entry.ref),
    ).fetchone()
    # The index keeps no texts: it must be given what it was given.
    connection.execute(
        "INSERT INTO search_words (search_words, rowid, text, about) VALUES ('delete', ?, ?, ?)",
        (place, *entry.indexed),
    )
    if entry.about:
        connection.execute(
            "INSERT INTO search_abouts (search_abouts, rowid, about) VALUES ('delete', ?, ?)",
            (place, entry.indexed[1]),
        )
    connection.execute("DELETE FROM search_documents WHERE place = ?", (place,))
    connection.execute("DELETE FROM search_vectors WHERE place = ?", (place,))
    _count(connection, place, -1, -length)
    _read_anew(connection, entry, place + 1)
    return int(place)


def _read_anew(connection: Connection, entry: Entry, after: int) -> None:
    """The vector of the message after one has something of that one: it is to be made again."""
    if entry.kind != "message":
        return
    cursor = connection.execute(
        "UPDATE search_documents SET version = (SELECT version + 1 FROM search_state)"
        " WHERE place = ?",
        (after,),
    )
    if cursor.rowcount > 0:
        connection.execute("UPDATE search_state SET version = version + 1")
        connection.execute("DELETE FROM search_vectors WHERE place = ?", (after,))


def _place(connection: Connection, entry: Entry) -> int:
    if entry.space is None:
        return next_place(connection, range_of(NOBODY, entry.kind))
    which = range_of(given_number(connection, entry.space), entry.kind)
    if entry.kind == "message":
        return bounds(which)[0] + entry.seq
    return next_place(connection, which)


def _count(connection: Connection, place: int, documents: int, words: int) -> None:
    connection.execute(
        "INSERT INTO search_ranges VALUES (?, ?, ?) ON CONFLICT (range) DO UPDATE SET"
        " documents = documents + excluded.documents, words = words + excluded.words",
        (range_at(place), documents, words),
    )


def _forget_agent(connection: Connection, agent_id: str) -> None:
    row = connection.execute(
        "DELETE FROM search_spaces WHERE space = ? RETURNING number", (agent_id,)
    ).fetchall()
    for (number,) in row:
        for kind in ("message", "passage"):
            connection.execute(
                "DELETE FROM search_ranges WHERE range = ?", (range_of(number, kind),)
            )
