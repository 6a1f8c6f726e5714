"""A budget is never exceeded, the best answer comes first, and no kind that has an answer is left
out whose floor has room for it or for a cut of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

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
from dcf.retrieval.cut import LEAST_CUT, cut, with_costs
from dcf.retrieval.ranking import fused
from dcf.search import count_tokens, counts_of_tokens


def scored(*texts: tuple[Kind, int]) -> tuple[Scored, ...]:
    """The best first: of each its kind and how many words it has."""
    return tuple(
        Scored(Candidate(kind, place, "word " * words, f"dcf://memory/{place}", "", {}), 1.0, ())
        for place, (kind, words) in enumerate(texts, 1)
    )


def firsts_of(ranked: Sequence[Scored]) -> list[Scored]:
    """The best of each kind, with its cost, in the order of the ranking."""
    firsts: dict[Kind, Scored] = {}
    for one in with_costs(ranked):
        firsts.setdefault(one.candidate.kind, one)
    return [*firsts.values()]


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
        # Nothing is left out that fits what is left.
        assert all(one.tokens > budget - made.used for one in made.left_out)
    if ranked:
        # A budget has at least 100 tokens, which is room for a cut.
        assert found[0].place == 1 and made.missed is None
    for one in made.found:
        whole = with_costs(ranked)[one.candidate.place - 1]
        if one.candidate.text != whole.candidate.text:
            assert one.tokens < whole.tokens == one.candidate.about["whole_tokens"]
            assert f"cut: the whole costs {whole.tokens:,} tokens" in one.candidate.text


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


# Costs of the size of the shares: floors and ceilings are crossed by single texts.
long_texts = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(20, 1_200)), max_size=20)


@given(texts | long_texts, st.integers(100, 4_000), st.integers(len(KINDS), 50))
def test_no_kind_starves_whose_floor_has_room_for_its_best_or_a_cut_of_it(
    texts: Sequence[tuple[Kind, int]], budget: int, limit: int
) -> None:
    """However it is ranked, and however small the limit is, as long as it has a place for each."""
    ranked = scored(*texts)
    made = bundled(ranked, budget, limit)
    floors = {kind: budget * SHARES[kind].floor // 100 for kind in KINDS}
    firsts = firsts_of(ranked)
    # The best of all comes first: of a kind with a small floor it may take a little from others.
    if firsts and floors[firsts[0].candidate.kind] >= LEAST_CUT:
        for one in firsts:
            kind = one.candidate.kind
            fits = min(one.tokens, LEAST_CUT) <= floors[kind]
            assert made.parts[kind].taken >= fits


@given(texts | long_texts, st.integers(100, 4_000), st.integers(len(KINDS), 50))
def test_the_best_of_each_kind_is_whole_while_the_budget_and_its_ceiling_have_room(
    texts: Sequence[tuple[Kind, int]], budget: int, limit: int
) -> None:
    ranked = scored(*texts)
    made = bundled(ranked, budget, limit)
    firsts = firsts_of(ranked)
    if sum(one.tokens for one in firsts) <= budget and all(
        one.tokens <= made.parts[one.candidate.kind].ceiling for one in firsts[1:]
    ):
        assert {one.candidate.citation for one in firsts} <= {
            one.candidate.citation for one in made.found if "cut:" not in one.candidate.text
        }


@given(texts | long_texts, st.integers(100, 4_000))
def test_what_kinds_do_not_use_goes_to_others(
    texts: Sequence[tuple[Kind, int]], budget: int
) -> None:
    """What is left is too small for whatever was cut or left out."""
    ranked = scored(*texts)
    made = bundled(ranked, budget, 100)
    whole = {one.candidate.place: one for one in with_costs(ranked)}
    for one in made.found:
        assert one.tokens == whole[one.candidate.place].tokens or budget - made.used < LEAST_CUT
    assert not made.left_out or budget - made.used < LEAST_CUT


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(1, 99), st.integers(0, 100))),
    st.integers(100, 2_000),
)
def test_what_hardly_answers_is_told_to_nobody_and_gets_no_share(
    texts: Sequence[tuple[Kind, int, int]], budget: int
) -> None:
    ranked = [
        replace(one, relevance=relevance / 100)
        for one, (_, _, relevance) in zip(
            scored(*((kind, count) for kind, count, _ in texts)), texts, strict=True
        )
    ]
    made = bundled(ranked, budget, 100)
    least = round(max((one.relevance or 0 for one in ranked), default=0) / 3, 3)
    answering = [one for one in ranked if one.relevance and one.relevance >= least]
    alone = bundled(answering, budget, 100)
    assert made.found == alone.found and made.missed == alone.missed
    assert {one.candidate.place for one in made.left_out if "hardly" in one.left_out} == {
        one.candidate.place for one in ranked if one not in answering
    }


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


def test_where_not_all_of_the_best_fit_those_behind_the_first_are_cut() -> None:
    texts: list[tuple[Kind, int]] = [("code", 540), ("memory", 500), ("fact", 25)]
    made = bundled(scored(*texts), 1_000, 100)
    assert [one.candidate.kind for one in made.found] == ["code", "memory", "fact"]
    assert ["cut:" in one.candidate.text for one in made.found] == [False, True, False]
    assert made.used > 960


def test_the_best_of_all_has_the_budget_where_no_other_kind_answers() -> None:
    """A document of 289 tokens, of 300, whose ceiling is half of them."""
    document, filler = scored(("document", 270), ("code", 40))
    made = bundled([replace(document, relevance=0.9), replace(filler, relevance=0.29)], 300, 100)
    (told,) = made.found
    assert told.candidate == document.candidate and told.tokens > 270
    assert made.left_out[0].left_out == "hardly answers: relevance 0.29, the best has 0.90"


def test_of_a_limit_the_best_of_all_has_the_first_place() -> None:
    ranked = scored(("document", 3_000), ("thread", 20), ("memory", 20))
    made = bundled(ranked, 300, 1)
    assert [one.candidate.place for one in made.found] == [1]
    assert {one.left_out for one in made.left_out} == {"behind the first 1"}


LOG = [
    *(f"step {number}: compiling module {number} of the shop" for number in range(200)),
    "ERROR broker: the TLS certificate of kafka-3 was revoked by the authority",
    *(f"step {number}: skipped" for number in range(200)),
]


@pytest.mark.parametrize("budget", [100, 300, 1_500])
async def test_a_long_text_is_cut_around_the_words_of_the_question(budget: int) -> None:
    clock = Ticking()
    retrieval = Retrieval(VolatileItems(clock, Numbered()), None, clock)
    item = await retrieval.log("/shop", NewItem("\n".join(LOG)))
    asked = ContextQuestion("/shop", "kafka certificate revoked?", budget=budget)
    answered = await retrieval.context(asked)
    (told,) = answered.found
    assert told.candidate.citation == item.citation
    assert LOG[200] in told.candidate.text.splitlines()
    whole = with_costs([replace(told, candidate=replace(told.candidate, text=item.text))])[0].tokens
    assert told.candidate.text.endswith(f"\n[cut: the whole costs {whole:,} tokens]")
    assert told.candidate.about["whole_tokens"] == whole > 3_000
    assert budget - LEAST_CUT < told.tokens <= budget
    assert answered.problems == ()


@given(
    st.text("ab \n漢é", max_size=3_000),
    st.text("ab \n漢", max_size=20),
    st.integers(0, 400),
)
def test_a_cut_is_a_part_of_the_text_and_fits(text: str, query: str, room: int) -> None:
    candidate = Candidate("memory", 1, text, "dcf://memory/1", "", {})
    (one,) = with_costs([Scored(candidate, 1.0, ())])
    told = cut(query, one, room)
    if told is None:
        assert room < LEAST_CUT or not text.strip("\n")
    else:
        part, _, mark = told.candidate.text.rpartition("\n")
        assert part in text and mark == f"[cut: the whole costs {one.tokens:,} tokens]"
        assert told.tokens <= room and told.tokens == with_costs([told])[0].tokens


def test_a_cut_inside_of_a_long_line() -> None:
    line = f"{'x' * 5_000} {'filler ' * 2_000}the pump lost pressure {'filler ' * 2_000}"
    (one,) = with_costs([Scored(Candidate("memory", 1, line, "dcf://memory/1", "", {}), 1.0, ())])
    told = cut("why did the pump lose pressure?", one, 120)
    assert told is not None and "the pump lost pressure" in told.candidate.text


@pytest.mark.parametrize("end", ["\n", " "])
def test_a_cut_of_megabytes_looks_at_the_stretch_that_says_most(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []

    def counts(texts: Sequence[str]) -> list[int]:
        counted.append(sum(map(len, texts)))
        return counts_of_tokens(texts)

    monkeypatch.setattr("dcf.retrieval.cut.counts_of_tokens", counts)
    filler = [f"the pump runs at {number} turns{end}" for number in range(100_000)]
    filler[70_000] = f"the pump lost pressure at night{end}"
    one = Scored(Candidate("memory", 1, "".join(filler), "dcf://memory/1", "", {}), 1.0, ())
    told = cut("why did the pump lose pressure?", replace(one, tokens=700_000), 120)
    assert sum(counted) < 160_000  # of 2.8 MB, which took 2 s of a core
    assert told is not None and "pressure at night" in told.candidate.text
    assert told.tokens <= 120


def test_a_best_answer_that_no_cut_fits_is_said_to_be_missed() -> None:
    (one,) = scored(("memory", 50))
    one = replace(one, candidate=replace(one.candidate, citation=f"dcf://{'memory/' * 100}"))
    made = bundled([one], 100, 10)
    assert made.found == () and made.missed == made.left_out[0]
    assert made.left_out[0].left_out == "over the budget: 100 tokens were left"


async def test_a_missed_answer_is_a_warning() -> None:
    clock = Ticking()
    retrieval = Retrieval(VolatileItems(clock, Numbered()), None, clock)
    for number in range(12):  # one entry, whose eleven other addresses alone are over the budget
        await retrieval.log("/shop", NewItem("the parser fails", file_path=f"{number}.ts"))
    answered = await retrieval.context(ContextQuestion("/shop", "parser fails", budget=100))
    (problem,) = answered.problems
    assert answered.found == () and problem.severity == "warning"
    assert problem.message.startswith("the best answer, dcf://") and "100 has no room" in str(
        problem
    )


async def test_by_the_guide_a_budget_has_the_first_texts_whole() -> None:
    """Its formula ranks all kinds in one list and slices that; it cuts no text."""
    clock = Ticking()
    retrieval = Retrieval(VolatileItems(clock, Numbered()), None, clock)
    texts = ["parser fails", f"parser fails {'why ' * 300}", "parser fails today", "fine day"]
    for text in texts:
        await retrieval.log("/shop", NewItem(text))
    asked = ContextQuestion("/shop", "parser fails", mode="guide")
    ranked = [one.candidate.text for one in (await retrieval.context(asked)).found]
    made = await retrieval.context(replace(asked, budget=100))
    assert [one.candidate.text for one in made.found] == [one for one in ranked if len(one) < 100]
    assert [one.left_out.split(":")[0] for one in made.left_out] == ["over the budget"]
    assert made.problems == () and made.bundle is not None and made.bundle.used <= 100


async def test_what_says_no_word_of_a_question_is_told_without_a_budget_alone() -> None:
    """With what it is worth: a client sees that it fills the list."""
    clock, source = Ticking(), "the parser fails on an empty header"
    retrieval = Retrieval(VolatileItems(clock, Numbered()), None, clock, threads=None)
    await retrieval.log("/shop", NewItem(source))
    await retrieval.log("/shop", NewItem("what a fine day, parser"))
    asked = ContextQuestion("/shop", "empty header parser fails whenever")
    plain = await retrieval.context(asked)
    # Four of five words, and one of them.
    assert [one.relevance for one in plain.found] == [0.8, 0.2]
    made = await retrieval.context(replace(asked, budget=300))
    assert [one.candidate.text for one in made.found] == [source]
    assert made.left_out[0].left_out == "hardly answers: relevance 0.20, the best has 0.80"


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
        assert part.ceiling == budget * shares[kind].ceiling // 100
    assert all(one.tokens > budget - made.used for one in made.left_out)


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


@pytest.mark.parametrize(
    ("likeness", "relevance"), [(None, 0.0), (-0.3, 0.0), (0.19, 0.0), (0.2, 0.2), (1.0, 1.0)]
)
def test_a_text_without_a_word_of_the_question_answers_by_its_likeness_alone(
    likeness: float | None, relevance: float
) -> None:
    one = Candidate("code", 1, "def load(): ...", "dcf://code/1", "", {}, likeness=likeness)
    ranked = fused("photosynthesis of moss", [one])
    assert [one.relevance for one in ranked] == [relevance]
    assert len(bundled(ranked, 300, 10).found) == (relevance > 0)
    # Nobody can judge a query without words.
    assert fused("?!", [one])[0].relevance is None
