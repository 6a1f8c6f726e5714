"""Whether the index holds what the rows say."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from heapq import merge
from itertools import groupby, islice
from operator import itemgetter
from typing import TypeAlias

from dcf.memory.database import Connection
from dcf.memory.search import signs
from dcf.memory.search.entry import Entry
from dcf.memory.search.indexing import entries
from dcf.memory.search.place import range_at, range_of
from dcf.problem import Problem
from dcf.search import TOKENIZER

_HINT = "`dcf memory doctor` can make the index anew"
_SHOWN = 10
_COLUMNS = ("text", "about")
_Term: TypeAlias = tuple[str, int, int]
"""A word as the index has it, the place of a text, and in which of the columns it stands there."""
# fts5vocab gives its rows in the order of terms, so nothing is sorted here.
_WORDS = "SELECT term, group_concat(doc * 2 + (col = 'about')) FROM search_terms GROUP BY term"
_ABOUTS = "SELECT term, group_concat(doc * 2 + 1) FROM search_about_terms GROUP BY term"


def index_faults(
    connection: Connection, tell: Callable[[str], object] = lambda _: None
) -> Iterator[Problem]:
    """All in which the index is not what one made anew would be. What is looked at is told to
    ``tell``."""
    tell("reading the texts")
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
    tell(f"comparing the places of {len(both):,} texts with those in the index")
    numbers = dict(connection.execute("SELECT space, number FROM search_spaces").fetchall())
    for key, entry in both.items():
        number = 0 if entry.space is None else numbers.get(entry.space)
        if places[key]["length"] != entry.length or not _placed(
            entry, places[key]["place"], number
        ):
            yield _fault(f"{key[0]} {key[1]} stands in the index as another text")
    known = {row["place"] for row in places.values()}
    tell(f"comparing the words of {len(both):,} texts with those in the index")
    yield from _term_faults(connection, {places[key]["place"]: one for key, one in both.items()})
    yield from _count_faults(connection)
    for row in connection.execute("SELECT place FROM search_vectors"):
        if row["place"] not in known:
            yield _fault(f"there is a vector at {row['place']} without a text")
    tell("comparing the signs of vectors with the vectors")
    wrong = signs.wrong_places(connection)
    for place in islice(wrong, _SHOWN):
        yield _fault(f"the signs at {place} are not those of the vector there")


def _placed(entry: Entry, place: int, number: int | None) -> bool:
    if number is None or range_at(place) != range_of(number, entry.kind):
        return False
    return entry.kind != "message" or place & 0xFFFF_FFFF == entry.seq


def _term_faults(connection: Connection, at: dict[int, Entry]) -> Iterator[Problem]:
    """Words that are found where they do not stand, and the other way round: up to ten of each, in
    each of the two indexes of words."""
    with closing(sqlite3.connect(":memory:")) as anew:
        anew.execute(
            "CREATE VIRTUAL TABLE search_words USING fts5 (text, about, content = '',"
            f' columnsize = 0, detail = column, tokenize = "{TOKENIZER}")'
        )
        anew.execute("CREATE VIRTUAL TABLE search_terms USING fts5vocab (search_words, instance)")
        anew.execute(
            "CREATE VIRTUAL TABLE search_abouts USING fts5 (about, content = '',"
            f' columnsize = 0, detail = none, tokenize = "{TOKENIZER}")'
        )
        anew.execute(
            "CREATE VIRTUAL TABLE search_about_terms USING fts5vocab (search_abouts, instance)"
        )
        anew.executemany(
            "INSERT INTO search_words (rowid, text, about) VALUES (?, ?, ?)",
            ((place, *entry.indexed) for place, entry in at.items()),
        )
        anew.executemany(
            "INSERT INTO search_abouts (rowid, about) VALUES (?, ?)",
            ((place, entry.indexed[1]) for place, entry in at.items() if entry.about),
        )
        found = [
            _differences(_terms(anew, sql, 0), _terms(connection, sql, 1))
            for sql in (_WORDS, _ABOUTS)
        ]
    for lost, strange in found:
        for term, place, column in lost:
            yield _fault(
                f"{_name(at, place)} has {term!r} in its {_COLUMNS[column]}, the index has not"
            )
        for term, place, column in strange:
            name = _name(at, place)
            yield _fault(f"the index has {term!r} in the {_COLUMNS[column]} of {name}, it has not")


def _terms(connection: Connection, sql: str, side: int) -> Iterator[tuple[str, int, str]]:
    """The words that an index holds, in order, each with ``side`` and with all of its places: a
    full memory has millions, which SQLite joins faster than Python takes them one by one."""
    cursor = connection.cursor()
    cursor.row_factory = None
    return ((term, side, places) for term, places in cursor.execute(sql))


def _differences(
    wanted: Iterator[tuple[str, int, str]], found: Iterator[tuple[str, int, str]]
) -> tuple[list[_Term], ...]:
    """The first that are only wanted, and the first that are only found."""
    missing: tuple[list[_Term], list[_Term]] = ([], [])
    for term, both in groupby(merge(wanted, found), itemgetter(0)):
        sides = {side: places for _, side, places in both}
        if sides.get(0) == sides.get(1):
            continue
        for one, other, into in ((0, 1, missing[0]), (1, 0, missing[1])):
            only = _numbers(sides.get(one)) - _numbers(sides.get(other))
            into += ((term, *divmod(number, 2)) for number in sorted(only))
    return missing[0][:_SHOWN], missing[1][:_SHOWN]


def _numbers(places: str | None) -> set[int]:
    return {int(place) for place in places.split(",")} if places else set()


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
