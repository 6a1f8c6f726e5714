"""What beside its words and its meaning speaks for a text, or against it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from dcf.late_numpy import np
from dcf.memory.database import Connection
from dcf.memory.search.found import Kind
from dcf.memory.search.period import Period, period_of
from dcf.memory.search.place import Places
from dcf.memory.search.question import Question
from dcf.memory.search.ranking import Scores
from dcf.search import words

_WEIGHED = 100
"""Texts, the best first, whose cues are looked at."""
# A question has the words that are looked for, and what comes after it the answer.
_ASKS = 0.9
_ANSWERS = 1.05
_SAID_BY = 1.05
_IN_TIME = 1.5
# What answers cited helped. Bounded: what is asked for decides.
_USED = 0.1
_USES = 3
# The plus has SQLite look places up: else it would go through all that is of the kind.
_MESSAGES = (
    "SELECT d.place, m.created_at, m.sender,"
    " substr(rtrim(m.content, char(32, 9, 10, 13)), -1) IN ('?', '？', '؟'), 0"
    " FROM search_documents d JOIN messages m ON m.id = d.ref"
    " WHERE +d.kind = 'message' AND d.place IN (SELECT value FROM json_each(?))"
)
_OBSERVATIONS = (
    "SELECT d.place, o.at, NULL, 0, o.used"
    " FROM search_documents d JOIN observations o ON o.id = d.ref"
    " WHERE +d.kind = 'observation' AND d.place IN (SELECT value FROM json_each(?))"
)
_TURNS = (
    "SELECT d.place, t.created_at, NULL,"
    " substr(rtrim(t.text, char(32, 9, 10, 13)), -1) IN ('?', '？', '؟'), 0"
    " FROM search_documents d JOIN searched_turns t ON t.id = d.ref"
    " WHERE +d.kind = 'thread' AND d.place IN (SELECT value FROM json_each(?))"
)
_HAVE_CUES: dict[Kind, str] = {
    "message": _MESSAGES,
    "observation": _OBSERVATIONS,
    "thread": _TURNS,
}


@dataclass(frozen=True, slots=True)
class _Said:
    at: int
    sender: str | None
    asks: bool
    used: int


def cued(connection: Connection, question: Question, places: Places, score: Scores) -> Scores:
    """``score`` with what cues make of the best.

    A message or turn counts less where it asks, more where it answers, and a message more if it is
    by the only one who the query names. What is of the time that the query names counts more, and
    observations that were used, up to a tenth.
    """
    if not _HAVE_CUES.keys() & set(question.wanted):
        return score
    best = np.argsort(-score, kind="stable")[:_WEIGHED]
    said = _said(connection, places[best].tolist(), question.wanted)
    named = _named(question, (one.sender for one in said.values()))
    period = period_of(question.query)
    weighed = score.copy()
    for row, place in zip(best.tolist(), places[best].tolist(), strict=True):
        if place in said:
            weighed[row] *= _weight(said[place], said.get(place - 1), named, period)
    return weighed


def _said(connection: Connection, places: list[int], kinds: Iterable[Kind]) -> dict[int, _Said]:
    """What stands at ``places``, of these kinds, and the messages before."""
    asked = [_HAVE_CUES[kind] for kind in kinds if kind in _HAVE_CUES]
    cursor = connection.cursor()
    # Bare tuples: rows by name cost as much as the search.
    cursor.row_factory = None
    near = json.dumps(sorted({*places, *(place - 1 for place in places)}))
    rows = chain.from_iterable(cursor.execute(sql, (near,)).fetchall() for sql in asked)
    return {place: _Said(at, sender, bool(asks), used) for place, at, sender, asks, used in rows}


def _named(question: Question, senders: Iterable[str | None]) -> str | None:
    """The sender that the query names, unless it names several."""
    asked = set(question.words)
    named = [one for one in {*senders} if one and asked & set(words(one.lower()))]
    return named[0] if len(named) == 1 else None


def _weight(one: _Said, before: _Said | None, named: str | None, period: Period | None) -> float:
    weight = _ASKS if one.asks else 1.0
    if before is not None and before.asks:
        weight *= _ANSWERS
    if named is not None and one.sender == named:
        weight *= _SAID_BY
    weight *= 1 + _USED * one.used / (one.used + _USES)
    return weight * (_IN_TIME if period is not None and period.holds(one.at) else 1.0)
