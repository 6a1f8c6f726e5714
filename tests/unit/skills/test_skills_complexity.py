"""Complexity: the arithmetic by hand, and tiers without a gap over every vector of scores."""

from __future__ import annotations

import itertools
import json
from functools import cache
from typing import Any

import pytest
from complexity_samples import SUMMARY, SYNTHESIS, WEB, scores, skill
from hypothesis import given
from hypothesis import strategies as st

from dcf.skills import SkillCatalog
from dcf.skills.complexity import (
    DIMENSIONS,
    assess,
    capped,
    compute_task_complexity,
    maturity_of,
    score,
    tier_of,
)

Vector = tuple[int, ...]


@cache
def every_fcs() -> dict[Vector, float]:
    """The score of each of the 4 ** 7 vectors."""
    vectors = itertools.product(range(4), repeat=len(DIMENSIONS))
    return {vector: score(scores(vector)).fcs for vector in vectors}


@pytest.mark.parametrize(
    ("vector", "wcs", "product", "fcs", "tier"),
    [
        # No two dimensions at 2: the sum alone.
        (SUMMARY, 3, 1, 3.0, 0),
        # tooling+observability 1.15
        (WEB, 8, 1.15, 9.2, 0),
        # horizon+context 1.15, context+precision 1.12
        (SYNTHESIS, 11, 1.15 * 1.12, 14.168, 1),
        # These two together: also horizon+tooling 1.08 and precision+observability 1.12.
        # 1.15 * 1.08 * 1.12 * 1.15 * 1.12 = 1.7917
        ((2, 3, 2, 2, 1, 2, 1), 13, 1.792, 23.296, 1),
        # All at 2: every pair. 2.57547
        ((2,) * 7, 14, 2.575, 36.05, 2),
        # All at 3: every pair, and seven at 3, which is 1 + 0.05 * 5. 3.21934
        ((3,) * 7, 21, 3.219, 67.599, 3),
        # horizon+context 1.15, horizon+adaptability 1.10, three at 3: 1.05. 1.32825
        ((3, 3, 0, 0, 0, 0, 3), 9, 1.328, 11.952, 0),
        ((0,) * 7, 0, 1, 0.0, 0),
    ],
)
def test_scores_are_those_worked_out_by_hand(
    vector: Vector, wcs: int, product: float, fcs: float, tier: int
) -> None:
    result = score(scores(vector))
    assert result.wcs == wcs
    assert result.total_multiplier == pytest.approx(product)
    assert result.fcs == fcs
    assert tier_of(result.fcs) == tier


def test_the_highest_score_there_is() -> None:
    assert round(max(every_fcs().values()), 1) == 67.6


def test_a_score_between_two_whole_bounds_gets_the_tier_above_the_lower_one() -> None:
    """With bounds of whole numbers 1,416 vectors would lie between two tiers."""
    between = [
        (fcs, tier_of(fcs))
        for fcs in every_fcs().values()
        if any(low < fcs < low + 1 for low in (12, 25, 50))
    ]
    assert len(between) == 1416
    assert {(int(fcs), tier) for fcs, tier in between} <= {(12, 1), (25, 2), (50, 3)}


def test_tiers_follow_scores_without_a_gap() -> None:
    tiers = [tier_of(fcs) for fcs in sorted(every_fcs().values())]
    assert tiers == sorted(tiers)
    assert set(tiers) == {0, 1, 2, 3}
    assert [tier_of(fcs) for fcs in (12, 12.001, 25, 25.001, 50, 50.001)] == [0, 1, 1, 2, 2, 3]


def test_no_dimension_makes_a_task_simpler() -> None:
    known = every_fcs()
    for vector, fcs in known.items():
        for at, value in enumerate(vector):
            if value < 3:
                harder = known[(*vector[:at], value + 1, *vector[at + 1 :])]
                assert harder > fcs


def test_skills_together_are_as_hard_as_the_hardest_in_each_dimension() -> None:
    found = assess([skill("research.web", WEB), skill("analyze.synthesis", SYNTHESIS)])
    assert tuple(found.scores.values()) == (2, 3, 2, 2, 1, 2, 1)
    assert (found.score.fcs, found.tier) == (23.296, 1)


