"""Complexity as predicted, held against what the work turned out to be (AMSP, phase D)."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from statistics import median
from typing import ClassVar

from dcf.advisors.analysis.track import RUNS
from dcf.evidence import MIN_SAMPLES, Beta, Counts
from dcf.guidelines import Action
from dcf.knowledge import Outcome
from dcf.skills.complexity import TIER_LIMITS

ESCALATED = 0.15
"""More escalations say that the tier is too low."""
LOWER_SUCCESS = 0.80
"""More successes at a lower tier say that the tier is too high."""
COST_DEVIATION = 0.20
"""Of the median cost at the tier: more says that the work is not what its tier was made for."""
_JUST_OVER = 0.1
"""A score at the border belongs to the lower tier."""
TOP_TIER = 3
TOP_TIER_SHARE = 0.10
"""More work at the highest tier says that the scores as a whole are too high."""


@dataclass(frozen=True, slots=True)
class Signal:
    """A threshold that was passed: ``measured`` over ``limit``, and how probable it is that the
    true value is over it too."""

    name: str
    measured: float
    limit: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Recalibration:
    """What ``n`` outcomes with a predicted tier say of ``skill`` (a manifest id). ``tier`` is the
    usual one, ``fcs`` the mean score; ``escalated`` counts outcomes that needed a higher tier as
    successes of the count. With ``action`` ``recalibrate``, ``adjustment`` is what brings the score
    over the nearest border to the next tier; None if nothing says in which direction."""

    skill: str
    n: int
    tier: int
    fcs: float | None
    escalated: Counts
    lower_tiers: Counts
    signals: tuple[Signal, ...]
    action: Action
    adjustment: float | None
    workflows: int
    runs: tuple[str, ...]
    first_at: int
    last_at: int


@dataclass(frozen=True, slots=True)
class TierShare:
    """How much of the work with a predicted tier was predicted to be of the highest."""

    LIMIT: ClassVar[float] = TOP_TIER_SHARE

    n: int
    top: int

    @property
    def share(self) -> float:
        return self.top / self.n if self.n else 0.0

    @property
    def is_high(self) -> bool:
        return self.n >= MIN_SAMPLES and self.share > self.LIMIT


@dataclass(slots=True)
class _Skill:
    by_tier: dict[int, Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    costs: dict[int, array[float]] = field(default_factory=lambda: defaultdict(lambda: array("d")))
    scores: array[float] = field(default_factory=lambda: array("d"))
    escalated: int = 0
    workflows: set[str] = field(default_factory=set)
    runs: deque[str] = field(default_factory=lambda: deque(maxlen=RUNS))
    times: list[int] = field(default_factory=list)


class Predictions:
    """Takes in the outcomes of the period."""

    def __init__(self) -> None:
        self._skills: dict[str, _Skill] = {}
        self._costs: dict[int, array[float]] = defaultdict(lambda: array("d"))
        self._n = 0
        self._top = 0

    def add(self, outcome: Outcome) -> None:
        if outcome.tier is None:
            return
        self._n += 1
        self._top += outcome.tier >= TOP_TIER
        # What somebody else measured may be no number at all; that says nothing of the rest.
        fcs = outcome.fcs if outcome.fcs is not None and isfinite(outcome.fcs) else None
        cost = outcome.cost_usd
        cost = cost if cost is not None and isfinite(cost) else None
        if cost is not None:
            self._costs[outcome.tier].append(cost)
        for name in dict.fromkeys(outcome.skills):
            skill = self._skills.setdefault(name, _Skill())
            skill.by_tier[outcome.tier][outcome.ok] += 1
            skill.escalated += outcome.escalated
            if fcs is not None:
                skill.scores.append(fcs)
            if cost is not None:
                skill.costs[outcome.tier].append(cost)
            skill.workflows.add(outcome.run)
            if outcome.workflow_id not in skill.runs:
                skill.runs.append(outcome.workflow_id)
            times = [*skill.times, outcome.ended_at]
            skill.times = [min(times), max(times)]

    def tier_share(self) -> TierShare:
        return TierShare(self._n, self._top)

    def recalibrations(self) -> tuple[Recalibration, ...]:
        """For every skill with a predicted tier, by name."""
        usual = {tier: median(costs) for tier, costs in self._costs.items()}
        return tuple(
            _recalibration(name, skill, usual) for name, skill in sorted(self._skills.items())
        )


def _recalibration(name: str, skill: _Skill, usual: Mapping[int, float]) -> Recalibration:
    sizes = {tier: counts.total() for tier, counts in skill.by_tier.items()}
    n = sum(sizes.values())
    tier = max(sizes, key=lambda one: (sizes[one], -one))
    lower = [counts for at, counts in skill.by_tier.items() if at < tier]
    lower_tiers = Counts(sum(one[True] for one in lower), sum(one[False] for one in lower))
    escalated = Counts(skill.escalated, n - skill.escalated)
    signals = (
        *_over("escalation_rate", escalated, ESCALATED),
        *_over("success_at_lower_tier", lower_tiers, LOWER_SUCCESS),
        *_dear(skill, tier, usual),
    )
    fcs = sum(skill.scores) / len(skill.scores) if skill.scores else None
    return Recalibration(
        skill=name,
        n=n,
        tier=tier,
        fcs=fcs,
        escalated=escalated,
        lower_tiers=lower_tiers,
        signals=signals,
        action="recalibrate" if signals else "maintain",
        adjustment=_adjustment({signal.name for signal in signals}, tier, fcs),
        workflows=len(skill.workflows),
        runs=tuple(skill.runs),
        first_at=skill.times[0],
        last_at=skill.times[1],
    )


def _over(name: str, counts: Counts, limit: float) -> Iterator[Signal]:
    if counts.n >= MIN_SAMPLES and counts.rate is not None and counts.rate > limit:
        belief = Beta(1 + counts.successes, 1 + counts.failures)
        yield Signal(name, counts.rate, limit, 1 - belief.cdf(limit))


def _dear(skill: _Skill, tier: int, usual: Mapping[int, float]) -> Iterator[Signal]:
    """Whether the skill costs clearly more, or less, than what else is of its tier."""
    costs = skill.costs.get(tier)
    if not costs or len(costs) < MIN_SAMPLES or usual[tier] <= 0:
        return
    deviation = median(costs) / usual[tier] - 1
    if abs(deviation) <= COST_DEVIATION:
        return
    # That the median deviates so much is that more than half of the outcomes do.
    border = usual[tier] * (1 + COST_DEVIATION * (1 if deviation > 0 else -1))
    beyond = sum(cost > border if deviation > 0 else cost < border for cost in costs)
    belief = Beta(1 + beyond, 1 + len(costs) - beyond)
    yield Signal("cost_deviation", deviation, COST_DEVIATION, 1 - belief.cdf(0.5))


def _adjustment(signals: set[str], tier: int, fcs: float | None) -> float | None:
    up, down = "escalation_rate" in signals, "success_at_lower_tier" in signals
    if fcs is None or up == down:
        return None
    if up:
        needed = TIER_LIMITS[tier] + _JUST_OVER - fcs if tier < len(TIER_LIMITS) else 0.0
        return round(needed, 3) if needed > 0 else None
    spared = fcs - TIER_LIMITS[tier - 1] if tier > 0 else 0.0
    return round(-spared, 3) if spared > 0 else None
