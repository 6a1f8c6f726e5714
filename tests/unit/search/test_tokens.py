"""What is known of texts and words that were cut before stays bounded, and the same."""

from __future__ import annotations

import pytest

from dcf.search import tokens

TEXTS = ["green tea", "a cup of clay", "def pay(): return 1", "naïve 茶", ""]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two are known at most before all is begun anew."""
    monkeypatch.setattr(tokens, "_counts", {})
    monkeypatch.setattr(tokens, "_MOST_COUNTED", 2)
    monkeypatch.setattr(tokens, "_MOST_HELD", 2)


def cut(text: str) -> list[int]:
    return tokens.wordllama_tokenizer().encode(text, add_special_tokens=False).ids


def test_counts_are_those_of_the_tokenizer_and_are_held_up_to_a_bound(few: None) -> None:
    for text in (*TEXTS, *reversed(TEXTS)):
        assert tokens.counts_of_tokens([text, text]) == [len(cut(text))] * 2
        assert len(tokens._counts) <= 2
    # More than the bound at once are all counted; the next begins anew.
    assert tokens.counts_of_tokens(TEXTS) == [len(cut(text)) for text in TEXTS]
    assert tokens.count_tokens("green tea") == len(cut("green tea"))
    assert len(tokens._counts) == 1


def test_what_is_held_answers_again(few: None) -> None:
    tokens.count_tokens("green tea")
    (digest,) = tokens._counts
    tokens._counts[digest] = 77
    assert tokens.counts_of_tokens(["green tea", "a cup"]) == [77, len(cut("a cup"))]


def test_pieces_of_words_are_those_of_the_tokenizer_and_are_held_up_to_a_bound(few: None) -> None:
    pieces = tokens.KnownPieces()
    for words in (["tea", "unbelievable"], ["clay"], ["tea", "9f8e7d6c5b"], ["unbelievable"]):
        assert pieces.of(words) == {word: cut(word) for word in words}
        assert len(pieces._known) <= 2
    assert "unbelievable" in pieces._known and "9f8e7d6c5b" not in pieces._known
