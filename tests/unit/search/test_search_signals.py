"""Each signal of a score says what it should, and a score is their weighted mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from search_samples import Letters, document

from dcf.search import SearchIndex, Shape, Vectors, Weights, embedder_named
from dcf.search.names import Names
from dcf.search.score import fused, length_scores, similarities, wishes
from dcf.search.words import sentences

WORDS = ("refund", "order", "cancel", "ship")


def embed_words(words: Sequence[str]) -> Vectors:
    """A direction for each known word: only the same words are alike."""
    rows = [[float(word == known) for known in WORDS] for word in words]
    return np.array(rows, dtype=np.float32).reshape(len(words), len(WORDS))


def test_a_name_is_covered_by_the_words_of_a_request() -> None:
    covered = Names(["ship", "cancel", ""], embed_words).covered("Ship it, please")
    assert covered.tolist() == pytest.approx([1, 0, 0])


def test_a_rare_word_of_a_name_counts_more_than_one_of_all_names() -> None:
    names = Names(["refund_order", "cancel_order", "shipOrder"], embed_words)
    rare, common = names.covered("refund")[0], names.covered("order")[0]
    assert rare > 0.5 > common
    assert rare + common == pytest.approx(1)


def test_a_name_of_like_meaning_is_covered_a_little() -> None:
    words = embedder_named("wordllama").embed_words
    names = Names(["reimburse", "photograph"], words)
    near, far = names.covered("refund the buyer")
    assert 1 > near > far >= 0


def test_words_of_names_are_embedded_once() -> None:
    asked: list[str] = []

    def counting(words: Sequence[str]) -> Vectors:
        asked.extend(words)
        return embed_words(words)

    before = Names(["refund_order", "ship_order"], counting)
    after = Names(["refund_order", "cancel_order"], counting, before)
    assert asked == ["refund", "order", "ship", "cancel"]
    assert after.covered("cancel").tolist() == pytest.approx(
        Names(["refund_order", "cancel_order"], embed_words).covered("cancel").tolist()
    )


def test_without_documents_or_words_nothing_is_covered() -> None:
    assert Names([], embed_words).covered("refund").tolist() == []
    assert Names(["", "?!"], embed_words).covered("refund").tolist() == [0, 0]
    assert Names(["refund"], embed_words).covered("?!").tolist() == [0]


def test_length_grows_by_ratio_and_ends_at_a_hundred_words() -> None:
    scores = length_scores(np.array([0, 1, 10, 100, 10_000]))
    assert scores.tolist() == pytest.approx([0, 0, 0.5, 1, 1])


def test_sentences_end_with_their_marks_and_with_lines() -> None:
    assert sentences("It broke. Why?\n- v1.2 works\n\n!!") == ["It broke.", "Why?", "- v1.2 works"]


def test_only_one_of_several_sentences_that_says_enough_is_a_wish() -> None:
    assert wishes("Refund the late order of customer seven") == []
    query = "Hello there! Refund the late order of customer seven. Thanks."
    assert wishes(query) == ["Refund the late order of customer seven."]
    assert len(wishes("cancel order, refund customer. " * 100)) == 8


def test_the_nearest_sentence_decides_its_share_of_the_similarity() -> None:
    documents = np.eye(2, dtype=np.float32)
    asked = np.array([[0.6, 0.2], [0.1, 1.0]], dtype=np.float32)
    assert similarities(documents, asked, 0.5).tolist() == pytest.approx([0.6, 0.6])
    assert similarities(documents, asked, 0.0).tolist() == pytest.approx([0.6, 0.2])


def test_a_score_of_full_signals_is_one() -> None:
    full, none = np.ones(1, np.float32), np.zeros(1, np.float32)
    weights = Weights(words=0.4, named=0.1, length=0.5)
    assert fused(full, full, full, full, weights).tolist() == pytest.approx([1])
    assert fused(none, full, none, none, weights).tolist() == pytest.approx([0.2])
    assert fused(none, none, full, none, weights).tolist() == pytest.approx([0.05])
    assert fused(none, none, none, full, weights).tolist() == pytest.approx([0.25])


class Weighing(Letters):
    """Knows single words, and weighs names and lengths."""

    weights = Weights(words=0.4, named=0.2, length=0.4)

    def embed_words(self, words: Sequence[str]) -> Vectors:
        return embed_words(words)


def test_a_hit_has_the_signals_of_its_score(tmp_path: Path) -> None:
    shape = Shape(fields={"name": 3.0, "text": 1.0}, views=(1.0,), name="name")
    index = SearchIndex(tmp_path / "index.db", shape, Weighing())
    index.update([document("ship", "one two three four five six seven eight nine")])
    (hit,) = index.search("ship")
    assert (hit.named, hit.length) == (pytest.approx(1), pytest.approx(0.5))
    total = hit.similarity + 0.4 * hit.words + 0.2 * hit.named + 0.4 * hit.length
    assert hit.score == pytest.approx(total / 2)


def test_names_follow_the_documents(tmp_path: Path) -> None:
    shape = Shape(fields={"name": 3.0, "text": 1.0}, views=(1.0,), name="name")
    index = SearchIndex(tmp_path / "index.db", shape, Weighing())
    index.update([document("ship", "x"), document("cancel", "x")])
    assert {hit.id: hit.named for hit in index.search("cancel")} == {"ship": 0, "cancel": 1}
    index.update([document("ship", "x"), document("refund", "x")])
    assert {hit.id: hit.named for hit in index.search("refund")} == {"ship": 0, "refund": 1}
