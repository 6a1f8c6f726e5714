"""A budget is never exceeded, and no kind that has an answer which fits its ceiling is left out
while there is room for the best of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_world import Numbered, Ticking

from dcf.retrieval import (
    KINDS,
    SHARES,
    Bundle,
    Candidate,
    ContextQuestion,
    Kind,
    NewItem,
    Retrieval,
    Scored,
    Share,
    VolatileItems,
    bundled,
    shares_of,
)
from dcf.search import count_tokens


def scored(*texts: tuple[Kind, int]) -> tuple[Scored, ...]:
    """The best first: of each its kind and how many words it has."""
    return tuple(
        Scored(Candidate(kind, place, "word " * words, f"dcf://memory/{place}", "", {}), 1.0, ())
        for place, (kind, words) in enumerate(texts, 1)
    )


def best(made: Bundle) -> list[Scored]:
    """Of each kind the best text of at most its ceiling."""
    ranked = sorted((*made.found, *made.left_out), key=lambda one: one.candidate.place)
    fit = [one for one in ranked if one.tokens <= made.parts[one.candidate.kind].ceiling]
    firsts = (next((one for one in fit if one.candidate.kind == kind), None) for kind in KINDS)
    return [one for one in firsts if one is not None]


def beyond_floors(made: Bundle) -> int:
    """What the best text of each kind may take of the floors of others."""
    return sum(max(0, one.tokens - made.parts[one.candidate.kind].floor) for one in best(made))


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
        over = beyond_floors(made)
        for one in made.left_out:
            part = made.parts[one.candidate.kind]
            # Its kind's floor and the budget are used: nothing that fits either is left out.
            assert one.tokens > part.floor - part.used - over
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


def tell_the_best_of_each(made: Bundle) -> None:
    firsts = best(made)
    if sum(one.tokens for one in firsts) <= made.budget:
        assert {one.candidate.place for one in firsts} <= {
            one.candidate.place for one in made.found
        }


# Costs of the size of the shares: floors and ceilings are crossed by single texts.
long_texts = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(20, 600)), max_size=20)


@given(long_texts, st.integers(500, 3_000), st.integers(len(KINDS), 50))
def test_the_best_of_each_kind_comes_first_while_the_budget_has_room_for_all(
    texts: Sequence[tuple[Kind, int]], budget: int, limit: int
) -> None:
    made = bundled(scored(*texts), budget, limit)
    assert made.used <= budget
    tell_the_best_of_each(made)


def test_a_kind_whose_best_costs_more_than_its_floor_is_told() -> None:
    """Of 2,000 tokens, a Task's default, the floors are 200, 200, 400 and 100."""
    small: list[tuple[Kind, int]] = [
        *(("observation", 250), ("playbook", 250)),
        *(("document", 450), ("fact", 120)),
    ]
    ranked = scored(*[("code", 150)] * 20, *[("memory", 150)] * 20, *small)
    made = bundled(ranked, 2_000, 100)
    assert all(made.parts[kind].taken == 1 for kind, _ in small)
    assert all(made.parts[kind].used > made.parts[kind].floor for kind, _ in small)
    assert made.parts["code"].taken >= 1 and made.parts["memory"].taken >= 1


def test_where_not_all_of_the_best_fit_what_fits_a_floor_comes_first() -> None:
    texts: list[tuple[Kind, int]] = [("code", 540), ("memory", 400), ("fact", 25)]
    made = bundled(scored(*texts), 1_000, 100)
    assert [one.candidate.kind for one in made.found] == ["code", "fact"]


def test_the_limit_is_said_where_it_is_what_keeps_a_text_out() -> None:
    made = bundled(scored(*[("code", 5)] * 4), 1_000, 3)
    assert [one.left_out == "behind the first 3" for one in made.left_out] == [True]


@st.composite
def settings(draw: st.DrawFn) -> str:
    """Valid shares of every kind."""
    cuts = sorted(draw(st.integers(0, 100)) for _ in KINDS)
    floors = [one - before for before, one in zip([0, *cuts], cuts, strict=False)]
    return ",".join(
        f"{kind}={floor}-{draw(st.integers(floor, 100))}"
        for kind, floor in zip(KINDS, floors, strict=True)
    )


@given(settings(), texts, st.integers(100, 4_000))
def test_any_shares_hold(
    setting: str, given_texts: Sequence[tuple[Kind, int]], budget: int
) -> None:
    shares, problems = shares_of({"DCF_BUNDLE_SHARES": setting})
    assert problems == []
    made = bundled(scored(*given_texts), budget, 100, shares)
    cost = sum(
        count_tokens(f"{one.candidate.text}\n{one.candidate.citation}") for one in made.found
    )
    assert cost <= made.used <= budget
    for kind in KINDS:
        part = made.parts[kind]
        assert part.floor == budget * shares[kind].floor // 100
        # What a kind's floor has room for is there, but for what the best of each kind cost.
        left = [one.tokens for one in made.left_out if one.candidate.kind == kind]
        assert all(tokens > part.floor - part.used - beyond_floors(made) for tokens in left)
    tell_the_best_of_each(made)


def test_shares_are_read_and_the_others_stay() -> None:
    said = {"DCF_BUNDLE_SHARES": " code = 10-40, memory=20-60,"}
    shares, problems = shares_of(said)
    assert problems == []
    assert shares == {**SHARES, "code": Share(10, 40), "memory": Share(20, 60)}
    assert shares_of({}) == (SHARES, []) == shares_of({"DCF_BUNDLE_SHARES": ""})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("code", ["'code' does not say KIND=FLOOR-CEILING"]),
        ("code=-1-5", ["'code=-1-5' does not say KIND=FLOOR-CEILING"]),
        ("code=1.5-5", ["'code=1.5-5' does not say KIND=FLOOR-CEILING"]),
        ("shoe=1-5,code=6-5,x", ["'shoe' is no kind", "code has 6 to 5 percent", "'x' does not"]),
        ("code=1-101", ["code has 1 to 101 percent"]),
        ("code=1-5,code=1-5", ["code is there twice"]),
        ("code=90-90", ["the floors are "]),
    ],
)
def test_all_that_is_wrong_with_shares_is_said(text: str, said: list[str]) -> None:
    _, problems = shares_of({"DCF_BUNDLE_SHARES": text})
    assert [one.message.startswith(begin) for one, begin in zip(problems, said, strict=True)] == (
        [True] * len(said)
    )
    assert all(one.hint and one.file == "DCF_BUNDLE_SHARES" for one in problems)


async def test_a_retrieval_has_the_shares_of_its_setting() -> None:
    clock, shares = Ticking(), {**SHARES, "memory": Share(5, 90)}
    retrieval = Retrieval(VolatileItems(clock, Numbered()), None, clock, shares=shares)
    await retrieval.log("/shop", NewItem("the parser fails"))
    answered = await retrieval.context(ContextQuestion("/shop", "parser", budget=1_000))
    assert answered.bundle is not None
    part = answered.bundle.parts["memory"]
    assert (part.floor, part.ceiling, part.taken) == (50, 900, 1)


def _share(made: Bundle, kind: Kind) -> float:
    return made.parts[kind].used / made.budget
