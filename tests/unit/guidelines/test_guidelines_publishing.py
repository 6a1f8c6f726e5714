"""Which insights become guidelines, for how long, and what contradicts what."""

from __future__ import annotations

from dataclasses import replace

import pytest
from guideline_samples import NOW, insight
from hypothesis import given
from hypothesis import strategies as st

from dcf.guidelines import (
    DAY_MS,
    Guidelines,
    Insight,
    Rules,
    SkillRecommendation,
    UserIntentTip,
    conflicts,
    expired,
    fitted,
    item_of,
    merge,
    publish,
    with_conflicts,
    with_insights,
    without_expired,
)

RULES = Rules()
Tips = st.lists(st.sampled_from("abcdef"), max_size=8)


def test_a_sure_insight_of_enough_runs_becomes_a_guideline() -> None:
    after = publish(Guidelines(), [insight()], NOW, RULES)
    (item,) = after.skill_recommendations
    assert (item.task_type, item.prefer, item.confidence) == ("pay", "skill.shop.pay@2.0.0", 0.95)
    assert item.condition == "task_type = pay"
    assert item.evidence["runs"] == ["dcf://run/r1", "dcf://run/r2"]
    assert Insight.from_json(after.recent_insights[0]) == insight()


@pytest.mark.parametrize(
    "unsure",
    [
        insight(confidence=0.7),
        insight(evidence=replace(insight().evidence, workflows=2)),
        insight(evidence=replace(insight().evidence, outcomes=9)),
        insight(expires_at=NOW),
    ],
)
def test_what_is_not_sure_enough_does_not(unsure: Insight) -> None:
    assert publish(Guidelines(), [unsure], NOW, RULES) == Guidelines()


def test_the_rules_can_be_others() -> None:
    lenient = Rules(min_confidence=0.5, min_workflows=1)
    assert publish(Guidelines(), [insight(confidence=0.6)], NOW, lenient).skill_recommendations


def test_what_becomes_unsure_is_withdrawn() -> None:
    before = publish(Guidelines(), [insight()], NOW, RULES)
    after = publish(before, [insight(confidence=0.4)], NOW, RULES)
    assert (after.skill_recommendations, after.recent_insights) == ((), ())


def test_what_is_superseded_or_retracted_goes() -> None:
    before = publish(Guidelines(), [insight()], NOW, RULES)
    other = insight("skill.shop.pay@3.0.0", supersedes=(insight().id,))
    (item,) = publish(before, [other], NOW, RULES).skill_recommendations
    assert item.prefer == "skill.shop.pay@3.0.0"
    assert publish(before, [], NOW, RULES, retracted=[insight().id]).skill_recommendations == ()


def test_new_evidence_takes_the_place_of_old() -> None:
    before = publish(Guidelines(), [insight()], NOW, RULES)
    later = replace(insight().evidence, until=NOW + DAY_MS)
    after = publish(before, [insight(evidence=later, confidence=0.99)], NOW + DAY_MS, RULES)
    (item,) = after.skill_recommendations
    assert (item.confidence, item.last_evidence_at) == (0.99, NOW + DAY_MS)
    assert len(after.recent_insights) == 1


def test_without_evidence_for_thirty_days_it_is_dropped() -> None:
    before = publish(Guidelines(), [insight()], NOW, RULES)
    last_day = NOW + 30 * DAY_MS
    assert without_expired(before, last_day, RULES) == before
    assert expired(before, last_day + 1, RULES) == before.skill_recommendations
    assert without_expired(before, last_day + 1, RULES).skill_recommendations == ()


def test_what_somebody_wrote_ages_too() -> None:
    tip = UserIntentTip(tip="'soon' is today")
    (kept,) = merge(Guidelines(), [tip], NOW).user_intent_tips
    assert kept.last_evidence_at == NOW


