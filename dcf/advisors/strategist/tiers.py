"""Whether the predicted tiers of models are right."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import median

from dcf.advisors.strategist.activity import Activity, Task
from dcf.advisors.strategist.finding import Finding, Kind, Value, last_tasks, share_text
from dcf.advisors.strategist.rules import StrategistRules
from dcf.advisors.strategist.wager import share_above
from dcf.evidence import Beta, Counts

TOP_TIER = 3


@dataclass(frozen=True, slots=True)
class TierTrack:
    """A skill's tasks with a predicted tier; ``tier`` is the usual one. ``escalated`` counts those
    that needed a higher one as successes of the count, ``lower`` how those at lower tiers ended.
    ``cost`` is the median of the usual tier, ``usual_cost`` that of other skills there."""

    skill: str
    tier: int
    n: int
    escalated: Counts
    lower: Counts
    fcs: float | None
    cost: float | None
    usual_cost: float | None


class Tiers:
    """Reads the outcomes with a predicted tier."""

    def __init__(self, activity: Activity, rules: StrategistRules) -> None:
        self._rules = rules.tiers
        self._outcomes = [task for task in activity.outcomes if task.tier is not None]
        self._by_skill: dict[str, list[Task]] = defaultdict(list)
        for task in self._outcomes:
            for skill in dict.fromkeys(task.skills):
                self._by_skill[skill].append(task)

    def tracks(self) -> tuple[TierTrack, ...]:
        """Every skill, by name."""
        return tuple(self._track(skill) for skill in sorted(self._by_skill))

    def findings(self) -> Iterator[Finding]:
        """What speaks against the predictions."""
        for track in self.tracks():
            tasks = self._by_skill[track.skill]
            if track.tier < TOP_TIER:
                yield self._too_low(track, tasks)
            if track.lower.n:
                yield self._too_high(track, tasks)
            yield from self._cost(track, tasks)
        if self._outcomes:
            yield self._crowded()

    def _too_low(self, track: TierTrack, tasks: Sequence[Task]) -> Finding:
        return _above(
            "tier_too_low",
            {"skill": track.skill},
            track.tier + 1,
            f"{track.skill} needs tier {track.tier + 1}: "
            f"{_shown(track.escalated)} of its tasks went to a higher one",
            track.escalated,
            self._rules.escalation,
            tasks,
        )

    def _too_high(self, track: TierTrack, tasks: Sequence[Task]) -> Finding:
        below = Counter(t.tier for t in tasks if t.tier is not None and t.tier < track.tier)
        tier = min(below, key=lambda one: (-below[one], one))
        return _above(
            "tier_too_high",
            {"skill": track.skill},
            tier,
            f"{track.skill} does with tier {tier}: "
            f"{_shown(track.lower)} of its tasks below tier {track.tier} succeeded",
            track.lower,
            self._rules.lower_success,
            tasks,
        )

    def _cost(self, track: TierTrack, tasks: Sequence[Task]) -> Iterator[Finding]:
        """That the median is off is that more than half of the tasks are, in one direction."""
        if track.cost is None or not track.usual_cost:
            return
        costs = [_cost(task) for task in tasks if task.tier == track.tier]
        known = [cost for cost in costs if cost is not None]
        for way, word in ((1, "more"), (-1, "less")):
            border = track.usual_cost * (1 + way * self._rules.cost_deviation)
            beyond = sum(cost > border if way > 0 else cost < border for cost in known)
            counts = Counts(beyond, len(known) - beyond)
            yield _above(
                "cost_off",
                {"skill": track.skill, "direction": word},
                None,
                f"recalibrate {track.skill}: {_shown(counts)} of its tasks cost clearly {word} "
                f"than others of tier {track.tier}: its median is "
                f"{track.cost / track.usual_cost:.0%} of theirs",
                counts,
                0.5,
                tasks,
            )

    def _crowded(self) -> Finding:
        top = [task for task in self._outcomes if task.tier == TOP_TIER]
        counts = Counts(len(top), len(self._outcomes) - len(top))
        return _above(
            "top_tier_crowded",
            {},
            None,
            f"recalibrate the scores: {_shown(counts)} of the tasks were given tier {TOP_TIER}",
            counts,
            self._rules.top_share,
            top,
        )

    def _track(self, skill: str) -> TierTrack:
        tasks = self._by_skill[skill]
        sizes = Counter(task.tier for task in tasks if task.tier is not None)
        tier = min(sizes, key=lambda one: (-sizes[one], one))
        escalated = sum(task.escalated for task in tasks)
        lower = [task for task in tasks if task.tier is not None and task.tier < tier]
        won = sum(task.ok for task in lower)
        scores = [task.fcs for task in tasks if task.fcs is not None and isfinite(task.fcs)]
        others = [t for t in self._outcomes if t.tier == tier and skill not in t.skills]
        return TierTrack(
            skill=skill,
            tier=tier,
            n=len(tasks),
            escalated=Counts(escalated, len(tasks) - escalated),
            lower=Counts(won, len(lower) - won),
            fcs=sum(scores) / len(scores) if scores else None,
            cost=_median_cost([task for task in tasks if task.tier == tier]),
            usual_cost=_median_cost(others),
        )


def _above(
    kind: Kind,
    subject: Mapping[str, str],
    value: Value,
    text: str,
    counts: Counts,
    limit: float,
    tasks: Sequence[Task],
) -> Finding:
    """Are there more of what ``counts`` calls successes than the share ``limit``?"""
    low, high = counts.interval()
    return Finding(
        family="tiers",
        kind=kind,
        subject=subject,
        value=value,
        text=text,
        observations=counts.n,
        evidence=share_above(counts.successes, counts.failures, limit),
        is_large=counts.successes > limit * counts.n,
        confidence=1 - Beta(1 + counts.successes, 1 + counts.failures).cdf(limit),
        measures={"share": counts.rate or 0.0, "limit": limit},
        low=low,
        high=high,
        tasks=last_tasks(tasks),
    )


def _shown(counts: Counts) -> str:
    return share_text(counts.successes, counts.n)


def _cost(task: Task) -> float | None:
    return task.cost if task.cost is not None and isfinite(task.cost) else None


def _median_cost(tasks: Sequence[Task]) -> float | None:
    known = [cost for task in tasks if (cost := _cost(task)) is not None]
    return median(known) if known else None
