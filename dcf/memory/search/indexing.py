"""Keeping the index: in the same transaction as the rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from dcf.memory.audit.entity import Entity, Row, Turn
from dcf.memory.database import Connection
from dcf.memory.search import signs
from dcf.memory.search.entry import TABLES, Entry, entry_of
from dcf.memory.search.found import Kind
from dcf.memory.search.place import (
    NOBODY,
    bounds,
    given_number,
    next_place,
    node_space,
    project_space,
    range_at,
    range_of,
)

FORM = 9
"""Grows when what is indexed changes: an index of another form is made anew."""

_AT_ONCE = 1_000
_ORDERS = {"thread": "thread_id, seq", "entry": "number", "document": "document_id, seq"}
"""Of the rows of views, which have no numbers of their own."""
_APART = 3
"""Places between threads: what is so far apart is no neighbour (``ranking.NEIGHBOURS``)."""


def follow_search(connection: Connection, entity: Entity, turns: Sequence[Turn]) -> None:
    """A follower: the index holds what the rows say. For rows that are made without an event it is
    called by who makes them."""
    if len(turns) > 1 and all(before is None for before, _ in turns):
        _index(connection, entity.name, (after for _, after in turns))
        return
    for before, after in turns:
        _follow_one(connection, entity, before, after)


def _follow_one(
    connection: Connection, entity: Entity, before: Row | None, after: Row | None
) -> None:
    if entity.name == "agent" and after is None and before is not None:
        _forget_space(connection, before["id"], ("message", "passage"))
        return
    if entity.name == "node" and after is None and before is not None:
        _forget_space(connection, node_space(before["id"]), ("entry",))
        return
    old, new = entry_of(entity.name, before), entry_of(entity.name, after)
    if old == new:
        return
    place = None if old is None else _remove(connection, old)
    if new is not None:
        places = _new_places(connection, [new]) if place is None else [place]
        _add(connection, [new], places)


def index_new(connection: Connection, kind: Kind, rows: Iterable[Row]) -> None:
    """Index rows that were just made, all at once: as ``follow_search`` for each, in less time."""
    _index(connection, kind, rows)


def _index(connection: Connection, name: str, rows: Iterable[Row | None]) -> None:
    new = [entry for row in rows if (entry := entry_of(name, row)) is not None]
    if new:
        _add(connection, new, _new_places(connection, new))


def forget_old(connection: Connection, kind: Kind, rows: Iterable[Row]) -> None:
    """Take rows out that are no more, or are about to be others."""
    for row in rows:
        entry = entry_of(kind, row)
        if entry is not None:
            _remove(connection, entry)


def forget_words(connection: Connection, is_gone: Callable[[str], bool]) -> None:
    """Let the index have no word any more that was only in texts that are gone, and no space of a
    project that ``is_gone``."""
    # What was deleted stays in the older parts of the index until all are one.
    for table in ("words", "abouts"):
        connection.execute(f"INSERT INTO search_{table} (search_{table}) VALUES ('optimize')")
    for number, space in connection.execute("SELECT number, space FROM search_spaces").fetchall():
        if space.startswith(project_space("")) and is_gone(space.removeprefix(project_space(""))):
            # As one that nobody asks for: numbers are never used again.
            connection.execute(
                "UPDATE search_spaces SET space = ? WHERE number = ?", (f"gone:{number}", number)
            )


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
    for table in ("documents", "ranges", "vectors", "signs", "spaces"):
        connection.execute(f"DELETE FROM search_{table}")
    count = 0
    every = entries(connection)
    while some := list(islice(every, _AT_ONCE)):
        _add(connection, some, _new_places(connection, some))
        count += len(some)
    connection.execute("UPDATE search_state SET form = ?, embedded = 0", (FORM,))
    return count


def entries(connection: Connection) -> Iterator[Entry]:
    """All that is to be searched."""
    for name, table in TABLES.items():
        order = _ORDERS.get(name, "rowid")
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY {order}"):
            entry = entry_of(name, dict(row))
            if entry is not None:
                yield entry


def _add(connection: Connection, new: Sequence[Entry], places: Sequence[int]) -> None:
    last = connection.execute(
        "UPDATE search_state SET version = version + ? RETURNING version", (len(new),)
    ).fetchall()[0][0]
    lengths = [entry.length for entry in new]
    versions = range(last - len(new) + 1, last + 1)
    connection.executemany(
        "INSERT INTO search_documents (place, kind, ref, length, version) VALUES (?, ?, ?, ?, ?)",
        [
            (place, entry.kind, entry.ref, length, version)
            for entry, place, length, version in zip(new, places, lengths, versions, strict=True)
        ],
    )
    indexed = [(place, *entry.indexed) for entry, place in zip(new, places, strict=True)]
    connection.executemany(
        "INSERT INTO search_words (rowid, text, about) VALUES (?, ?, ?)", indexed
    )
    connection.executemany(
        "INSERT INTO search_abouts (rowid, about) VALUES (?, ?)",
        [(place, about) for place, _, about in indexed if about],
    )
    _count(connection, places, lengths)
    said = {place for entry, place in zip(new, places, strict=True) if entry.is_said}
    _read_anew(connection, {place + 1 for place in said} - said)


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
    _forget_vector(connection, place)
    _count(connection, [place], [-length], -1)
    if entry.is_said:
        _read_anew(connection, {place + 1})
    return int(place)


def _read_anew(connection: Connection, places: Iterable[int]) -> None:
    """The vector of the message after one has something of that one: it is to be made again."""
    for place in places:
        cursor = connection.execute(
            "UPDATE search_documents SET version = (SELECT version + 1 FROM search_state)"
            " WHERE place = ?",
            (place,),
        )
        if cursor.rowcount > 0:
            connection.execute("UPDATE search_state SET version = version + 1")
            _forget_vector(connection, place)


def _forget_vector(connection: Connection, place: int) -> None:
    cursor = connection.execute("DELETE FROM search_vectors WHERE place = ?", (place,))
    if cursor.rowcount > 0:
        signs.drop(connection, place)


def _new_places(connection: Connection, new: Iterable[Entry]) -> list[int]:
    """A place for each: of a message by its number, of others behind all of its range. A turn of
    another thread than the one before it leaves places free."""
    numbers: dict[str, int] = {}
    free: dict[int, int] = {}
    last = ""
    places = []
    for entry in new:
        if entry.space is not None and entry.space not in numbers:
            numbers[entry.space] = given_number(connection, entry.space)
        which = range_of(NOBODY if entry.space is None else numbers[entry.space], entry.kind)
        if entry.kind == "message":
            places.append(bounds(which)[0] + entry.seq)
            continue
        place = free.get(which) or next_place(connection, which)
        if entry.kind == "thread":
            last = last or _thread_at(connection, place - 1)
            place += 0 if _thread_of(entry.ref) == last else _APART
            last = _thread_of(entry.ref)
        places.append(place)
        free[which] = place + 1
    return places


def _thread_at(connection: Connection, place: int) -> str:
    row = connection.execute(
        "SELECT ref FROM search_documents WHERE place = ?", (place,)
    ).fetchone()
    return "" if row is None else _thread_of(row[0])


def _thread_of(ref: str) -> str:
    """The thread of a turn, by the turn's id."""
    return ref.rpartition("/")[0]


def _count(
    connection: Connection, places: Sequence[int], words: Sequence[int], step: int = 1
) -> None:
    """Count texts of so many ``words`` in, or with ``step`` -1 out."""
    documents: defaultdict[int, int] = defaultdict(int)
    total: defaultdict[int, int] = defaultdict(int)
    for place, length in zip(places, words, strict=True):
        documents[range_at(place)] += step
        total[range_at(place)] += length
    connection.executemany(
        "INSERT INTO search_ranges VALUES (?, ?, ?) ON CONFLICT (range) DO UPDATE SET"
        " documents = documents + excluded.documents, words = words + excluded.words",
        [(which, count, total[which]) for which, count in documents.items()],
    )


def _forget_space(connection: Connection, space: str, kinds: Sequence[Kind]) -> None:
    row = connection.execute(
        "DELETE FROM search_spaces WHERE space = ? RETURNING number", (space,)
    ).fetchall()
    for (number,) in row:
        for kind in kinds:
            connection.execute(
                "DELETE FROM search_ranges WHERE range = ?", (range_of(number, kind),)
            )
