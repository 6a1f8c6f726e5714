"""Vectors of names and facts, as Graphiti compares them."""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dcf.knowledge.cypher import Literal, vector

if TYPE_CHECKING:
    from dcf.search import Embedder

EMBEDDER = "wordllama"
"""The one embedder of the graph, whatever searches elsewhere use: vectors of two cannot be
compared, and the server refuses those of another length."""
WIDTH = 512
"""So many numbers each of its vectors has."""
_KEPT = 20_000


def load_embedder() -> Embedder:
    """The embedder; its weights are loaded here (they come with DCF)."""
    from dcf.search import embedder_named

    return embedder_named(EMBEDDER)


def never_zero(text: str, numbers: Sequence[float]) -> list[float]:
    """``numbers``, or where they are all zero (a text without a known word) a vector of length 1
    that only this text has: of a zero vector the server makes a similarity that is no number."""
    if any(numbers):
        return [float(number) for number in numbers]
    size = len(numbers)
    digest = hashlib.shake_256(text.encode()).digest(size)
    shifted = [byte - 127.5 for byte in digest]
    length = math.sqrt(sum(part * part for part in shifted))
    return [part / length for part in shifted]


class Meanings:
    """Vectors of texts as Cypher literals; those lately used are kept."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: OrderedDict[str, Literal] = OrderedDict()

    def of(self, texts: Iterable[str]) -> dict[str, Literal]:
        """The vector of each text."""
        wanted = list(dict.fromkeys(texts))
        missing = [text for text in wanted if text not in self._kept]
        if missing:
            rows = self._embedder.embed(missing).tolist()
            for text, row in zip(missing, rows, strict=True):
                self._kept[text] = vector(never_zero(text, row))
        found = {text: self._kept[text] for text in wanted}
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found
