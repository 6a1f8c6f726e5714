"""One thing that an analysis asked, and what the session answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from dcf.advisors.strategist.activity import Task
from dcf.advisors.strategist.rules import StrategistRules
from dcf.advisors.strategist.wager import p_value
from dcf.digest import canonical_json, digest
from dcf.evidence import holm

Family: TypeAlias = Literal["skills", "failures", "companions", "scaling", "tiers"]
FAMILIES: tuple[Family, ...] = ("skills", "failures", "companions", "scaling", "tiers")
"""Each has an equal share of the false alarms that a session may have."""

Kind: TypeAlias = Literal[
    "prefer_skill",
    "failing_skill",
    "failing_companion",
    "prefer_specialization",
    "specialize_companion",
    "scale_up",
    "scale_down",
    "tier_too_low",
    "tier_too_high",
    "cost_off",
    "top_tier_crowded",
]
Value: TypeAlias = str | int | None


@dataclass(frozen=True, slots=True)
class Finding:
    """``kind`` of ``subject`` (``task_type``, ``skill``, ``companion_id``, ``specialization``).

    ``value`` is what is advised: a skill, a specialization, a number of companions, a tier.
    ``evidence`` are the winnings of the bet against it (``wager``), ``p_value`` is 1 / evidence,
    raised for all that was asked together; ``is_large`` says whether the rule's threshold is
    passed, ``is_shown`` whether that is no chance. ``confidence`` is the probability that it holds.
    ``measures`` are numbers by name, ``low`` and ``high`` bound the one that matters most, with
    95 % confidence. ``tasks`` are the ids of the last ten that show it.
    """

    family: Family
    kind: Kind
    subject: Mapping[str, str]
    value: Value
    text: str
    observations: int
    evidence: float
    is_large: bool
    confidence: float
    measures: Mapping[str, float] = field(default_factory=dict)
    low: float = 0.0
    high: float = 1.0
    tasks: tuple[str, ...] = ()
    p_value: float = 1.0
    is_shown: bool = False
    is_published: bool = False

    @property
    def id(self) -> str:
        """The same for the same advice on the same subject, in whichever session."""
        return advice_id(self.kind, self.subject)


def advice_id(kind: Kind, subject: Mapping[str, str]) -> str:
    """``advice-`` and sixteen hexadecimal digits."""
    return f"advice-{short_digest([kind, dict(subject)])}"


def short_digest(said: Any) -> str:
    """Sixteen hexadecimal digits that are always the same for a JSON value."""
    return digest(canonical_json(said)).removeprefix("sha256:")[:16]


def judged(findings: Sequence[Finding], rules: StrategistRules) -> tuple[Finding, ...]:
    """``findings`` with what may be said of them: within each family p-values are raised by the
    method of Holm, and shown is what is below the family's share of the false alarms.

    That the p-values are those of bets makes this hold at any moment, and so over all analyses of a
    session. What has too few observations is not asked: how many there are tells nothing of how
    they ended.
    """
    asked = [one for one in findings if one.observations >= rules.min_observations]
    level = rules.false_alarms / len(FAMILIES)
    found: list[Finding] = []
    for family in FAMILIES:
        members = [one for one in asked if one.family == family]
        raised = holm([p_value(one.evidence) for one in members])
        for one, raised_to in zip(members, raised, strict=True):
            is_shown = raised_to <= level
            is_sure = one.confidence > rules.confidence
            found.append(
                replace(
                    one,
                    p_value=raised_to,
                    is_shown=is_shown,
                    is_published=is_shown and is_sure and one.is_large,
                )
            )
    return tuple(sorted(found, key=lambda one: (not one.is_published, one.p_value, one.id)))


def share_text(part: int, whole: int) -> str:
    """``14 of 50 (28 %)``."""
    return f"{part} of {whole} ({part / whole:.0%})" if whole else "0 of 0"


def last_tasks(tasks: Sequence[Task]) -> tuple[str, ...]:
    """The ids of the last ten."""
    return tuple(task.task_id for task in tasks[-10:])


def rounded(value: Any) -> Any:
    """A JSON value whose numbers have six digits after the point."""
    if isinstance(value, Mapping):
        return {str(name): rounded(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(one) for one in value]
    return round(value, 6) if isinstance(value, float) else value
