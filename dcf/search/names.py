"""How far a request covers what documents are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from dcf.late_numpy import np
from dcf.search.embedder import Vectors
from dcf.search.words import query_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A longer request covers nearly every name anyway, and would take as long as it is.
_WORDS_ASKED = 200


class Names:
    """The names of all documents, by their words.

    ``known`` are names whose words need not be embedded again.
    """

    def __init__(
        self,
        names: Sequence[str],
        embed_words: Callable[[Sequence[str]], Vectors],
        known: Names | None = None,
    ) -> None:
        each = [query_words(name) for name in names]
        words = {word: row for row, word in enumerate(dict.fromkeys(chain.from_iterable(each)))}
        self._embed_words = embed_words
        self._vectors = _vectors(list(words), embed_words, known)
        self._places = words
        self._rows = np.repeat(np.arange(len(each)), [len(told) for told in each])
        self._words = np.array([words[word] for told in each for word in told], dtype=np.int64)
        # A word of many names says little about any of them.
        holding = np.bincount(self._words, minlength=len(words))
        rarity = np.log1p((len(each) - holding + 0.5) / (holding + 0.5))
        self._rarity = rarity[self._words]
        self._whole = np.bincount(self._rows, self._rarity, minlength=len(each))

    def covered(self, request: str) -> NDArray[np.float32]:
        """For each document how near its name comes to words of the request: the mean over the
        words of the name, each with its nearest word of the request. 1 where each is there, 0 where
        there is no name."""
        asked = self._embed_words(query_words(request)[:_WORDS_ASKED])
        if not len(self._words) or not len(asked):
            return np.zeros(len(self._whole), dtype=np.float32)
        nearest = np.clip((self._vectors @ asked.T).max(axis=1), 0, 1)[self._words]
        sums = np.bincount(self._rows, nearest * self._rarity, minlength=len(self._whole))
        return (sums / np.maximum(self._whole, 1e-9)).astype(np.float32)

    def vectors_of(self, words: Sequence[str]) -> dict[str, Vectors]:
        """Those of ``words`` that stand in names, with their vectors."""
        return {word: self._vectors[self._places[word]] for word in words if word in self._places}


def _vectors(
    words: Sequence[str], embed_words: Callable[[Sequence[str]], Vectors], known: Names | None
) -> Vectors:
    rows = known.vectors_of(words) if known else {}
    fresh = [word for word in words if word not in rows]
    rows.update(zip(fresh, embed_words(fresh), strict=True))
    return np.stack([rows[word] for word in words]) if words else np.zeros((0, 0), np.float32)
