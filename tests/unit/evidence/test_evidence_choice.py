"""Choosing: what is best as often as it may be the best, and the same for the same seed."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from random import Random

import pytest
from campaigns import settled

from dcf.evidence import Record, best_probabilities, choose

pytestmark = settled("dcf/evidence", "requirements/dev.txt")

RECORDS = {
    "a": Record(9.0, 1.0, 10),
    "b": Record(7.0, 3.0, 10),
    "c": Record(1.0, 1.0, 2),
}


SURE_OF_A = {"a": Record(30.0, 2.0, 32), "b": Record(12.0, 8.0, 20), "c": Record(2.0, 6.0, 8)}


def _drawn(records: dict[str, Record]) -> dict[str, float]:
    random, names = Random(1), list(records)
    drawn = Counter(choose(names, records, random=random).version for _ in range(3_000))
    return {name: drawn[name] / 3_000 for name in names}


def _is_near(found: float, share: float) -> bool:
    """Within four standard deviations of a count."""
    return abs(found - share) < 4 * sqrt(share * (1 - share) / 3_000)


def test_where_one_is_surely_the_best_each_is_chosen_as_often_as_it_may_be() -> None:
    drawn = _drawn(SURE_OF_A)
    expected = best_probabilities([record.posterior for record in SURE_OF_A.values()])
    assert expected[0] > 0.9
    for name, share in zip(SURE_OF_A, expected, strict=True):
        assert _is_near(drawn[name], share)


def test_until_then_the_leader_and_its_challenger_are_chosen_by_turns() -> None:
    drawn = _drawn(RECORDS)
    p = dict(
        zip(
            RECORDS,
            best_probabilities([record.posterior for record in RECORDS.values()]),
            strict=True,
        )
    )
    assert max(p.values()) < 0.9
    for name in RECORDS:
        # Russo 2016, 3.3: with another leader j, it is the challenger with p_i / (1 - p_j).
        challenger = sum(p[j] * p[name] / (1 - p[j]) for j in RECORDS if j != name)
        assert _is_near(drawn[name], p[name] / 2 + challenger / 2)


def test_what_is_suspected_is_run_on_and_not_recommended() -> None:
    suspected = Record(8.0, 6.0, 100, steady_successes=90.0, steady_failures=10.0)
    records = {"old": suspected, "other": Record(30.0, 10.0, 40)}
    found = [choose(list(records), records, random=Random(seed)) for seed in range(40)]
    assert {choice.recommended for choice in found} == {"other"}
    assert sum(choice.version == "old" for choice in found) > 30


def test_the_same_seed_chooses_the_same() -> None:
    once, again = (
        [choose(list(RECORDS), RECORDS, random=Random(seed)).version for seed in range(50)]
        for _ in range(2)
    )
    assert once == again
    assert len(set(once)) > 1


def test_switched_off_it_takes_the_recommended_one() -> None:
    choice = choose(list(RECORDS), RECORDS, random=Random(0), explore=False)
    assert (choice.version, choice.explored, choice.exploration) == ("a", False, 0.0)
    assert choice.confidence == pytest.approx(choice.standings[0].best)


def test_the_rate_of_exploration_is_stated() -> None:
    random = Random(2)
    found = [choose(list(RECORDS), RECORDS, random=random) for _ in range(3_000)]
    choice = found[0]
    # Within four standard deviations of a count.
    rate = choice.exploration
    explored = sum(each.explored for each in found) / 3_000
    assert abs(explored - rate) < 4 * (rate * (1 - rate) / 3_000) ** 0.5
    assert sum(row.best for row in choice.standings) == pytest.approx(1)


def test_an_explored_version_says_so() -> None:
    found = (choose(list(RECORDS), RECORDS, random=Random(seed)) for seed in range(100))
    explored = next(choice for choice in found if choice.explored)
    assert explored.reason.startswith(f"{explored.version} is tried to learn about it")
    assert "a is expected to succeed most (tried 10 times, 90% right" in explored.reason
    assert explored.to_json()["explored"] is True


def test_among_equals_the_first_is_recommended() -> None:
    choice = choose(["new", "old"], {}, random=Random(0), explore=False)
    assert (choice.recommended, choice.confidence) == ("new", pytest.approx(0.5))
    assert choice.reason == "nothing is measured yet of any of the 2 candidates"


def test_a_single_candidate_is_no_choice() -> None:
    choice = choose(["only"], {}, random=Random(0))
    assert (choice.version, choice.confidence, choice.exploration) == ("only", 1.0, 0.0)
    assert choice.reason == "only is the only candidate (never measured)"


@pytest.mark.parametrize("candidates", [[], ["a", "a"]])
def test_candidates_are_some_and_each_once(candidates: list[str]) -> None:
    with pytest.raises(ValueError, match="each of them once"):
        choose(candidates, {}, random=Random(0))


def test_a_record_is_told_with_all_that_is_known_of_it() -> None:
    # The quantiles of Beta(39, 4) by scipy.stats.beta.ppf: 0.8050 and 0.9736.
    at = 1_795_000_000_000  # 2026-11-18 UTC
    record = Record(38, 3, 41, failed_at=at, mean_ms=2_140)
    said = "tried 41 times, 93% right (81% to 97%), 2.1 s, last failure on 2026-11-18"
    assert record.told() == said
    assert Record(1, 0, 1, mean_ms=80).told().startswith("tried once, 100% right (16% to 99%), 80")
    assert "tried 90 times, which count as 12" in Record(12, 0, 90).told()
