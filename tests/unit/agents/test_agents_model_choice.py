"""The model of a task: by tier when one is configured for it, and the record says where from."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "skills"))

from complexity_samples import SUMMARY, SYNTHESIS, WEB, skill

from dcf.agents.model_choice import amsp_metrics, choose_model, execution_metrics, tier_models

TIERS = {f"AMSP_TIER_{tier}_MODEL": f"model-{tier}" for tier in range(4)}
HARD = (3,) * 7


@pytest.mark.parametrize(
    ("vector", "tier"), [(SUMMARY, 0), (WEB, 0), (SYNTHESIS, 1), ((2,) * 7, 2), (HARD, 3)]
)
def test_the_tier_of_the_skills_gives_the_model(vector: tuple[int, ...], tier: int) -> None:
    chosen = choose_model([skill("a", vector)], TIERS)
    assert (chosen.tier, chosen.model) == (tier, f"model-{tier}")
    assert chosen.source == "amsp_computed"


def test_the_record_of_a_choice() -> None:
    chosen = choose_model(
        [skill("research.web", WEB), skill("analyze.synthesis", SYNTHESIS), skill("plain")],
        TIERS,
        latency_requirement="critical",
    )
    assert chosen.to_json() == {
        "tier": 1,
        "model": "model-1",
        "fcs": 23.296,
        "base_wcs": 13,
        "skills_analyzed": 3,
        "skills_with_profiles": 2,
        "latency_requirement": "critical",
        "selection_source": "amsp_computed",
    }


def test_without_a_model_the_rehearsal_works_and_the_record_says_so() -> None:
    for environment in ({}, {"AMSP_TIER_3_MODEL": " "}, {"DCF_MODEL": "rehearsal"}):
        chosen = choose_model([skill("a", HARD)], environment)
        assert (chosen.model, chosen.source, chosen.tier) == ("rehearsal", "fallback", 3)


def test_one_model_for_everything_serves_the_tiers_that_have_none() -> None:
    environment = {"DCF_MODEL": "general", "AMSP_TIER_3_MODEL": "large"}
    assert tier_models(environment) == {0: "general", 1: "general", 2: "general", 3: "large"}
    assert choose_model([], environment).source == "template_default"
    assert choose_model([skill("a", HARD)], environment).source == "amsp_computed"


def test_a_model_named_for_the_task_wins_and_the_numbers_stay() -> None:
    chosen = choose_model([skill("a", HARD)], TIERS, override="mine")
    assert (chosen.model, chosen.source, chosen.tier) == ("mine", "manual_override", 3)


def test_critical_work_gets_the_model_of_the_tier_that_is_left() -> None:
    chosen = choose_model([skill("a", HARD)], TIERS, latency_requirement="critical")
    assert (chosen.model, chosen.to_json()["fcs"]) == ("model-1", 67.599)
    assert amsp_metrics(chosen, succeeded=True)["tier_capped"] is True


def test_what_an_output_says_of_the_choice_is_a_closed_shape() -> None:
    chosen = choose_model([skill("a", WEB)], TIERS)
    assert amsp_metrics(chosen, succeeded=False, model_used="rehearsal") == {
        "model_used": "rehearsal",
        "tier_selected": 0,
        "selection_source": "amsp_computed",
        "fcs_predicted": 9.2,
        "wcs_base": 8,
        "skills_count": 1,
        "latency_constraint": "standard",
        "tier_capped": False,
        "execution_success": False,
    }


def test_metrics_that_a_report_lacks_are_null() -> None:
    assert execution_metrics({"tool_calls": 2, "duration_ms": 5, "model": "x"}) == {
        "duration_ms": 5,
        "prompt_tokens": None,
        "completion_tokens": None,
        "total_tokens": None,
        "llm_calls": None,
        "tool_calls": 2,
        "estimated_cost_usd": None,
        "tier_escalated": False,
        "escalation_reason": None,
    }
    escalated = execution_metrics({}, escalation_reason="tier 0 failed")
    assert (escalated["tier_escalated"], escalated["escalation_reason"]) == (True, "tier 0 failed")


@pytest.mark.parametrize(("least", "tier"), [(0, 1), (1, 1), (2, 2), (3, 3)])
def test_a_task_may_ask_for_a_higher_tier_than_its_skills(least: int, tier: int) -> None:
    chosen = choose_model([skill("a", SYNTHESIS)], TIERS, least_tier=least)

    assert (chosen.model, chosen.to_json()["tier"]) == (f"model-{tier}", tier)
    assert amsp_metrics(chosen, succeeded=True)["tier_selected"] == tier
