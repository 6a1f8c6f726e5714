"""Whether the index holds what the rows say."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

from dcf.memory.database import Connection
from dcf.memory.search.entry import Entry
from dcf.memory.search.indexing import entries
from dcf.memory.search.place import number_of, range_at, range_of
from dcf.problem import Problem

_HINT = "`dcf memory doctor` can make the index anew"
_TOKENIZER = "porter unicode61 categories 'L* N* M*'"


def index_faults(connection: Connection) -> Iterator[Problem]:
    """All in which the index is not what one made anew would be."""
    wanted = {(entry.kind, entry.ref): entry for entry in entries(connection)}
    places = {
        (row["kind"], row["ref"]): row
        for row in connection.execute("SELECT * FROM search_documents")
    }
    for kind, ref in sorted(wanted.keys() - places.keys()):
        yield _fault(f"{kind} {ref} is not in the index")
    for kind, ref in sorted(places.keys() - wanted.keys()):
        yield _fault(f"the index has a {kind} {ref} that is not there")
    both = {key: wanted[key] for key in sorted(wanted.keys() & places.keys())}
    for key, entry in both.items():
        if places[key]["length"] != entry.length or not _placed(
            connection, entry, places[key]["place"]
        ):
            yield _fault(f"{key[0]} {key[1]} stands in the index as another text")
    known = {row["place"] for row in places.values()}
    yield from _term_faults(connection, {places[key]["place"]: one for key, one in both.items()})
    yield from _count_faults(connection)
    for row in connection.execute("SELECT place FROM search_vectors"):
        if row["place"] not in known:
            yield _fault(f"there is a vector at {row['place']} without a text")


def _placed(connection: Connection, entry: Entry, place: int) -> bool:
    number = 0 if entry.agent_id is None else number_of(connection, entry.agent_id)
    if number is None or range_at(place) != range_of(number, entry.kind):
        return False
    return entry.kind != "message" or place & 0xFFFF_FFFF == entry.seq


def _term_faults(connection: Connection, at: dict[int, Entry]) -> Iterator[Problem]:
    """Words that are found where they do not stand, and the other way round."""
    found = Counter(
        (row[0], row[1], row[2])
        for row in connection.execute("SELECT doc, col, term FROM search_terms")
    )
    with closing(sqlite3.connect(":memory:")) as anew:
        anew.execute(
            "CREATE VIRTUAL TABLE words USING fts5 (text, about, content = '', columnsize = 0,"
            f' detail = column, tokenize = "{_TOKENIZER}")'
        )
        anew.execute("CREATE VIRTUAL TABLE terms USING fts5vocab (words, instance)")
        anew.executemany(
            "INSERT INTO words (rowid, text, about) VALUES (?, ?, ?)",
            ((place, *entry.indexed) for place, entry in at.items()),
        )
        wanted = Counter(anew.execute("SELECT doc, col, term FROM terms"))
    for place, column, term in sorted(wanted.keys() - found.keys())[:10]:
        yield _fault(f"{_name(at, place)} has {term!r} in its {column}, the index has not")
    for place, column, term in sorted(found.keys() - wanted.keys())[:10]:
        yield _fault(f"the index has {term!r} in the {column} of {_name(at, place)}, it has not")


def _count_faults(connection: Connection) -> Iterator[Problem]:
    counted = {
        row["range"]: (row["documents"], row["words"])
        for row in connection.execute("SELECT * FROM search_ranges WHERE documents <> 0")
    }
    wanted = {
        row[0]: (row[1], row[2])
        for row in connection.execute(
            "SELECT place >> 32, count(*), sum(length) FROM search_documents GROUP BY 1"
        )
    }
    for which in sorted(counted.items() ^ wanted.items()):
        yield _fault(f"the index counts its texts wrongly: {which}")


def _name(at: dict[int, Entry], place: int) -> str:
    return f"{at[place].kind} {at[place].ref}" if place in at else f"a text at {place}"


def _fault(text: str) -> Problem:
    return Problem("memory_search_index", text, hint=_HINT)
