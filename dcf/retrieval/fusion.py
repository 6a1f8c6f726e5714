"""One list of memory, code and documents: reciprocal rank fusion.

Cormack, Clarke and Büttcher: Reciprocal Rank Fusion outperforms Condorcet and individual Rank
Learning Methods, SIGIR 2009. Ranks are fused and no scores: those of one search say nothing in
another.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcf.retrieval.candidate import Candidate, Scored
from dcf.retrieval.word_table import WordTable

_K = 60
"""As in the paper: how little the first places are worth above those behind them."""


def fused(query: str, candidates: Sequence[Candidate]) -> list[Scored]:
    """All candidates, the best first. Each has a place in two lists: that of its own source, and
    one of all texts together by the words of the query (BM25), in which memory, code and
    documents can be compared. Of two that are equal the newer one comes first: recency decides
    nothing else."""
    table = WordTable()
    table.put((number, one.text) for number, one in enumerate(candidates))
    together = {number: place for place, number in enumerate(table.best(query), 1)}
    scored = [_scored(one, together.get(number)) for number, one in enumerate(candidates)]
    return sorted(scored, key=lambda one: (-one.score, -one.candidate.timestamp))


def _scored(one: Candidate, together: int | None) -> Scored:
    places = [one.place] if together is None else [one.place, together]
    # Of the most there can be, so that it lies between 0 and 1.
    score = sum((_K + 1) / (_K + place) for place in places) / 2
    words = "says no word of the query" if together is None else f"{together}. of all by words"
    why = [f"{one.place}. of {one.source}: {one.own_reason}", words]
    if one.times > 1:
        why.append(f"logged {one.times} times")
    return Scored(one, round(score, 6), tuple(why))
