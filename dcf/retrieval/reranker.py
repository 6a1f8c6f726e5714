"""A second opinion on the first of a list, by a model of the user's own; there is none by default.

Two ways are here: ``CrossEncoder``, a model in a file, and ``RerankEndpoint``, a service.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from dcf.problem import Problem
from dcf.retrieval.candidate import Scored
from dcf.retrieval.errors import RerankerFailed

MOST_RERANKED = 50
_QUERY, _TEXT = 2_000, 4_000
"""Characters that are judged: a cross-encoder reads some 512 tokens of both together."""


class Reranker(Protocol):
    """Judges texts by themselves, each beside the query. ``name`` says in messages which it is."""

    name: str

    async def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each of ``texts`` (1 to 50) answers: a number on any scale, the higher the
        better. Raises RerankerFailed."""
        ...


async def reranked(
    reranker: Reranker, query: str, ranked: Sequence[Scored]
) -> tuple[list[Scored], tuple[Problem, ...]]:
    """``ranked`` with its first 50 in the order of ``reranker``, each with the score of its new
    place and what the reranker said. One that fails, or answers anything but one number for each
    text, changes nothing: the second value is a warning that says so."""
    first = ranked[:MOST_RERANKED]
    if not first:
        return [], ()
    texts = [one.candidate.text[:_TEXT] for one in first]
    try:
        scores = await reranker.scores(query[:_QUERY], texts)
        if len(scores) != len(first) or not all(map(math.isfinite, scores)):
            reason = f"it gave no finite number for each of {len(first)} texts"
            raise RerankerFailed(reranker.name, reason)
    except RerankerFailed as error:
        return list(ranked), (replace(error.problem, severity="warning"),)
    order = sorted(range(len(first)), key=lambda before: -scores[before])
    moved = [
        replace(
            first[before],
            score=first[place].score,
            why=(*first[before].why, f"reranker {scores[before]:.4f}; {before + 1}. without it"),
        )
        for place, before in enumerate(order)
    ]
    return [*moved, *ranked[MOST_RERANKED:]], ()
