"""The document: read and written without loss, with all that is wrong at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dcf.guidelines import (
    Guidelines,
    InvalidGuidelines,
    SkillRecommendation,
    Warning,
    parse_guidelines,
    parse_item,
    read_guidelines,
)

# Every list and field that reference guidelines have.
DOCUMENT: dict[str, Any] = {
    "last_updated": "2026-05-01T12:00:00.000Z",
    "revision": 7,
    "guidelines": {
        "skill_recommendations": [
            {
                "condition": "task_type = pay",
                "prefer": "skill.shop.pay@2.0.0",
                "avoid": "skill.shop.pay@1.0.0",
                "reason": "fails less",
                "task_type": "pay",
                "confidence": 0.9,
                "mine": [1, 2],
            }
        ],
        "workflow_patterns": [{"pattern": "pay last", "confidence": 0.8, "evidence": "12 runs"}],
        "user_intent_tips": [{"tip": "'soon' is today", "evidence": "asked"}],
        "warnings": [{"warning": "slow at night", "severity": "low", "workaround": "wait"}],
        "model_selection": [
            {
                "skill": "skill.shop.pay@2.0.0",
                "current_tier": 1,
                "recommended_action": "recalibrate",
                "reason": "escalates",
                "suggested_fcs_adjustment": 2.5,
            }
        ],
    },
    "recent_insights": [{"id": "insight-1"}, "a text"],
}


def test_what_is_read_is_written_again() -> None:
    assert read_guidelines(json.dumps(DOCUMENT)).to_json() == DOCUMENT


def test_model_selection_is_not_dropped() -> None:
    (advice,) = read_guidelines(json.dumps(DOCUMENT)).model_selection
    assert (advice.recommended_action, advice.suggested_fcs_adjustment) == ("recalibrate", 2.5)


def test_an_empty_block_says_nothing() -> None:
    assert read_guidelines(" \n") == Guidelines()


def test_the_lists_may_stand_at_the_top() -> None:
    guidelines, problems = parse_guidelines(DOCUMENT["guidelines"])
    assert problems == ()
    assert [one.warning for one in guidelines.warnings] == ["slow at night"]


def test_recommendations_for_a_task_come_surest_first() -> None:
    guidelines = Guidelines(
        skill_recommendations=(
            SkillRecommendation(condition="a", prefer="x", task_type="pay", confidence=0.8),
            SkillRecommendation(condition="b", prefer="y", task_type="pay", confidence=0.9),
            SkillRecommendation(condition="c", prefer="z", task_type="ship", confidence=1.0),
        )
    )
    assert [one.prefer for one in guidelines.for_task("pay")] == ["y", "x"]


def test_all_that_is_wrong_is_said_at_once() -> None:
    wrong = {
        "revision": -1,
        "last_updated": "yesterday",
        "recent_insights": {},
        "guidelines": {
            "skill_recommendations": [{"prefer": 3}, "text"],
            "warnings": [{"warning": "w", "severity": "awful"}],
            "workflow_patterns": [{"pattern": "p", "confidence": 2}],
            "user_intent_tips": {},
        },
    }
    with pytest.raises(InvalidGuidelines) as caught:
        read_guidelines(json.dumps(wrong))
    assert sorted(problem.path for problem in caught.value.problems) == [
        "/guidelines/skill_recommendations/0/condition",
        "/guidelines/skill_recommendations/0/prefer",
        "/guidelines/skill_recommendations/1",
        "/guidelines/user_intent_tips",
        "/guidelines/warnings/0/severity",
        "/guidelines/workflow_patterns/0/confidence",
        "/last_updated",
        "/recent_insights",
        "/revision",
    ]


@pytest.mark.parametrize("text", ["{", "[]", "3"])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(InvalidGuidelines):
        read_guidelines(text)


def test_an_item_is_not_half_read() -> None:
    item, problems = parse_item(Warning, {"warning": "x" * 3_000})
    assert item is None
    assert [problem.path for problem in problems] == ["/warning"]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"last_updated": "9999-12-31T23:59:59-14:00"}',
        '{"last_updated": "0001-01-01T00:00:00+14:00"}',
    ],
)
def test_what_only_breaks_later_is_refused(text: str) -> None:
    with pytest.raises(InvalidGuidelines):
        read_guidelines(text)
