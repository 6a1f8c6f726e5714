"""The default embedder: a table of vectors for pieces of words, from the wheel of wordllama."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.late_numpy import np
from dcf.search.embedder import Vectors, Weights, unit
from dcf.search.tokens import wordllama_file, wordllama_tokenizer
from dcf.search.words import telling_words

_BATCH = 1_024


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
        self._tokenizer = wordllama_tokenizer()

    def embed(self, texts: Sequence[str]) -> Vectors:
        telling = [" ".join(telling_words(text)) for text in texts]
        small = self._means([text.lower() for text in telling])
        written = self._means(telling)
        return unit(np.concatenate([small, written], axis=1))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed(texts)

    def embed_words(self, words: Sequence[str]) -> Vectors:
        return self._means([word.lower() for word in words])

    def _means(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self._table.shape[1]), dtype=np.float32)
        last = len(self._table) - 1
        for start in range(0, len(texts), _BATCH):
            batch = list(texts[start : start + _BATCH])
            encoded = self._tokenizer.encode_batch(batch, add_special_tokens=False)
            for row, pieces in enumerate(encoded, start):
                if pieces.ids:
                    places = np.minimum(pieces.ids, last)
                    rows[row] = self._table[places].mean(axis=0, dtype=np.float32)
        return unit(rows)
