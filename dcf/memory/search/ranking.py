"""How well the words of a query match: BM25, in which messages speak for their neighbours and only
documents count a word more than once."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from dcf.late_numpy import np
from dcf.memory.database import Connection
from dcf.memory.search.counting import counts
from dcf.memory.search.hits import Hits
from dcf.memory.search.place import CODES, Places, codes_at, distinct, is_said
from dcf.memory.search.scope import Scope

if TYPE_CHECKING:
    from numpy.typing import NDArray

# How much a word of the message one, two, three before or after counts. Who answers often does not
# repeat what was asked, and who asks does not know the answer.
NEIGHBOURS = (0.6, 0.4, 0.2)
_STEPS = (1, 2, 3)
_SATURATION = 1.2
_LENGTH = 0.4
# As usual where words are counted: a long piece says each more often.
_LENGTH_OF_DOCUMENTS = 0.75
_KEPT = 256
_READ = 100
"""Pieces of documents whose texts are read, the best by then."""

Scores: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True, slots=True)
class Ranked:
    """Places with what their words are worth: 1 is about what a text gets that says each word of
    the query once. ``own`` is the part that they have without their neighbours."""

    places: Places
    words: Scores
    own: Scores

    def only(self, which: NDArray[np.bool_]) -> Ranked:
        """Those of ``which``."""
        return Ranked(self.places[which], self.words[which], self.own[which])


def ranked(
    connection: Connection,
    found: Sequence[Hits],
    words: Sequence[str],
    scope: Scope,
    *,
    all_of_them: bool,
) -> Ranked:
    """The texts of ``scope`` that match best, in the order of places; or all that match, where
    filters will leave few. The first of ``found`` are the hits of ``words``."""
    places, own, all_of = _amounts(found)
    if len(scope.words) < len(CODES):
        wanted = np.isin(codes_at(places), [CODES[kind] for kind in scope.words])
        places, own, all_of = places[wanted], own[:, wanted], all_of[:, wanted]
    if not len(places):
        return Ranked(places, np.zeros(0), np.zeros(0))
    rarity = np.array([_rarity(one) for one in found])
    if len(places) > _KEPT and not all_of_them:
        # First without lengths: they move a text little, and are read for each by itself.
        first = _scores(all_of, rarity, np.full(len(places), _SATURATION))
        kept = np.sort(np.argpartition(-first, _KEPT)[:_KEPT])
        places, own, all_of = places[kept], own[:, kept], all_of[:, kept]
    norm = _norm(connection, places, scope)
    documents = _best_documents(places, _scores(all_of, rarity, norm))
    if len(documents):
        said = counts(connection, places[documents], words)
        for amounts in (own, all_of):
            amounts[: len(words), documents] = np.maximum(amounts[: len(words), documents], said)
    reach = max(float(rarity.sum()), 1e-9)
    return Ranked(places, _scores(all_of, rarity, norm) / reach, _scores(own, rarity, norm) / reach)


def _best_documents(places: Places, scores: Scores) -> Places:
    """Which of ``places`` are those of documents that are worth to be read once more."""
    documents: Places = np.flatnonzero(codes_at(places) == CODES["document"])
    return documents[np.argsort(-scores[documents], kind="stable")[:_READ]]


def _amounts(found: Sequence[Hits]) -> tuple[Places, Scores, Scores]:
    """All places with a hit near; for each word how often it stands there, and there or near."""
    spread = [_spread(one) for one in found]
    parts = [places for places, _ in spread] + [one.about for one in found]
    places = distinct(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.int64)
    own = np.zeros((len(found), len(places)))
    all_of = np.zeros((len(found), len(places)))
    for row, (one, (near, weights)) in enumerate(zip(found, spread, strict=True)):
        rows = np.searchsorted(places, near)
        own[row, rows[: len(one.text)]] = 1
        own[row, np.searchsorted(places, one.about)] = 1
        all_of[row] = own[row] + np.bincount(rows, weights, minlength=len(places))
    return places, own, all_of


def _spread(one: Hits) -> tuple[Places, Scores]:
    """The places near those of messages that say a word, and what it counts there; of all others
    none. (Texts themselves come first, with the weight 0: they are places too.)"""
    messages = one.text[is_said(one.text)]
    places, weights = [one.text], [np.zeros(len(one.text))]
    if not len(messages):
        return places[0], weights[0]
    for distance, weight in zip(_STEPS, NEIGHBOURS, strict=True):
        for step in (distance, -distance):
            beside = messages + step
            # Before the first of an agent there is nothing: another's texts are no neighbours.
            beside = beside[beside >> 32 == (beside - step) >> 32]
            places.append(beside)
            weights.append(np.full(len(beside), weight))
    return np.concatenate(places), np.concatenate(weights)


def _rarity(one: Hits) -> float:
    """A word that everybody says tells little. From shares, so that it is the same at any size; as
    if one more text of a hundred said it, and one more did not."""
    share = min(max(one.share, 0.0), 1.0)
    return math.log1p((1 - share + 0.0005) / (share + 0.0005))


def _scores(amounts: Scores, rarity: Scores, norm: Scores) -> Scores:
    total: Scores = (rarity[:, None] * amounts * (_SATURATION + 1) / (amounts + norm)).sum(axis=0)
    return total


def _norm(connection: Connection, places: Places, scope: Scope) -> Scores:
    """What a text's length sets against its words: a message's with its neighbours, as its words
    are."""
    known, lengths = _lengths(connection, places, scope)
    messages = is_said(places)
    total = _at(known, lengths, places)
    for step in (*_STEPS, *(-step for step in _STEPS)):
        total += np.where(messages, _at(known, lengths, places + step), 0)
    mean = np.select(
        [codes_at(places) == code for code in CODES.values()],
        [max(scope.words.get(kind, 1.0), 1.0) for kind in CODES],
    )
    relative = total / (mean * np.where(messages, 2 * len(_STEPS) + 1, 1))
    is_document = codes_at(places) == CODES["document"]
    length = np.where(is_document, _LENGTH_OF_DOCUMENTS, _LENGTH)
    norm: Scores = _SATURATION * (1 - length + length * relative)
    return norm


def _at(known: Places, values: Places, places: Places) -> Scores:
    """The values of ``places``, 0 where none is known."""
    at = np.minimum(np.searchsorted(known, places), len(known) - 1)
    return np.where(known[at] == places, values[at], 0).astype(np.float64)


def _lengths(connection: Connection, places: Places, scope: Scope) -> tuple[Places, Places]:
    """Places, in order, and how many words stand there: at least of ``places`` and what is near."""
    cursor = connection.cursor()
    # Bare tuples: rows by name cost as much as the search.
    cursor.row_factory = None
    rows: list[tuple[int, int]] = []
    if scope.is_narrow and scope.only is None:
        for first, last in scope.spans:
            rows += cursor.execute(
                "SELECT place, length FROM search_documents WHERE place BETWEEN ? AND ?",
                (first, last),
            ).fetchall()
    else:
        messages = places[is_said(places)]
        near = [messages + sign * step for step in _STEPS for sign in (1, -1)]
        wanted = distinct(np.concatenate([places, *near])).tolist()
        rows = cursor.execute(
            "SELECT place, length FROM search_documents"
            " WHERE place IN (SELECT value FROM json_each(?)) ORDER BY place",
            (json.dumps(wanted),),
        ).fetchall()
    found = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]
