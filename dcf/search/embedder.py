"""Embedders: from a text to a vector whose direction is what the text is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from dcf.late_numpy import np
from dcf.search.errors import UnknownEmbedder
from dcf.search.words import is_latin

if TYPE_CHECKING:
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"
STORED = "<f2"
"""Of a vector's numbers, wherever they are kept. Half the size, and three digits are enough to rank
by."""

DEFAULT_EMBEDDER = "wordllama"
EMBEDDERS = ("wordllama", "minilm", "none")
_REMEMBERED = 0.6


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts in a score, beside the similarity, which counts 1: the words
    that match, the name that the request covers, the length of what is said of a document.
    ``sentence`` is the share of the similarity that the nearest sentence of a request decides.
    ``remembered`` is for memory, where similarities decide what words do not."""

    words: float
    named: float = 0.0
    length: float = 0.0
    sentence: float = 0.0
    remembered: float = _REMEMBERED

    def part_of_words(self, query: str) -> float:
        """The part of a score that words decide in memory. Of other scripts than the Latin one an
        encoder knows little more than letters: there it decides no more than word vectors do."""
        return self.remembered if is_latin(query) else max(self.remembered, _REMEMBERED)


def name_of(embedder: Embedder) -> str:
    """Says which vectors may be compared."""
    return f"{embedder.name} {embedder.version}"


class Embedder(Protocol):
    """``name`` and ``version`` say which vectors may be compared; ``weights`` are those that suit
    its similarities."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def weights(self) -> Weights: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 for each text; zeros where nothing can be said."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 for each text that somebody asks."""
        ...

    def embed_words(self, words: Sequence[str]) -> Vectors:
        """One row of length 1 for each single word; only these rows may be compared with it."""
        ...


class WordsOnly:
    """No embedder: words alone decide."""

    name = "none"
    version = "1"
    weights = Weights(words=1.0)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.zeros((len(texts), 0), dtype=np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed(texts)

    def embed_words(self, words: Sequence[str]) -> Vectors:
        return np.zeros((len(words), 0), dtype=np.float32)


def embedder_named(name: str) -> Embedder:
    """The embedder ``wordllama``, ``minilm`` or ``none``. Its weights are loaded here, those of
    ``wordllama`` once for all of the process.

    Raises ``UnknownEmbedder``, or ``EmbedderMissing`` with the command that installs it.
    """
    if name == "wordllama":
        from dcf.search.word_vectors import word_vectors

        return word_vectors()
    if name == "minilm":
        from dcf.search.minilm import MiniLM

        return MiniLM()
    if name == "none":
        return WordsOnly()
    raise UnknownEmbedder(name, EMBEDDERS)


def unit(rows: Vectors) -> Vectors:
    """Each row at length 1; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Vectors = rows / np.maximum(lengths, np.float32(1e-9))
    return scaled
