"""How complex a task is, judged by the skills it loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dcf.problem import Problem
from dcf.skills.complexity.confidence import confidence_interval
from dcf.skills.complexity.dimension import DIMENSIONS, Scores, highest_of, overridden
from dcf.skills.complexity.profile import ComplexityProfile, maturity_of
from dcf.skills.complexity.score import Score, score
from dcf.skills.complexity.tier import (
    DEFAULT_TIER,
    TIER_DESCRIPTIONS,
    Latency,
    capped,
    known_latency,
    tier_of,
)
from dcf.skills.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Assessment:
    """What the skills of a task come to. ``tier`` is the one that the score asks for,
    ``adjusted_tier`` the one that the latency requirement leaves."""

    scores: Scores
    score: Score
    tier: int
    adjusted_tier: int
    latency: Latency
    confidence: tuple[float, float]
    maturity: dict[str, str]
    skills_analyzed: int
    skills_with_profiles: int
    warnings: tuple[Problem, ...]

    @property
    def is_capped(self) -> bool:
        return self.adjusted_tier < self.tier

    @property
    def reasoning(self) -> str:
        """Why this tier, in one sentence."""
        if not self.skills_with_profiles:
            why = "no skill has a complexity profile"
        else:
            why = f"{self.skills_with_profiles} of {self.skills_analyzed} skills have a profile"
        text = (
            f"{why}; WCS {self.score.wcs} x {self.score.total_multiplier:.3f} = "
            f"{self.score.fcs:g}: tier {self.tier} ({TIER_DESCRIPTIONS[self.tier]})"
        )
        return f"{text}; capped at tier {self.adjusted_tier}: latency" if self.is_capped else text


def assess(
    skills: Sequence[Manifest],
    *,
    overrides: Mapping[str, int] | None = None,
    latency_requirement: str = "standard",
) -> Assessment:
    """Judge ``skills`` together: per dimension the highest score, ``overrides`` in their place.

    Where no skill has a profile every dimension counts 1, and the tier is at least 1: nothing is
    known of the work, which is no sign that it is simple. An unknown latency requirement counts as
    standard; a warning says so. ``overrides`` must have passed ``check_overrides``.
    """
    profiles = {skill.manifest_id: ComplexityProfile.of(skill) for skill in skills}
    known = {name: profile for name, profile in profiles.items() if profile is not None}
    found = highest_of(profile.scores for profile in known.values()) if known else _unknown()
    scores = overridden(found, overrides or {})
    result = score(scores)
    tier = tier_of(result.fcs) if known else max(DEFAULT_TIER, tier_of(result.fcs))
    latency = known_latency(latency_requirement)
    warnings = [*_unprofiled(profiles), *_overrated(known)]
    if latency is None:
        warnings.append(_unknown_latency(latency_requirement))
    return Assessment(
        scores=scores,
        score=result,
        tier=tier,
        adjusted_tier=capped(tier, latency or "standard"),
        latency=latency or "standard",
        confidence=confidence_interval(result, list(known.values())),
        maturity={name: profile.maturity for name, profile in known.items()},
        skills_analyzed=len(profiles),
        skills_with_profiles=len(known),
        warnings=tuple(warnings),
    )


def _unknown() -> Scores:
    return dict.fromkeys(DIMENSIONS, 1)


def _unprofiled(profiles: Mapping[str, ComplexityProfile | None]) -> list[Problem]:
    return [
        Problem(
            "SKILL_COMPLEXITY_NO_PROFILE",
            f"{name} has no complexity profile and was not counted",
            hint="write spec.complexityProfile in its source",
            severity="warning",
        )
        for name, profile in profiles.items()
        if profile is None
    ]


def _overrated(profiles: Mapping[str, ComplexityProfile]) -> list[Problem]:
    return [
        Problem(
            "SKILL_COMPLEXITY_MATURITY",
            f"{name} calls itself {profile.maturity} with {profile.samples} samples; "
            f"that is {maturity_of(profile.samples)}",
            hint="provisional below 10 samples, emerging below 30, validated below 100",
            severity="warning",
        )
        for name, profile in profiles.items()
        if profile.samples and profile.maturity != maturity_of(profile.samples)
    ]


def _unknown_latency(requirement: str) -> Problem:
    return Problem(
        "SKILL_COMPLEXITY_LATENCY",
        f"the latency requirement {requirement!r} is not known; standard is used",
        hint="write critical, standard, relaxed or batch",
        severity="warning",
    )
