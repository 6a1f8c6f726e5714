"""One thing that guidelines say: a recommendation, or a warning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from dcf.advisors.strategist.finding import Finding, Kind, Value, advice_id, rounded
from dcf.evidence import Counts
from dcf.guidelines import iso

Verdict: TypeAlias = Literal["helped", "hurt", "unclear", "not_taken"]
Place: TypeAlias = tuple[str, ...]
"""Where in the guidelines a piece of advice is followed from: names of members, outermost first."""

WARNINGS: frozenset[Kind] = frozenset({"failing_skill", "failing_companion"})
"""What is said as a warning; everything else is a recommendation."""
_KINDS: frozenset[str] = frozenset(get_args(Kind))


@dataclass(frozen=True, slots=True)
class Advice:
    """What a measured remark advises: see ``Finding``."""

    kind: Kind
    subject: Mapping[str, str]
    value: Value

    @property
    def id(self) -> str:
        """That of the finding."""
        return advice_id(self.kind, self.subject)

    @property
    def place(self) -> Place:
        """Where its value stands for programs; () where it does so nowhere."""
        match self.kind:
            case "prefer_skill":
                return ("skill_preferences", self.subject["task_type"])
            case "prefer_specialization":
                return ("companion_preferences", self.subject["task_type"])
            case "scale_up" | "scale_down":
                return ("companion_scaling", "target_companions")
            case "tier_too_low" | "tier_too_high":
                return ("model_selection", "skill_tier_overrides", self.subject["skill"])
        return ()

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Advice | None:
        """None if it is of no kind that is known here."""
        kind, subject = document["kind"], document["subject"]
        needed = {"prefer_skill": "task_type", "prefer_specialization": "task_type",
                  "tier_too_low": "skill", "tier_too_high": "skill"}.get(kind)  # fmt: skip
        if kind not in _KINDS or (needed is not None and needed not in subject):
            return None
        return cls(kind, dict(subject), document.get("value"))


@dataclass(frozen=True, slots=True)
class Followed:
    """What became of advice. ``before`` counts how often it went well before the advice, ``now``
    how often where it was taken in ``session``, ``past`` in the sessions before that; ``offered``
    counts the tasks of this session that it was meant for. ``border_ms`` is what quick meant
    before. ``difference`` is the share of taken ones that went well less that of before, from
    ``low`` to ``high``; None while there is nothing to compare."""

    session: str
    before: Counts
    past: Counts
    now: Counts
    offered: int
    border_ms: float | None
    difference: float | None
    low: float | None
    high: float | None
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """As it is kept; counts are ``[successes, failures]``."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        counts = {
            name: [one.successes, one.failures]
            for name, one in fields.items()
            if isinstance(one, Counts)
        }
        return {**rounded({**fields, **counts}), **counts}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Followed:
        """What ``to_json`` gave."""
        counts = {name: Counts(*document[name]) for name in ("before", "past", "now")}
        fields = {name: document.get(name) for name in cls.__slots__}
        return cls(**{**fields, **counts, "offered": document.get("offered", 0)})


@dataclass(frozen=True, slots=True)
class Remark:
    """``at`` is when it was said first, ``last_evidence_at`` when it was last borne out, after
    ``expires_at`` it holds no longer (ms). ``advice`` is what was measured; None for what somebody
    said, whose ``confidence`` and ``evidence`` are claims. ``more`` are members that are not ours.
    """

    text: str
    at: int | None = None
    confidence: float | None = None
    evidence: Any = None
    advice: Advice | None = None
    last_evidence_at: int | None = None
    expires_at: int | None = None
    followed: Followed | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str | None:
        """That of the advice."""
        return self.advice.id if self.advice else None

    @property
    def observations(self) -> int:
        """How many outcomes bear it out; 0 where that is not known."""
        count = self.evidence.get("observations") if isinstance(self.evidence, Mapping) else None
        return count if isinstance(count, int) else 0

    @property
    def age(self) -> int:
        """By which the oldest is known (ms)."""
        return self.last_evidence_at or self.at or 0

    def to_json(self) -> dict[str, Any]:
        """A JSON object; what it does not say is left out."""
        advice = self.advice
        said: dict[str, Any] = {
            "timestamp": _iso(self.at),
            "text": self.text,
            "confidence": None if self.confidence is None else round(self.confidence, 3),
            "evidence": self.evidence,
            "advice": advice
            and {"kind": advice.kind, "subject": dict(advice.subject), "value": advice.value},
            "last_evidence_at": _iso(self.last_evidence_at),
            "expires_at": _iso(self.expires_at),
            "followed": self.followed and self.followed.to_json(),
        }
        return {**self.more, **{name: one for name, one in said.items() if one is not None}}


def remark_of(finding: Finding, at: int, expires_at: int) -> Remark:
    """What the guidelines say of ``finding``."""
    measures = {name: round(value, 3) for name, value in finding.measures.items()}
    bounds = {"low": finding.low, "high": finding.high}
    return Remark(
        text=finding.text,
        at=at,
        confidence=finding.confidence,
        evidence={
            "observations": finding.observations,
            "p_value": float(f"{finding.p_value:.2g}"),
            **{name: round(value, 3) for name, value in bounds.items()},
            **measures,
        },
        advice=Advice(finding.kind, dict(finding.subject), finding.value),
        last_evidence_at=at,
        expires_at=expires_at,
    )


def as_claim(remark: Remark, now: int) -> Remark:
    """``remark`` as somebody's word: nobody has looked at what it calls its evidence."""
    evidence = remark.evidence
    is_claim = isinstance(evidence, Mapping) and evidence.get("verified") is False
    if evidence is not None and not is_claim:
        evidence = {"verified": False, "claimed": evidence}
    return replace(
        remark,
        at=now if remark.at is None else remark.at,
        evidence=evidence,
        advice=None,
        last_evidence_at=None,
        followed=None,
    )


def _iso(at: int | None) -> str | None:
    return None if at is None else iso(at)
