"""Packed contexts: never over the budget, the most wanted first."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.memory.context import Budget, Offer, pack
from dcf.search import count_tokens

texts = st.text(st.sampled_from("ab é日😀\n\t-.("), max_size=200) | st.text(max_size=60)


def offers_of(*sizes: int) -> list[Offer]:
    return [
        Offer(f"dcf://observation/{n}", f"row {n}", "plum " * size, "words 0.5")
        for n, size in enumerate(sizes)
    ]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.builds(Offer, st.sampled_from("abcdefgh"), texts, texts, texts), max_size=20),
    st.builds(Budget, st.integers(0, 300), st.integers(0, 100), st.integers(0, 10)),
)
def test_no_pack_costs_more_than_its_budget(offers: list[Offer], budget: Budget) -> None:
    packed = pack(offers, budget)
    assert packed.tokens == (count_tokens(packed.text) if packed.text else 0)
    assert packed.tokens <= budget.details + budget.index
    assert sum(one.layer == "index" for one in packed.items) <= budget.rows
    told = [one.offer.uri for one in packed.items]
    assert len(told) == len(set(told))
    assert packed.left_out == len({one.uri for one in offers}) - len(told)
    for one in packed.items:
        said = one.offer.details if one.layer == "details" else one.offer.row
        assert said in packed.text


def test_the_first_are_told_in_full_and_the_others_have_a_line() -> None:
    packed = pack(offers_of(20, 20, 20), Budget(details=75, index=50))
    assert [(one.offer.row, one.layer) for one in packed.items] == [
        ("row 0", "details"),
        ("row 1", "index"),
        ("row 2", "index"),
    ]
    assert "row 1\nrow 2" in packed.text


def test_one_that_is_too_long_does_not_keep_shorter_ones_out() -> None:
    packed = pack(offers_of(1_000, 5), Budget(details=60, index=50))
    assert [(one.offer.row, one.layer) for one in packed.items] == [
        ("row 1", "details"),
        ("row 0", "index"),
    ]


def test_an_address_that_is_offered_twice_is_told_once_where_it_came_first() -> None:
    first, second = offers_of(5, 6)
    packed = pack([first, second, Offer(first.uri, "again", "again", "again")])
    assert [one.offer for one in packed.items] == [first, second]


def test_nothing_offered_is_an_empty_text() -> None:
    packed = pack([], Budget())
    assert (packed.text, packed.tokens, packed.items, packed.left_out) == ("", 0, (), 0)
