"""How complex a task is, and which tier of model it asks for."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import Field

from dcf.agents import tier_models
from dcf.mcp.envelope import Envelope, brief, problem_view
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.problem import Problem
from dcf.skills.complexity import compute_task_complexity as compute

Number = float | None


class Complexity(Envelope, total=False):
    """How complex a task is."""

    base_wcs: Annotated[Number, Field(description="Weighted score before multipliers.")]
    dimension_breakdown: Annotated[
        dict[str, int] | None, Field(description="Dimension to score, 0 to 3.")
    ]
    interaction_multipliers: Annotated[
        list[dict[str, Any]] | None, Field(description="{pair, multiplier, condition, scores}.")
    ]
    total_multiplier: Annotated[Number, Field(description="Their product.")]
    final_fcs: Annotated[Number, Field(description="Final score.")]
    confidence_interval: Annotated[
        dict[str, float] | None, Field(description="{lower, upper} of it.")
    ]
    recommended_tier: Annotated[int | None, Field(description="0 to 3.")]
    tier_description: Annotated[str | None, Field(description="What the tier is.")]
    tier_reasoning: Annotated[str | None, Field(description="Why this one.")]
    recommended_model: Annotated[str | None, Field(description="Model of the tier, if set.")]
    latency_adjusted_tier: Annotated[int | None, Field(description="Tier that latency allows.")]
    latency_adjusted_model: Annotated[str | None, Field(description="Its model, if set.")]
    maturity_levels: Annotated[dict[str, str] | None, Field(description="Skill to maturity.")]
    skills_analyzed: Annotated[int | None, Field(description="How many skills.")]
    skills_with_profiles: Annotated[int | None, Field(description="How many have a profile.")]


@tool("conductor", "strategist")
async def compute_task_complexity(
    platform: Platform,
    skills_json: Annotated[str, "Skill ids or manifests, a list or one."],
    context_features: Annotated[Any, "{dimension: 0-3}, instead of theirs."] = None,
    latency_requirement: Annotated[str, "critical, standard, relaxed or batch."] = "standard",
) -> Complexity:
    """Judge how complex a task is from the skills that it needs."""
    report = compute(
        skills_json,
        catalog=await platform.catalog(),
        context_features=context_features,
        latency_requirement=latency_requirement,
        models=tier_models(platform.config.env),
    )
    if report["error"]:
        wrong = [Problem(**one) for one in report["problems"]]
        report["problems"] = [problem_view(one) for one in wrong]
        report["error"] = f"invalid_skills: {brief(wrong)}"
    return cast(Complexity, report)


FAMILY = (compute_task_complexity,)
