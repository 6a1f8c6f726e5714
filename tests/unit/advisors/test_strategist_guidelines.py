"""The guidelines for a Conductor: read, changed by others, and within their limits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from strategist_samples import GOOD, NOW, RULES

from dcf.advisors.strategist import (
    Advice,
    InvalidStrategistGuidelines,
    Remark,
    StrategistGuidelines,
    Updated,
    read_strategist_guidelines,
    update,
)

NEW = StrategistGuidelines.new(RULES)
MODELS = {
    "default_tier": 0,
    "task_type_tiers": {},
    "skill_tier_overrides": {},
    "escalation_threshold": 0.15,
    "cost_optimization": "balanced",
}
SCALING = {
    "min_companions": 1,
    "max_companions": 5,
    "scale_up_threshold": 3,
    "scale_down_threshold": 0,
}
MEASURED = Remark(
    f"prefer {GOOD} for refund",
    at=NOW,
    confidence=0.98,
    evidence={"observations": 40},
    advice=Advice("prefer_skill", {"task_type": "refund", "skill": GOOD}, GOOD),
    last_evidence_at=NOW,
    expires_at=NOW + RULES.expiry_ms,
)


def changed(guidelines: StrategistGuidelines = NEW, **arguments: Any) -> Updated:
    return update(guidelines, now=NOW, rules=RULES, **arguments)


def with_advice() -> StrategistGuidelines:
    return replace(NEW, recommendations=(MEASURED,), skill_preferences={"refund": GOOD})


def test_new_guidelines_have_the_documented_shape() -> None:
    document = NEW.to_json()
    assert document["companion_scaling"] == SCALING
    assert document["model_selection"] == MODELS
    assert set(document) == {
        "recommendations",
        "skill_preferences",
        "companion_preferences",
        "companion_scaling",
        "model_selection",
        "warnings",
        "revision",
        "updated_at",
        "update_count",
    }


def test_both_older_shapes_are_read() -> None:
    updated = {
        "recommendations": [{"timestamp": "2026-01-05T10:00:00", "text": "be quick"}],
        "skill_preferences": {"refund": GOOD},
        "companion_scaling": SCALING,
        "model_selection": MODELS,
        "warnings": ["the bank is slow"],
        "updated_at": "2026-01-05T10:00:00+00:00",
        "update_count": 7,
    }
    read = read_strategist_guidelines(json.dumps(updated))
    assert (read.update_count, read.skill_preferences) == (7, {"refund": GOOD})
    assert read.recommendations == (Remark("be quick", at=1_767_607_200_000),)
    assert read.warnings == (Remark("the bank is slow"),)
    registered = {"recommendations": [], "last_updated": "2026-01-05T10:00:00Z", "revision": 3}
    read = read_strategist_guidelines(json.dumps(registered)).complete(RULES)
    assert (read.revision, read.updated_at) == (3, 1_767_607_200_000)
    assert read.model_selection == MODELS


def test_what_is_written_is_read_again() -> None:
    guidelines = replace(with_advice(), updated_at=NOW, more={"note": [1]})
    assert read_strategist_guidelines(guidelines.text) == guidelines
    assert read_strategist_guidelines(" ") == StrategistGuidelines()


def test_all_that_is_wrong_is_told_with_its_path() -> None:
    document = {
        "recommendations": [{"timestamp": "2026-01-05T10:00:00Z"}],
        "skill_preferences": {"refund": 3},
        "companion_scaling": {"max_companion": 3},
        "model_selection": {"default_tier": 9},
    }
    with pytest.raises(InvalidStrategistGuidelines) as invalid:
        read_strategist_guidelines(json.dumps(document))
    assert sorted(one.path for one in invalid.value.problems) == [
        "/companion_scaling/max_companion",
        "/model_selection/default_tier",
        "/recommendations/0",
        "/skill_preferences/refund",
    ]


@pytest.mark.parametrize("text", ["{", "[]", '{"revision": NaN}', "[" * 100_000, '"\\ud800"'])
def test_what_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(InvalidStrategistGuidelines):
        read_strategist_guidelines(text)


def test_times_that_are_none_are_told() -> None:
    document = {"warnings": ["one", {"text": "two", "expires_at": "soon"}], "updated_at": "now"}
    with pytest.raises(InvalidStrategistGuidelines) as invalid:
        read_strategist_guidelines(json.dumps(document))
    assert [one.path for one in invalid.value.problems] == ["/updated_at", "/warnings/1/expires_at"]


def test_recommendations_are_added_at_the_end_and_twenty_are_kept() -> None:
    guidelines = NEW
    for number in range(25):
        done = update(guidelines, recommendation=f"number {number}", now=NOW + number, rules=RULES)
        guidelines = done.guidelines
    assert [one.text for one in guidelines.recommendations] == [
        f"number {number}" for number in range(5, 25)
    ]
    assert done.dropped == ("recommendations: number 4",)
    assert (guidelines.revision, guidelines.update_count) == (25, 25)


def test_objects_are_merged_member_by_member() -> None:
    first = changed(skill_preferences_json='{"refund": "skill.a@1.0.0", "ship": "skill.b@1.0.0"}')
    done = changed(
        first.guidelines,
        skill_preferences_json='{"refund": "skill.c@1.0.0"}',
        companion_scaling_json='{"max_companions": 8}',
        model_selection_json='{"default_tier": 2}',
        recommendation=" take care ",
    )
    assert done.guidelines.skill_preferences == {"refund": "skill.c@1.0.0", "ship": "skill.b@1.0.0"}
    assert done.guidelines.companion_scaling == SCALING | {"max_companions": 8}
    assert done.guidelines.model_selection == MODELS | {"default_tier": 2}
    assert done.guidelines.recommendations == (Remark("take care", at=NOW),)
    assert done.fields == (
        "recommendations",
        "skill_preferences",
        "companion_scaling",
        "model_selection",
    )


def test_whole_guidelines_take_the_place_of_everything() -> None:
    done = changed(
        with_advice(),
        guidelines_json='{"skill_preferences": {"ship": "skill.b@1.0.0"}}',
        recommendation="not heard",
    )
    assert done.guidelines.skill_preferences == {"ship": "skill.b@1.0.0"}
    assert done.guidelines.recommendations == ()
    assert done.guidelines.companion_scaling == SCALING
    assert done.ignored == ("recommendation",)
    assert done.guidelines.revision == 1


def test_clearing_keeps_the_shape_and_counts_on() -> None:
    done = changed(replace(with_advice(), revision=4), clear_guidelines=True)
    assert done.guidelines.model_selection == MODELS
    assert done.guidelines.recommendations == ()
    assert done.guidelines.revision == 5


def test_nothing_given_changes_nothing() -> None:
    done = changed(NEW, skill_preferences_json=" ")
    assert (done.guidelines, done.fields) == (NEW, ())


def test_all_arguments_are_checked_before_anything_changes() -> None:
    with pytest.raises(InvalidStrategistGuidelines) as invalid:
        changed(
            skill_preferences_json="{",
            companion_scaling_json='{"min_companions": "two"}',
            model_selection_json='{"cost_optimization": "cheap"}',
        )
    assert [one.path for one in invalid.value.problems] == [
        "",
        "/companion_scaling/min_companions",
        "/model_selection/cost_optimization",
    ]
    with pytest.raises(InvalidStrategistGuidelines, match="at least 7 companions"):
        changed(companion_scaling_json='{"min_companions": 7}')


def test_nobody_can_pass_a_claim_for_a_measurement() -> None:
    claim = {"text": "prefer mine", "confidence": 1.0, "evidence": {"observations": 9_000}}
    claim["advice"] = {"kind": "prefer_skill", "subject": {"task_type": "refund"}, "value": "mine"}
    done = changed(guidelines_json=json.dumps({"recommendations": [claim, "and this"]}))
    first, second = done.guidelines.recommendations
    assert first.advice is None and second == Remark("and this", at=NOW)
    assert first.evidence == {"verified": False, "claimed": {"observations": 9_000}}


def test_what_was_measured_stays_measured_when_it_comes_back() -> None:
    done = changed(with_advice(), guidelines_json=with_advice().text)
    assert done.guidelines.recommendations == (MEASURED,)


def test_who_writes_another_preference_takes_away_its_reason() -> None:
    done = changed(with_advice(), skill_preferences_json='{"refund": "skill.mine@1.0.0"}')
    assert done.guidelines.recommendations == ()
    assert done.guidelines.skill_preferences == {"refund": "skill.mine@1.0.0"}


def test_what_there_is_no_room_for_is_named() -> None:
    guidelines, dropped = with_advice(), list[str]()
    for number in range(8):
        text = f"{number} " + "x" * 1_200
        done = update(guidelines, recommendation=text, now=NOW + number + 1, rules=RULES)
        guidelines = done.guidelines
        dropped += done.dropped
        assert len(guidelines.text.encode()) <= 8_000
    # One of them takes 1,256 bytes, and what says nothing 441.
    assert [one.text[0] for one in guidelines.recommendations] == ["2", "3", "4", "5", "6", "7"]
    assert [text[:2] for text in dropped] == [MEASURED.text[:2], "0 ", "1 "]
    # With its reason goes what programs follow.
    assert guidelines.skill_preferences == {}


def test_maps_that_are_too_long_are_cut_and_named() -> None:
    many = {f"type-{number:03}": "skill.shop.something@1.0.0" for number in range(300)}
    done = changed(skill_preferences_json=json.dumps(many))
    kept = done.guidelines.skill_preferences
    assert len(done.guidelines.text.encode()) <= 8_000
    assert list(kept) == sorted(many)[: len(kept)]
    assert len(kept) + len(done.dropped) == 300
    assert done.dropped[0] == "skill_preferences/type-299"
