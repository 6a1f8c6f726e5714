"""What the Strategist looks for: thresholds as data, which a user's file changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from dcf.advisors.strategist.errors import InvalidRules
from dcf.advisors.strategist.shape import misfits, placed, root_of, root_of_text
from dcf.problem import Problem
from dcf.regular_file import read_regular

_PREFIX = "STRATEGIST"
_SCALING = "raise max_companions, or lower min_companions"
_DAY_MS = 86_400_000
_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class SkillRules:
    """``failure``: more is a warning. ``gain``: so much more success, and a version is preferred
    to another one."""

    failure: float
    gain: float


@dataclass(frozen=True, slots=True)
class CompanionRules:
    """When a companion or a specialization suits a type of task: see ``rules.yaml``."""

    failure: float
    affinity: float
    success_delta: float
    speed_gain: float
    speed_margin: float


@dataclass(frozen=True, slots=True)
class ScalingRules:
    """``utilisation`` is how much of what companions can do may be asked of them. The last four are
    what new guidelines begin with."""

    utilisation: float
    idle: int
    idle_minutes: float
    valid_minutes: float
    min_companions: int
    max_companions: int
    scale_up_threshold: int
    scale_down_threshold: int

    @property
    def idle_ms(self) -> float:
        return self.idle_minutes * _MINUTE_MS

    @property
    def valid_ms(self) -> int:
        return round(self.valid_minutes * _MINUTE_MS)


@dataclass(frozen=True, slots=True)
class TierRules:
    """From where on the predicted tiers of models are doubted."""

    escalation: float
    lower_success: float
    cost_deviation: float
    top_share: float


@dataclass(frozen=True, slots=True)
class DocumentRules:
    """How large the guidelines may become."""

    recommendations: int
    bytes: int


@dataclass(frozen=True, slots=True)
class StrategistRules:
    """``rules.yaml`` of this package says what each of them means. ``StrategistRules.default()``
    are those of that file."""

    confidence: float
    false_alarms: float
    min_observations: int
    expiry_days: int
    skills: SkillRules
    companions: CompanionRules
    scaling: ScalingRules
    tiers: TierRules
    guidelines: DocumentRules

    @property
    def expiry_ms(self) -> int:
        return self.expiry_days * _DAY_MS

    @classmethod
    def default(cls) -> StrategistRules:
        """The documented defaults."""
        return _rules({})

    @classmethod
    def load(cls, path: Path) -> StrategistRules:
        """The rules in a YAML file over the defaults. Raises InvalidRules with all that is wrong
        with it, each with its line."""
        try:
            text = read_regular(path).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            problem = Problem("STRATEGIST_FILE", f"cannot be read: {error}", file=str(path))
            raise InvalidRules([problem]) from None
        root, problems = root_of_text(text, str(path), _PREFIX)
        if root is None:
            raise InvalidRules(problems)
        return _checked(root)

    @classmethod
    def from_document(cls, document: Any) -> StrategistRules:
        """The rules in a JSON object over the defaults. Raises InvalidRules."""
        return _checked(root_of(document))


def _checked(root: Any) -> StrategistRules:
    problems = misfits(root, "rules", _PREFIX)
    if problems:
        raise InvalidRules(problems)
    rules = _rules(root.value)
    scaling = rules.scaling
    if scaling.min_companions > scaling.max_companions:
        message = (
            f"at least {scaling.min_companions} companions, but at most {scaling.max_companions}"
        )
        spot = root.inside("scaling", "min_companions") or root.member("scaling")
        raise InvalidRules(placed([spot.problem("STRATEGIST_SCALING", message, _SCALING)]))
    return rules


def _rules(document: Mapping[str, Any]) -> StrategistRules:
    given = _defaults() | {
        name: {**_defaults()[name], **value} if isinstance(value, Mapping) else value
        for name, value in document.items()
    }
    return StrategistRules(
        confidence=given["confidence"],
        false_alarms=given["false_alarms"],
        min_observations=given["min_observations"],
        expiry_days=given["expiry_days"],
        skills=SkillRules(**given["skills"]),
        companions=CompanionRules(**given["companions"]),
        scaling=ScalingRules(**given["scaling"]),
        tiers=TierRules(**given["tiers"]),
        guidelines=DocumentRules(**given["guidelines"]),
    )


@cache
def _defaults() -> dict[str, Any]:
    place = files("dcf.advisors.strategist") / "rules.yaml"
    root, problems = root_of_text(place.read_text(encoding="utf-8"), "rules.yaml", _PREFIX)
    if problems:
        raise InvalidRules(problems)
    return cast("dict[str, Any]", root.value)
