"""An insight: what finished runs taught, as data, with its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from dcf.citation import Citation
from dcf.digest import canonical_json, digest

Category: TypeAlias = Literal[
    "skill_effectiveness",
    "workflow_pattern",
    "user_intent",
    "efficiency",
    "model_selection",
    "warning",
]
Severity: TypeAlias = Literal["low", "medium", "high"]
Verdict: TypeAlias = Literal["helped", "hurt", "unclear", "not_taken"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """``outcomes`` finished states of ``workflows`` different runs, between ``since`` and ``until``
    (ms); ``runs`` are the ids of the last ten of them. ``measures`` are numbers by name: rates and
    shares from 0 to 1, their ``low`` and ``high``, milliseconds in names with ``_ms``."""

    outcomes: int
    workflows: int
    since: int
    until: int
    runs: tuple[str, ...] = ()
    measures: Mapping[str, float] = field(default_factory=dict)

    @property
    def links(self) -> tuple[str, ...]:
        """The runs as they are cited, ``dcf://run/{id}``."""
        return tuple(str(Citation("run", run)) for run in self.runs)


@dataclass(frozen=True, slots=True)
class Followed:
    """What became of the advice: of ``offered`` later outcomes that it was meant for, ``taken`` did
    as it says, and of these ``succeeded`` ended well. ``difference`` is their success rate less
    that of the same tasks before, from ``low`` to ``high`` with 95 % confidence; None while there
    is nothing to compare."""

    offered: int
    taken: int
    succeeded: int
    difference: float | None
    low: float | None
    high: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Insight:
    """``condition`` says when it holds (``task_type``, ``skill``, ``workflow``, ``state``),
    ``prefer`` and ``avoid`` what to do then, ``reason`` why, in words that the code wrote.
    For warnings ``prefer`` is the way around, for ``model_selection`` the action. ``topic`` tells
    apart what one category says of one condition (``version``, ``speed``, ``drift`` …).

    ``confidence`` is from 0 to 1, ``severity`` that of a warning; times are ms since the epoch.
    After ``expires_at`` it holds no longer unless new evidence came. ``supersedes`` are ids of
    insights that it takes the place of, ``conflicts_with`` of those that say the contrary for the
    same condition.
    """

    id: str
    category: Category
    topic: str
    condition: Mapping[str, str]
    prefer: str | None
    avoid: str | None
    reason: str
    evidence: Evidence
    confidence: float
    created_at: int
    expires_at: int
    supersedes: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    severity: Severity | None = None
    followed: Followed | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON object with every field; ``from_json`` is the way back."""
        document = asdict(self)
        document["condition"] = dict(self.condition)
        document["evidence"] |= {
            "runs": list(self.evidence.runs),
            "links": list(self.evidence.links),
            "measures": dict(self.evidence.measures),
        }
        return document | {
            "supersedes": list(self.supersedes),
            "conflicts_with": list(self.conflicts_with),
        }

    @property
    def subject(self) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        """What it is about: of two with the same subject only the newer one can hold."""
        return self.category, self.topic, tuple(sorted(self.condition.items()))

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Insight:
        """The insight that ``to_json`` gave. Raises KeyError, TypeError for anything else."""
        fields = dict(document)
        evidence = {name: value for name, value in fields["evidence"].items() if name != "links"}
        fields["evidence"] = Evidence(**evidence | {"runs": tuple(evidence["runs"])})
        if fields.get("followed") is not None:
            fields["followed"] = Followed(**fields["followed"])
        for name in ("supersedes", "conflicts_with"):
            fields[name] = tuple(fields.get(name, ()))
        return cls(**fields)


def insight_id(
    category: Category,
    topic: str,
    condition: Mapping[str, str],
    prefer: str | None,
    created_at: int,
) -> str:
    """The same id for the same advice, as long as it stands: given up and found again later it is
    another."""
    said = canonical_json([category, topic, dict(condition), prefer, created_at])
    return f"insight-{digest(said).removeprefix('sha256:')[:16]}"
