"""How well the words of a query match: BM25 over weighted fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcf.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A second occurrence of a word says less than the first, and a long text is held against its
# words a little: the usual values are 1.2 and 0.75; 0.4 found more on all three sets of tools.
_SATURATION = 1.2
_LENGTH = 0.4


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
    norm = _SATURATION * (1 - _LENGTH + _LENGTH * lengths / mean)
    reachable = 0.0
    for postings in found.values():
        counts = postings.counts * weights[postings.fields]
        amount = np.bincount(postings.rows, counts, minlength=len(lengths)).astype(np.float32)
        holding = np.count_nonzero(amount)
        rarity = np.log1p((len(lengths) - holding + 0.5) / (holding + 0.5))
        scores += rarity * amount * (_SATURATION + 1) / (amount + norm)
        reachable += rarity
    return scores / np.float32(max(reachable, 1e-9))
