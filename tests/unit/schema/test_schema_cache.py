"""What was made of a text is kept, up to a number of texts and of their characters."""

from __future__ import annotations

import pytest

from dcf.schema.cache import TextCache


def cache_of(made: list[str], **limits: int) -> TextCache[str]:
    def make(text: str) -> str:
        made.append(text)
        return text.upper()

    return TextCache(make, **{"entries": 10, "characters": 100, **limits})


def test_a_text_is_made_once() -> None:
    made: list[str] = []
    cache = cache_of(made)
    assert [cache("a"), cache("a")] == ["A", "A"]
    assert made == ["a"]


def test_what_was_asked_for_longest_ago_goes_first() -> None:
    made: list[str] = []
    cache = cache_of(made, entries=2)
    for text in "abacab":
        cache(text)
    assert made == ["a", "b", "c", "b"]


def test_large_texts_push_out_the_others() -> None:
    made: list[str] = []
    cache = cache_of(made, characters=10)
    cache("x")
    for number in range(20):
        cache(f"{number:09}")
        assert len(cache) <= 2
    cache("x")
    assert made.count("x") == 2


def test_one_text_above_the_limit_is_kept_alone() -> None:
    made: list[str] = []
    cache = cache_of(made, characters=10)
    cache("x")
    cache("y" * 1_000)
    cache("y" * 1_000)
    assert len(cache) == 1
    assert made == ["x", "y" * 1_000]
    cache("x")
    assert len(cache) == 1


def test_what_cannot_be_made_is_not_kept() -> None:
    def refuse(text: str) -> str:
        raise ValueError(text)

    cache = TextCache(refuse, entries=1, characters=1)
    for _ in range(2):
        with pytest.raises(ValueError, match="a"):
            cache("a")
    assert len(cache) == 0
