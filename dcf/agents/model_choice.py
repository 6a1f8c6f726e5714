"""Which model works on a task: its skills ask for a tier, and each tier has a model configured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from dcf.agents.models.choice import TIERS, NamedModel, named_model
from dcf.agents.models.name import REHEARSAL

if TYPE_CHECKING:
    from dcf.skills import Manifest
    from dcf.skills.complexity import Assessment

SelectionSource = Literal["amsp_computed", "template_default", "manual_override", "fallback"]
"""Where the model comes from: configured for the tier; for workers or for all work; named for this
task; or nowhere, so that the rehearsal does the work."""

_METRICS = (
    "duration_ms",
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "llm_calls",
    "tool_calls",
    "estimated_cost_usd",
)


def tier_models(environment: Mapping[str, str]) -> dict[int, str]:
    """The models of tiers 0 to 3, as ``named_model`` chooses them for workers."""
    return {tier: named_model(environment, tier=tier).name for tier in TIERS}


@dataclass(frozen=True, slots=True)
class ModelSelection:
    """The model chosen for one task, and why. ``assessment`` is what its skills come to,
    ``least_tier`` what the task asks for at least, whatever its skills do."""

    model: str
    source: SelectionSource
    assessment: Assessment
    least_tier: int = 0

    @property
    def tier(self) -> int:
        return max(self.assessment.adjusted_tier, self.least_tier)

    def to_json(self) -> dict[str, Any]:
        """The ``model_selection`` of a state's document."""
        return {
            "tier": self.tier,
            "model": self.model,
            "fcs": self.assessment.score.fcs,
            "base_wcs": self.assessment.score.wcs,
            "skills_analyzed": self.assessment.skills_analyzed,
            "skills_with_profiles": self.assessment.skills_with_profiles,
            "latency_requirement": self.assessment.latency,
            "selection_source": self.source,
        }


def choose_model(
    skills: Sequence[Manifest],
    environment: Mapping[str, str],
    *,
    latency_requirement: str = "standard",
    context_features: Mapping[str, int] | None = None,
    override: str | None = None,
    least_tier: int = 0,
) -> ModelSelection:
    """The model for a task that has ``skills`` loaded. ``override`` is one named for this task; it
    takes the place of the tier's, whose numbers are still recorded. ``least_tier`` (0 to 3) is the
    tier that the task asks for at least."""
    # The room of skills brings jsonschema; whoever imports agents may never choose a model.
    from dcf.skills.complexity import assess

    assessment = assess(skills, overrides=context_features, latency_requirement=latency_requirement)
    if override:
        return ModelSelection(override, "manual_override", assessment, least_tier)
    tier = max(assessment.adjusted_tier, least_tier)
    named = named_model(environment, tier=tier)
    return ModelSelection(named.name, _source(named), assessment, least_tier)


def execution_metrics(
    metrics: Mapping[str, Any], *, escalation_reason: str | None = None
) -> dict[str, Any]:
    """The ``execution_metrics`` of a state's document: counts and ms of a report's ``metrics``,
    null where it has none; and why a higher tier than the selected one worked, if one did."""
    return {
        **{name: metrics.get(name) for name in _METRICS},
        "tier_escalated": escalation_reason is not None,
        "escalation_reason": escalation_reason,
    }


def amsp_metrics(
    selection: ModelSelection, *, succeeded: bool, model_used: str | None = None
) -> dict[str, Any]:
    """The ``metrics.amsp`` of an output. ``model_used`` is the model that really worked, which is
    the selected one when None."""
    return {
        "model_used": model_used or selection.model,
        "tier_selected": selection.tier,
        "selection_source": selection.source,
        "fcs_predicted": selection.assessment.score.fcs,
        "wcs_base": selection.assessment.score.wcs,
        "skills_count": selection.assessment.skills_analyzed,
        "latency_constraint": selection.assessment.latency,
        "tier_capped": selection.assessment.is_capped,
        "execution_success": succeeded,
    }


def _source(named: NamedModel) -> SelectionSource:
    if named.setting is not None and named.setting.startswith("AMSP_"):
        return "amsp_computed"
    return "fallback" if named.name == REHEARSAL else "template_default"
