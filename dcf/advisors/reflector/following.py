"""What became of advice: was it taken by later runs, and did it help."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from dcf.evidence import difference_interval
from dcf.guidelines import Followed, Insight, Verdict
from dcf.knowledge import Outcome


class Following:
    """Takes in outcomes, whatever their order, and holds those of runs that began after an advice
    about skills against those before. Outcomes of its task type in which the preferred skill had a
    say count as advice taken."""

    def __init__(self, insights: Sequence[Insight]) -> None:
        self._insights: dict[str, list[Insight]] = defaultdict(list)
        self._counts: dict[str, Counter[tuple[str, bool]]] = defaultdict(Counter)
        for insight in insights:
            if insight.category == "skill_effectiveness" and insight.prefer is not None:
                self._insights[insight.condition.get("task_type", "")].append(insight)

    def add(self, outcome: Outcome) -> None:
        for insight in self._insights.get(outcome.task_type, ()):
            name = insight.condition.get("skill")
            if name is not None and not any(
                skill.partition("@")[0] == name for skill in outcome.skills
            ):
                continue
            when = "before"
            if outcome.started_at >= insight.created_at:
                when = "taken" if insight.prefer in outcome.skills else "not_taken"
            elif outcome.ended_at >= insight.created_at:
                # Under way when the advice was given.
                continue
            self._counts[insight.id][when, outcome.ok] += 1

    def followed(self, insight: Insight) -> Insight:
        """The insight with what became of it, if there was occasion to take it."""
        counts = self._counts.get(insight.id, Counter())
        if not any(n for (when, _), n in counts.items() if when != "before"):
            return insight
        return replace(insight, followed=_followed(counts))


def _followed(counts: Counter[tuple[str, bool]]) -> Followed:
    won, taken = counts["taken", True], counts["taken", True] + counts["taken", False]
    passed = counts["not_taken", True] + counts["not_taken", False]
    was, before = counts["before", True], counts["before", True] + counts["before", False]
    if not taken or not before:
        verdict: Verdict = "unclear" if taken else "not_taken"
        return Followed(taken + passed, taken, won, None, None, None, verdict)
    low, high = difference_interval((won, taken), (was, before))
    verdict = "helped" if low > 0 else "hurt" if high < 0 else "unclear"
    difference = won / taken - was / before
    return Followed(taken + passed, taken, won, difference, low, high, verdict)