def test_overrides_take_the_place_of_what_the_skills_say() -> None:
    raised = assess([skill("write.summary", SUMMARY)], overrides={"horizon": 3, "precision": 3})
    assert (raised.score.wcs, raised.score.fcs) == (8, 8.0)
    lowered = assess([skill("research.web", WEB)], overrides={"tooling": 0})
    assert (lowered.score.wcs, lowered.score.fcs) == (6, 6.0)


def test_work_of_which_nothing_is_known_gets_a_model_of_the_middle() -> None:
    for skills in ([], [skill("plain")]):
        found = assess(skills)
        assert set(found.scores.values()) == {1}
        assert (found.score.wcs, found.score.fcs, found.tier) == (7, 7.0, 1)
        assert found.skills_with_profiles == 0
    hard = assess([skill("plain")], overrides=scores((3,) * 7))
    assert hard.tier == 3


def test_a_skill_without_profile_is_named_and_does_not_count() -> None:
    found = assess([skill("plain"), skill("write.summary", SUMMARY)])
    assert (found.score.fcs, found.tier) == (3.0, 0)
    assert (found.skills_analyzed, found.skills_with_profiles) == (2, 1)
    assert [(p.code, p.severity) for p in found.warnings] == [
        ("SKILL_COMPLEXITY_NO_PROFILE", "warning")
    ]
    assert "skill.plain@1.0.0" in found.warnings[0].message


@pytest.mark.parametrize(
    ("latency", "tiers"),
    [
        ("critical", [0, 1, 1, 1]),
        ("standard", [0, 1, 2, 3]),
        ("relaxed", [0, 1, 2, 3]),
        ("batch", [0, 1, 2, 3]),
    ],
)
def test_only_critical_work_is_capped(latency: Any, tiers: list[int]) -> None:
    assert [capped(tier, latency) for tier in range(4)] == tiers


def test_an_unknown_latency_requirement_is_standard_and_said() -> None:
    found = assess([skill("x", (3,) * 7)], latency_requirement="soon")
    assert (found.latency, found.tier, found.adjusted_tier) == ("standard", 3, 3)
    assert [problem.code for problem in found.warnings] == ["SKILL_COMPLEXITY_LATENCY"]


@pytest.mark.parametrize(
    ("samples", "maturity"),
    [
        (0, "provisional"), (9, "provisional"), (10, "emerging"), (29, "emerging"),
        (30, "validated"), (99, "validated"), (100, "stable"), (5000, "stable"),
    ],
)  # fmt: skip
def test_maturity_grows_with_samples(samples: int, maturity: str) -> None:
    assert maturity_of(samples) == maturity


@pytest.mark.parametrize(
    ("maturity", "samples", "margin"),
    [
        # WCS 8: a tenth is 0.8, times the factor of maturity, times that of samples.
        ("provisional", 0, 0.8 * 1.5 * 1.5),
        ("emerging", 10, 0.8 * 1.2 * 1.2),
        ("validated", 30, 0.8 * 1.0 * 1.0),
        ("stable", 100, 0.8 * 0.8 * 0.8),
    ],
)
def test_confidence_grows_with_maturity_and_samples(
    maturity: str, samples: int, margin: float
) -> None:
    web = skill("research.web", WEB, maturityLevel=maturity, sampleSize=samples)
    lower, upper = assess([web]).confidence
    assert (lower, upper) == (pytest.approx(9.2 - margin), pytest.approx(9.2 + margin))


def test_confidence_takes_the_mean_maturity_and_the_fewest_samples() -> None:
    both = [
        skill("a", WEB, maturityLevel="stable", sampleSize=200),
        skill("b", WEB, maturityLevel="emerging", sampleSize=12),
    ]
    lower, upper = assess(both).confidence
    assert upper - lower == pytest.approx(2 * 0.8 * (0.8 + 1.2) / 2 * 1.2)
    assert assess([skill("c", (0, 0, 0, 0, 0, 0, 1))]).confidence[0] >= 0


def test_a_maturity_that_its_samples_do_not_support_is_said() -> None:
    found = assess([skill("a", WEB, maturityLevel="stable", sampleSize=3)])
    assert [problem.code for problem in found.warnings] == ["SKILL_COMPLEXITY_MATURITY"]


