"""What a question must be."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dcf.memory.search.found import KINDS
from dcf.memory.search.question import Question
from dcf.problem import Problem

MOST = 1_000
"""Texts that one search may give."""


def question_problems(question: Question) -> Iterator[Problem]:
    """All that is wrong with a question. Any text may be the query."""
    if not 1 <= question.k <= MOST:
        yield Problem("memory_search_k", f"k is {question.k}, not between 1 and {MOST}", "/k")
    for kind in question.kinds:
        if kind not in KINDS:
            yield Problem(
                "memory_search_kind", f"{kind!r} is not one of {', '.join(KINDS)}", "/kinds"
            )
    for label, weight in question.weights.items():
        if not (math.isfinite(weight) and weight >= 0):
            yield Problem(
                "memory_search_weight",
                f"the weight of {label!r} is {weight}, not a number from 0 on",
                f"/weights/{label}",
            )
