"""The guidelines that a Strategist publishes and a Conductor reads before it delegates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

from dcf.advisors.strategist.remark import Place, Remark
from dcf.advisors.strategist.rules import StrategistRules
from dcf.advisors.strategist.scaling import Bounds
from dcf.guidelines import iso

LABEL = "strategist_guidelines"
"""The label of the memory block in which Conductors read them."""

Lists: TypeAlias = tuple[Remark, ...]

_MODELS: Mapping[str, Any] = {
    "default_tier": 0,
    "task_type_tiers": {},
    "skill_tier_overrides": {},
    "escalation_threshold": 0.15,
    "cost_optimization": "balanced",
}


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Advice (its id) that did harm: it is not given again until it is forgotten."""

    id: str
    at: int
    why: str


@dataclass(frozen=True, slots=True)
class StrategistGuidelines:
    """``skill_preferences`` name a skill (a manifest id) and ``companion_preferences`` a
    specialization for a type of task. ``companion_scaling`` has ``min_companions``,
    ``max_companions``, ``scale_up_threshold``, ``scale_down_threshold`` and, where it is advised,
    ``target_companions``; ``model_selection`` has ``default_tier``, ``task_type_tiers``,
    ``skill_tier_overrides``, ``escalation_threshold`` and ``cost_optimization``.

    ``revision`` grows by one with each change of what is said, ``update_count`` with each writing.
    """

    recommendations: Lists = ()
    skill_preferences: Mapping[str, str] = field(default_factory=dict)
    companion_preferences: Mapping[str, str] = field(default_factory=dict)
    companion_scaling: Mapping[str, int] = field(default_factory=dict)
    model_selection: Mapping[str, Any] = field(default_factory=dict)
    warnings: Lists = ()
    withdrawn: tuple[Withdrawn, ...] = ()
    revision: int = 0
    update_count: int = 0
    updated_at: int | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def new(cls, rules: StrategistRules) -> StrategistGuidelines:
        """Guidelines that say nothing yet."""
        return cls().complete(rules)

    def complete(self, rules: StrategistRules) -> StrategistGuidelines:
        """With everything that ``companion_scaling`` and ``model_selection`` always have."""
        models = json.loads(json.dumps(_MODELS)) | {"escalation_threshold": rules.tiers.escalation}
        return replace(
            self,
            companion_scaling=_scaling(rules) | dict(self.companion_scaling),
            model_selection=models | dict(self.model_selection),
        )

    @property
    def bounds(self) -> Bounds:
        """What they say of the number of companions. Of complete ones only."""
        scaling = self.companion_scaling
        return Bounds(
            min_companions=scaling["min_companions"],
            max_companions=scaling["max_companions"],
            scale_up_threshold=scaling["scale_up_threshold"],
            scale_down_threshold=scaling["scale_down_threshold"],
        )

    @property
    def remarks(self) -> Lists:
        """Recommendations and warnings."""
        return (*self.recommendations, *self.warnings)

    def at(self, place: Place) -> Any:
        """What stands there; None if nothing does."""
        here: Any = getattr(self, place[0])
        for name in place[1:]:
            here = here.get(name) if isinstance(here, Mapping) else None
        return here

    def put(self, place: Place, value: Any) -> StrategistGuidelines:
        """With ``value`` there; None takes away what stands there."""
        changed = _put(getattr(self, place[0]), place[1:], value)
        return self.having({place[0]: changed})

    def having(self, members: Mapping[str, Any]) -> StrategistGuidelines:
        """With these members in place of its own."""
        return replace(self, **dict(members))

    def to_json(self) -> dict[str, Any]:
        """The document as it is kept. ``withdrawn`` is left out while it is empty."""
        withdrawn = [{"id": one.id, "at": iso(one.at), "why": one.why} for one in self.withdrawn]
        return {
            **self.more,
            "recommendations": [remark.to_json() for remark in self.recommendations],
            "skill_preferences": dict(self.skill_preferences),
            "companion_preferences": dict(self.companion_preferences),
            "companion_scaling": dict(self.companion_scaling),
            "model_selection": dict(self.model_selection),
            "warnings": [remark.to_json() for remark in self.warnings],
            **({"withdrawn": withdrawn} if withdrawn else {}),
            "revision": self.revision,
            "updated_at": None if self.updated_at is None else iso(self.updated_at),
            "update_count": self.update_count,
        }

    @property
    def text(self) -> str:
        """The document as it stands in a memory block."""
        return json.dumps(self.to_json(), ensure_ascii=False)


def _scaling(rules: StrategistRules) -> dict[str, int]:
    scaling = rules.scaling
    return {
        "min_companions": scaling.min_companions,
        "max_companions": scaling.max_companions,
        "scale_up_threshold": scaling.scale_up_threshold,
        "scale_down_threshold": scaling.scale_down_threshold,
    }


def _put(members: Mapping[str, Any], place: Place, value: Any) -> dict[str, Any]:
    name, rest = place[0], place[1:]
    changed = dict(members)
    if rest:
        changed[name] = _put(cast("Mapping[str, Any]", changed.get(name, {})), rest, value)
    elif value is None:
        changed.pop(name, None)
    else:
        changed[name] = value
    return changed
