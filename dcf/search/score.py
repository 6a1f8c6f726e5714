"""How well a document answers: the words of a query by BM25, and one score out of several signals,
each between 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcf.late_numpy import np
from dcf.search.embedder import Vectors, Weights
from dcf.search.words import sentences, telling_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A second occurrence of a word says less than the first, and a long text is held against its
# words a little: the usual values are 1.2 and 0.75; 0.4 found more on all three sets of tools.
_SATURATION = 1.2
_LENGTH_PART = 0.4

# From here on more words say no more: nobody comes first by talking.
_LONG = 100
# A sentence of fewer telling words greets or thanks. Each wish is embedded: a long query must not
# take as long as it is.
_WISH = 4
_WISHES = 8


@dataclass(frozen=True, slots=True)
class Postings:
    """Where one stem stands: rows of documents, numbers of fields, how often."""

    rows: NDArray[np.int64]
    fields: NDArray[np.int64]
    counts: NDArray[np.float32]


def word_scores(
    found: Mapping[str, Postings], lengths: NDArray[np.float32], weights: NDArray[np.float32]
) -> NDArray[np.float32]:
    """For each document a score: 0 without a word of the query, 1 about what a document gets that
    has each of them once.

    ``lengths`` are those of the documents, in words; ``weights`` those of the fields. Divided by
    what the whole query could reach and not by the best match, a query that matches badly
    everywhere stays low, and what it means decides.
    """
    scores = np.zeros(len(lengths), dtype=np.float32)
    mean = max(float(lengths.mean()), 1.0) if len(lengths) else 1.0
    norm = _SATURATION * (1 - _LENGTH_PART + _LENGTH_PART * lengths / mean)
    reachable = 0.0
    for postings in found.values():
        counts = postings.counts * weights[postings.fields]
        amount = np.bincount(postings.rows, counts, minlength=len(lengths)).astype(np.float32)
        holding = np.count_nonzero(amount)
        rarity = np.log1p((len(lengths) - holding + 0.5) / (holding + 0.5))
        scores += rarity * amount * (_SATURATION + 1) / (amount + norm)
        reachable += rarity
    return scores / np.float32(max(reachable, 1e-9))


def length_scores(counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """How much is said of each document, from the number of words: 0 for one word, 1 for a
    hundred and more, by ratio.

    Of two that fit alike, the one that is described at length is more often the right one: it does
    more, and a terse one lies near to many requests by chance.
    """
    logs = np.log(np.clip(counts, 1, _LONG)) / np.log(_LONG)
    scores: NDArray[np.float32] = logs.astype(np.float32)
    return scores


def wishes(query: str) -> list[str]:
    """The sentences that may each be a wish, of a query that has several."""
    several = sentences(query)
    if len(several) < 2:
        return []
    return [one for one in several if len(telling_words(one)) >= _WISH][:_WISHES]


def similarities(vectors: Vectors, asked: Vectors, sentence: float) -> Vectors:
    """For each row of ``vectors`` its similarity to the query, of which ``asked`` has the vectors:
    the whole first, then its wishes. The nearest of all has the share ``sentence``.

    A query of several sentences often wants several things, and the mean of them is near to
    neither.
    """
    each = vectors @ asked.T
    similar: Vectors = each[:, 0] * (1 - sentence) + each.max(axis=1) * sentence
    return similar


def fused(
    similar: Vectors,
    words: NDArray[np.float32],
    named: NDArray[np.float32],
    length: NDArray[np.float32],
    weights: Weights,
) -> NDArray[np.float32]:
    """The weighted mean, one number for each document."""
    total = similar + weights.words * words + weights.named * named + weights.length * length
    scores: NDArray[np.float32] = total / (1 + weights.words + weights.named + weights.length)
    return scores
