"""A turn that was found, with what was said before and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcf.memory.database import Connection
from dcf.memory.search.found import Found
from dcf.memory.thread import turn_line

_LONGEST = 1_200
"""Characters of a turn that was found, from a little before the words that were found in it."""
_BESIDE = 300
"""Characters of a turn that is told for the sake of the one beside it."""
_TURN = (
    "SELECT t.place, t.text, h.title, h.source_type FROM thread_turns t"
    " JOIN threads h ON h.id = t.thread_id"
    " WHERE t.thread_id = ? AND t.number = ? AND t.standing = 'current'"
)
_BESIDE_IT = (
    "SELECT number, role, text FROM thread_turns INDEXED BY thread_turns_in_order"
    " WHERE thread_id = ? AND standing = 'current' AND place {} ?"
    " AND trim(text, char(32, 9, 10, 13)) <> '' ORDER BY place {} LIMIT 1"
)
_BEFORE, _AFTER = _BESIDE_IT.format("<", "DESC"), _BESIDE_IT.format(">", "ASC")


@dataclass(frozen=True, slots=True)
class ThreadHit:
    """``text`` has a line for each of ``turns``, which are their numbers in the order of the
    thread: the turn that was ``found`` and, cut short, those before and after it in which something
    was said. ``title`` and ``source_type`` are the thread's."""

    found: Found
    text: str
    turns: tuple[int, ...]
    title: str
    source_type: str


def thread_hits(
    connection: Connection, found: Sequence[Found], *, tools: bool
) -> tuple[ThreadHit, ...]:
    """The turns that were ``found`` and answer by themselves, the best first. A turn is told once:
    with the best one that it stands beside; as a whole, if it says words of the query itself.
    Without ``tools`` only what was said is told, and nothing that tools were given or put out;
    turns in which nothing was said are left out then."""
    telling = _Telling(connection, {one.ref: one for one in found if one.says_it}, tools)
    answers = (one for one in found if one.answers)
    hits = (telling.hit(one) for one in answers if one.ref not in telling.told)
    return tuple(hit for hit in hits if hit is not None)


class _Telling:
    """``told`` are the ids of turns that are told by now; those in ``whole`` are told as such."""

    def __init__(self, connection: Connection, whole: Mapping[str, Found], tools: bool) -> None:
        self.told: set[str] = set()
        self._connection = connection
        self._whole = whole
        self._tools = tools

    def hit(self, found: Found) -> ThreadHit | None:
        """None where there is nothing to tell, or the turn stands there no more."""
        thread_id, number, role = found.ref.rpartition("/")[0], found.seq or 0, found.role or ""
        row = self._connection.execute(_TURN, (thread_id, number)).fetchone()
        text = "" if row is None else self._text(found, row["text"])
        if not text:
            return None
        self.told.add(found.ref)
        lines = {
            **self._beside(_BEFORE, thread_id, row["place"]),
            number: turn_line(number, role, text),
            **self._beside(_AFTER, thread_id, row["place"]),
        }
        return ThreadHit(
            found, "\n".join(lines.values()), tuple(lines), row["title"], row["source_type"]
        )

    def _beside(self, which: str, thread_id: str, place: int) -> dict[int, str]:
        """The turn there by its number, as it is told; nothing, if it is told already."""
        row: Mapping[str, Any] | None = self._connection.execute(
            which, (thread_id, place)
        ).fetchone()
        if row is None or (ref := f"{thread_id}/{row['number']}") in self.told:
            return {}
        self.told.add(ref)
        if ref in self._whole:
            text = self._text(self._whole[ref], row["text"])
        else:
            text = _end_of(row["text"]) if which == _BEFORE else _begin_of(row["text"])
        return {row["number"]: turn_line(row["number"], row["role"], text)}

    def _text(self, found: Found, said: str) -> str:
        return _cut((found.text if self._tools else said).strip(), _LONGEST)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} …"


def _end_of(said: str) -> str:
    text = said.strip()
    return text if len(text) <= _BESIDE else f"… {text[-_BESIDE:]}"


def _begin_of(said: str) -> str:
    return _cut(said.strip(), _BESIDE)
