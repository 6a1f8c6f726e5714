"""What a session tells, all of it by counting."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dcf.advisors.strategist.activity import Activity
from dcf.advisors.strategist.companion_track import CompanionTrack
from dcf.advisors.strategist.companions import Companions
from dcf.advisors.strategist.finding import Finding, judged, rounded
from dcf.advisors.strategist.health import (
    Distribution,
    FailureCluster,
    Health,
    clusters_of,
    distribution_of,
    health_of,
)
from dcf.advisors.strategist.rules import StrategistRules
from dcf.advisors.strategist.scaling import Bounds, Load, Scaling
from dcf.advisors.strategist.skills import Skills, SkillTrack
from dcf.advisors.strategist.tiers import Tiers, TierTrack


@dataclass(frozen=True, slots=True)
class Analysis:
    """A session at ``at`` (ms), of whose ``tasks`` ``outcomes`` were worked at to their end.
    ``findings`` are all questions that could be asked, those that may be published first."""

    session_id: str
    conductor_id: str
    at: int
    tasks: int
    outcomes: int
    health: Health
    distribution: Distribution
    skills: tuple[SkillTrack, ...]
    companions: tuple[CompanionTrack, ...]
    failures: tuple[FailureCluster, ...]
    load: Load
    tiers: tuple[TierTrack, ...]
    findings: tuple[Finding, ...]

    @property
    def published(self) -> tuple[Finding, ...]:
        """What a Conductor is told."""
        return tuple(one for one in self.findings if one.is_published)

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all of it; each finding with its ``id``."""
        document: dict[str, Any] = rounded(asdict(self))
        for one, finding in zip(document["findings"], self.findings, strict=True):
            one["id"] = finding.id
        return document


def analyse(activity: Activity, rules: StrategistRules, bounds: Bounds) -> Analysis:
    """Count what is to be counted, and ask what the rules ask. ``bounds`` are those of the
    guidelines (``StrategistGuidelines.bounds``). The same activity gives the same analysis."""
    skills, companions = Skills(activity, rules), Companions(activity, rules)
    scaling, tiers = Scaling(activity, rules, bounds), Tiers(activity, rules)
    load = scaling.load()
    findings = [
        *skills.findings(),
        *companions.findings(),
        *scaling.findings(load),
        *tiers.findings(),
    ]
    return Analysis(
        session_id=activity.session_id,
        conductor_id=activity.conductor_id,
        at=activity.now,
        tasks=len(activity.tasks),
        outcomes=len(activity.outcomes),
        health=health_of(activity),
        distribution=distribution_of(activity),
        skills=skills.tracks(),
        companions=companions.tracks(),
        failures=clusters_of(activity),
        load=load,
        tiers=tiers.tracks(),
        findings=judged(findings, rules),
    )