CATALOG = SkillCatalog([skill("research.web", WEB), skill("analyze.synthesis", SYNTHESIS)])
FIELDS = {
    "status", "error", "base_wcs", "dimension_breakdown", "interaction_multipliers",
    "total_multiplier", "final_fcs", "confidence_interval", "recommended_tier",
    "tier_description", "tier_reasoning", "recommended_model", "latency_adjusted_tier",
    "latency_adjusted_model", "maturity_levels", "skills_analyzed", "skills_with_profiles",
    "warnings",
}  # fmt: skip


def test_the_report_has_all_its_fields() -> None:
    report = compute_task_complexity(
        ["research.web", "skill://analyze.synthesis@1.0.0"],
        catalog=CATALOG,
        context_features='{"adaptability": 3, "modality": 2}',
        latency_requirement="critical",
        models={1: "small", 2: "large"},
    )
    assert set(report) == FIELDS
    assert report["error"] is None
    assert report["base_wcs"] == 16
    assert report["interaction_multipliers"][0] == {
        "pair": "horizon+context",
        "multiplier": 1.15,
        "condition": "both at least 2",
        "scores": [2, 3],
    }
    assert len(report["interaction_multipliers"]) == 9
    assert report["final_fcs"] == 41.2
    assert (report["recommended_tier"], report["recommended_model"]) == (2, "large")
    assert (report["latency_adjusted_tier"], report["latency_adjusted_model"]) == (1, "small")
    assert report["maturity_levels"] == {
        "skill.research.web@1.0.0": "provisional",
        "skill.analyze.synthesis@1.0.0": "provisional",
    }
    assert (report["skills_analyzed"], report["skills_with_profiles"]) == (2, 2)
    json.dumps(report)


def test_a_skill_may_be_a_name_a_manifest_or_the_text_of_either() -> None:
    raw = skill("research.web", WEB).raw
    for said in (
        "research.web", ["research.web"], '["research.web"]', raw, [raw], json.dumps(raw),
        json.dumps([raw]), ["research.web", "research.web@^1.0.0", raw],
    ):  # fmt: skip
        report = compute_task_complexity(said, catalog=CATALOG)
        assert (report["final_fcs"], report["skills_analyzed"]) == (9.2, 1), said


@pytest.mark.parametrize(
    ("skills", "features", "said"),
    [
        (["nothing.here"], None, "no skill 'nothing.here'"),
        ("{not json", None, "no JSON"),
        ([3], None, "neither a skill's name nor a manifest"),
        ([{}], None, "skillName"),
        ([], {"speed": 1}, "'speed' is no dimension"),
        ([], {"horizon": 4}, "write 0, 1, 2 or 3"),
        ([], {"horizon": True}, "write 0, 1, 2 or 3"),
        ([], "[1]", "no object"),
        ([], "{", "no JSON"),
    ],
)
def test_bad_input_is_an_error_in_the_report(skills: Any, features: Any, said: str) -> None:
    report = compute_task_complexity(skills, catalog=CATALOG, context_features=features)
    assert set(report) == FIELDS | {"problems"}
    assert said in report["error"]
    assert any(said in f"{one['message']} {one['hint']}" for one in report["problems"])
    assert report["status"] is None
    assert report["final_fcs"] is None


def test_everything_that_is_wrong_is_said_at_once() -> None:
    report = compute_task_complexity(["a", "b"], context_features={"speed": 1, "horizon": -1})
    assert all(word in report["error"] for word in ("'a'", "'b'", "speed", "horizon"))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(values, values, st.text())
def test_no_input_is_too_strange_for_a_report(skills: Any, features: Any, latency: str) -> None:
    report = compute_task_complexity(
        skills, context_features=features, latency_requirement=latency, catalog=CATALOG
    )
    assert set(report) - {"problems"} == FIELDS
    assert ("problems" in report) == (report["error"] is not None)
    assert (report["error"] is None) == (report["status"] == "computed")


def test_a_manifest_that_no_text_can_hold_is_said_so() -> None:
    broken = {**skill("a", WEB).raw, "skillDirectives": "x\ud800"}
    assert compute_task_complexity([broken])["error"]
    deep: Any = {}
    for _ in range(3000):
        deep = {"x": deep}
    assert compute_task_complexity([{**skill("a", WEB).raw, "requiredTools": deep}])["error"]
