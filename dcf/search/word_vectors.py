"""The default embedder: a table of vectors for pieces of words, from the wheel of wordllama."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from dcf.late_numpy import np
from dcf.search.embedder import Vectors, Weights, unit
from dcf.search.tokens import KnownPieces, wordllama_file
from dcf.search.words import telling_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BATCH = 1_024
_KNOWN = 64
"""Single texts whose vectors are known: a question is asked of memory, documents and code in
turn."""


class WordVectors:
    """The mean of the vectors of a text's words, twice: in small letters and as written.

    Stop words are left out. The two readings, put side by side, rank better than either: names
    and common words are cut into other pieces when they are written large.
    """

    name = "wordllama"
    version = "0.4.0.post1/1"
    weights = Weights(words=0.6, named=0.1, length=0.1)

    def __init__(self) -> None:
        from safetensors.numpy import load_file

        (table,) = load_file(wordllama_file("weights/l2_supercat_256.safetensors")).values()
        # Half precision is how the file has it: 16 MB instead of 32, and as exact.
        self._table = table
        self._pieces = KnownPieces()
        self._of_one = lru_cache(_KNOWN)(self._one)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._of_one(texts[0]) if len(texts) == 1 else self._embedded(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed(texts)

    def embed_words(self, words: Sequence[str]) -> Vectors:
        return self._means([word.lower().split() for word in words])

    def _one(self, text: str) -> Vectors:
        found = self._embedded([text])
        # Several have it.
        found.flags.writeable = False
        return found

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        telling = [telling_words(text) for text in texts]
        small = [" ".join(text).lower().split() for text in telling]
        both = self._means([*small, *telling])
        return unit(np.concatenate([both[: len(texts)], both[len(texts) :]], axis=1))

    def _means(self, texts: Sequence[Sequence[str]]) -> Vectors:
        rows = np.zeros((len(texts), self._table.shape[1]), dtype=np.float32)
        last = len(self._table) - 1
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            known = self._pieces.of({word for text in batch for word in text})
            pieces = [[piece for word in text for piece in known[word]] for text in batch]
            filled = [row for row, one in enumerate(pieces, start) if one]
            if filled:
                each = [np.minimum(one, last) for one in pieces if one]
                rows[filled] = self._mean_of_each(each)
        return unit(rows)

    def _mean_of_each(self, pieces: list[NDArray[np.int64]]) -> Vectors:
        """The mean of the vectors of each row of pieces."""
        used = np.zeros(len(self._table), dtype=np.bool_)
        used[np.concatenate(pieces)] = True
        # Texts share most of their pieces: each is brought to full precision once.
        vectors = self._table[used].astype(np.float32)
        at = np.cumsum(used) - 1
        return np.array([vectors[at[one]].mean(axis=0) for one in pieces])


@cache
def word_vectors() -> WordVectors:
    """The default embedder of this process; any number of threads may use it at once. Raises
    ``EmbedderMissing``."""
    return WordVectors()