def test_a_word_does_not_take_the_place_of_evidence() -> None:
    before = publish(Guidelines(), [insight()], NOW, RULES)
    word = SkillRecommendation(condition="task_type = pay", prefer="skill.shop.pay@2.0.0")
    assert merge(before, [word], NOW + 1) == before


@given(Tips, Tips)
def test_merging_again_changes_nothing(first: list[str], second: list[str]) -> None:
    once = merge(Guidelines(), [UserIntentTip(tip=tip) for tip in first + second], NOW)
    assert sorted(one.tip for one in once.user_intent_tips) == sorted({*first, *second})
    assert merge(once, [UserIntentTip(tip=tip) for tip in second], NOW) == once


def test_a_list_keeps_its_newest_items_and_says_what_went() -> None:
    tips = [UserIntentTip(tip=str(number)) for number in range(60)]
    kept, dropped = fitted(merge(Guidelines(), tips, NOW), RULES)
    assert [one.tip for one in kept.user_intent_tips] == [str(number) for number in range(10, 60)]
    assert dropped == tuple(f"user_intent_tips: {number}" for number in range(10))


def test_words_do_not_drive_out_what_was_measured() -> None:
    before = publish(Guidelines(), [insight()], NOW, RULES)
    words = [
        SkillRecommendation(condition=str(number), confidence=1.0, written_by="agent")
        for number in range(60)
    ]
    after, _ = fitted(merge(before, words, NOW + 1), RULES)
    assert len(after.skill_recommendations) == 50
    assert after.skill_recommendations[0].insight == insight().id
    small, _ = fitted(merge(before, words, NOW + 1), RULES, limit=600)
    assert [one.insight for one in small.skill_recommendations] == [insight().id]


@pytest.mark.parametrize("order", [1, -1])
def test_an_item_that_counts_for_more_takes_the_place_of_a_word(order: int) -> None:
    word = SkillRecommendation(
        condition="task_type = pay", prefer="skill.shop.pay@2.0.0", written_by="agent"
    )
    measured = item_of(insight())
    both = [word, measured][::order]
    # The word is a day newer.
    first = merge(Guidelines(), both[:1], NOW + DAY_MS)
    (kept,) = merge(first, both[1:], NOW + DAY_MS).skill_recommendations
    assert kept == measured


def test_the_last_ten_insights_stay_newest_first() -> None:
    guidelines = Guidelines()
    for number in range(12):
        guidelines = with_insights(guidelines, [{"id": str(number)}], RULES)
    assert [one["id"] for one in guidelines.recent_insights] == [
        str(number) for number in range(11, 1, -1)
    ]


@pytest.mark.parametrize(
    ("prefer", "avoid", "is_conflict"),
    [
        ("skill.shop.pay@1.0.0", None, True),
        (None, "skill.shop.pay@2.0.0", True),
        ("skill.shop.pay@2.0.0", "skill.shop.pay@1.0.0", False),
        (None, "skill.shop.pay@1.0.0", False),
    ],
)
def test_contrary_advice_for_the_same_task_is_shown(
    prefer: str | None, avoid: str | None, is_conflict: bool
) -> None:
    first = SkillRecommendation(condition="x", task_type="pay", prefer="skill.shop.pay@2.0.0")
    second = SkillRecommendation(condition="y", task_type="pay", prefer=prefer, avoid=avoid)
    elsewhere = replace(second, task_type="ship")
    assert bool(conflicts([first, second])) is is_conflict
    assert conflicts([first, elsewhere]) == ()


def test_insights_name_those_that_contradict_them() -> None:
    first, second = insight(), insight("skill.shop.pay@1.0.0", category="efficiency")
    marked = with_conflicts([first, second])
    assert [one.conflicts_with for one in marked] == [(second.id,), (first.id,)]
    (conflict,) = conflicts(publish(Guidelines(), marked, NOW, RULES).skill_recommendations)
    assert conflict.words == (
        "task_type = pay: prefer skill.shop.pay@2.0.0 (95% sure), "
        "but also prefer skill.shop.pay@1.0.0 (95% sure)"
    )
