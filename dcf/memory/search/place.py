"""Places: the numbers under which texts stand in the index.

A place says in whose space a text is and of which kind it is: ``number of the space, kind, number
in that``, from the highest bits to the lowest. Every agent, project and node has a space. So
what stands in one stands together, and a search in it reads nothing of others; and the messages
before and after one have the places before and after it. So have the turns of a thread, with
places left free where another thread begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from dcf.late_numpy import np
from dcf.memory.database import Connection
from dcf.memory.search.found import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

Places: TypeAlias = "NDArray[np.int64]"

_KIND_BITS = 3
_INSIDE_BITS = 32
CODES: dict[Kind, int] = {
    "message": 0,
    "passage": 1,
    "block": 2,
    "observation": 3,
    "thread": 4,
    "entry": 5,
    "document": 6,
}
"""Of the kinds, in the places' bits above the lowest 32."""
NOBODY = 0
"""The number under which blocks stand: several agents may hold one."""
_PROJECT = "project:"
_NODE = "node:"


def range_of(number: int, kind: Kind) -> int:
    """The range of places of a kind in a space."""
    return number << _KIND_BITS | CODES[kind]


def bounds(which: int) -> tuple[int, int]:
    """The first and the last place of a range."""
    first = which << _INSIDE_BITS
    return first, first + (1 << _INSIDE_BITS) - 1


def range_at(place: int) -> int:
    """The range that a place is in."""
    return place >> _INSIDE_BITS


def codes_at(places: Places) -> Places:
    """The codes of the kinds of what stands at ``places``."""
    found: Places = places >> _INSIDE_BITS & (1 << _KIND_BITS) - 1
    return found


def is_said(places: Places) -> NDArray[np.bool_]:
    """At which of ``places`` messages and turns stand: those before and after one belong to it."""
    codes = codes_at(places)
    found: NDArray[np.bool_] = (codes == CODES["message"]) | (codes == CODES["thread"])
    return found


def distinct(places: Places) -> Places:
    """Each of ``places`` once, in order."""
    # Faster than np.unique, which first looks each up in a table.
    inorder = np.sort(places)
    first = np.ones(len(inorder), dtype=np.bool_)
    np.not_equal(inorder[1:], inorder[:-1], out=first[1:])
    return inorder[first]


def project_space(project: str) -> str:
    """The space of what a project has."""
    return f"{_PROJECT}{project}"


def node_space(node_id: str) -> str:
    """The space of what was written into a node."""
    return f"{_NODE}{node_id}"


def number_of(connection: Connection, space: str) -> int | None:
    """A space's number, if it has one. The space of an agent is called by the agent's id."""
    row = connection.execute(
        "SELECT number FROM search_spaces WHERE space = ?", (space,)
    ).fetchone()
    return None if row is None else int(row[0])


def given_number(connection: Connection, space: str) -> int:
    """A space's number; a new one if it has none."""
    known = number_of(connection, space)
    if known is not None:
        return known
    cursor = connection.execute("INSERT INTO search_spaces (space) VALUES (?)", (space,))
    return int(cursor.lastrowid or 0)


def next_place(connection: Connection, which: int) -> int:
    """The place behind the last one of a range."""
    first, last = bounds(which)
    row = connection.execute(
        "SELECT max(place) FROM search_documents WHERE place BETWEEN ? AND ?", (first, last)
    ).fetchone()
    return int(row[0]) + 1 if row[0] is not None else first + 1


def texts_between(connection: Connection, first: int, last: int) -> int:
    """About how many texts stand from the beginning of a range to a place: numbers inside a range
    have few gaps."""
    whole = connection.execute(
        "SELECT coalesce(sum(documents), 0) FROM search_ranges WHERE range >= ? AND range < ?",
        (range_at(first), range_at(last)),
    ).fetchone()[0]
    inside = connection.execute(
        "SELECT min(documents, ?) FROM search_ranges WHERE range = ?",
        (last - bounds(range_at(last))[0], range_at(last)),
    ).fetchone()
    return int(whole) + (0 if inside is None else int(inside[0]))
