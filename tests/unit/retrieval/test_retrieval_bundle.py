"""A budget is never exceeded, and no kind that has an answer which fits its floor is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from dcf.retrieval import KINDS, SHARES, Bundle, Candidate, Kind, Scored, bundled
from dcf.search import count_tokens


def scored(*texts: tuple[Kind, int]) -> tuple[Scored, ...]:
    """The best first: of each its kind and how many words it has."""
    return tuple(
        Scored(Candidate(kind, place, "word " * words, f"dcf://memory/{place}", "", {}), 1.0, ())
        for place, (kind, words) in enumerate(texts, 1)
    )


texts = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(1, 400)), max_size=40)


@given(texts, st.integers(100, 4_000), st.integers(1, 50))
def test_shares_hold(texts: Sequence[tuple[Kind, int]], budget: int, limit: int) -> None:
    ranked = scored(*texts)
    made = bundled(ranked, budget, limit)
    found = [one.candidate for one in made.found]
    left = [one.candidate for one in made.left_out]
    assert sorted(one.place for one in found + left) == [*range(1, len(ranked) + 1)]
    assert [one.place for one in found] == sorted(one.place for one in found)
    assert len(found) <= limit
    # What they cost is counted here once more.
    cost = sum(count_tokens(f"{one.text}\n{one.citation}") for one in found)
    assert cost <= made.used == sum(one.tokens for one in made.found) <= budget
    assert bundled(ranked, budget, limit) == made
    if len(found) < limit:
        for one in made.left_out:
            part = made.parts[one.candidate.kind]
            # Its kind's floor and the budget are used: nothing that fits either is left out.
            assert one.tokens > part.floor - part.used
            assert one.tokens > budget - made.used


def test_a_kind_is_not_starved_by_others_that_are_ranked_above_it() -> None:
    made = bundled(scored(*[("code", 80)] * 20, ("memory", 40), ("document", 40)), 1_000, 100)
    told = Counter(one.candidate.kind for one in made.found)
    assert told["memory"] == told["document"] == 1
    assert made.parts["code"].used > 1_000 * SHARES["code"].ceiling // 100  # others left room
    assert all("over the budget" in one.left_out for one in made.left_out)


def test_beyond_the_ceiling_others_come_first() -> None:
    # Without a ceiling the code, which is ranked first, would take all that is left.
    made = bundled(scored(*[("code", 80)] * 12, *[("memory", 80)] * 12), 1_000, 100)
    assert _share(made, "memory") >= 0.3
    assert _share(bundled(scored(*[("code", 80)] * 12), 1_000, 100), "code") > 0.9


@given(texts, st.integers(100, 4_000), st.integers(len(KINDS), 50))
def test_no_kind_is_left_out_that_fits_its_floor(
    texts: Sequence[tuple[Kind, int]], budget: int, limit: int
) -> None:
    """However small the limit is, as long as it has a place for each."""
    made = bundled(scored(*texts), budget, limit)
    for kind in KINDS:
        of_it = [one for one in (*made.found, *made.left_out) if one.candidate.kind == kind]
        fits = any(one.tokens <= budget * SHARES[kind].floor // 100 for one in of_it)
        assert made.parts[kind].taken >= fits


def test_the_limit_is_said_where_it_is_what_keeps_a_text_out() -> None:
    made = bundled(scored(*[("code", 5)] * 4), 1_000, 3)
    assert [one.left_out == "behind the first 3" for one in made.left_out] == [True]


def _share(made: Bundle, kind: Kind) -> float:
    return made.parts[kind].used / made.budget
