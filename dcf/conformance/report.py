"""How many cases of which kind hold at which level."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Any

from dcf.conformance.case import Case
from dcf.conformance.judge import LEVELS, Judgement, Level, Required, judge
from dcf.conformance.result import CRASHED, Result

ALL = "all"


@dataclass(slots=True)
class Score:
    """Counts of one group of cases; ``details`` are those with no mismatch."""

    cases: int = 0
    levels: dict[Level, int] = field(default_factory=lambda: dict.fromkeys(LEVELS, 0))
    details: int = 0

    def count(self, judgement: Judgement, result: Result) -> None:
        self.cases += 1
        self.details += not result.mismatches
        for level in LEVELS:
            self.levels[level] += judgement.holds(level)

    def to_json(self) -> dict[str, int]:
        levels = {str(level): count for level, count in self.levels.items()}
        return {"cases": self.cases, **levels, "details": self.details}


@dataclass(frozen=True, slots=True)
class Judged:
    """A case, what it gave, and at which levels that is right."""

    case: Case
    result: Result
    judgement: Judgement

    def holds(self, level: Required) -> bool:
        """Whether it is right at ``level``."""
        if level == "details":
            return self.judgement.exact and not self.result.mismatches
        return self.judgement.holds(level)


@dataclass(frozen=True, slots=True)
class Report:
    """``ops`` and ``tags`` in order of their size; ``skipped`` were not tried."""

    judged: tuple[Judged, ...]
    skipped: tuple[Result, ...]
    ops: dict[str, Score]
    tags: dict[str, Score]
    seconds: dict[str, float]

    def failing(self, level: Required) -> list[Judged]:
        """The cases that are not right at ``level``."""
        return [one for one in self.judged if not one.holds(level)]

    @property
    def crashed(self) -> list[Judged]:
        """The cases on which the program itself failed."""
        return [one for one in self.judged if one.result.status == CRASHED]

    def to_json(self) -> dict[str, Any]:
        """Counts only, no case by name."""
        return {
            "cases": len(self.judged),
            "skipped": len(self.skipped),
            "ops": {name: score.to_json() for name, score in self.ops.items()},
            "tags": {name: score.to_json() for name, score in self.tags.items()},
            "seconds": self.seconds,
        }


def report(cases: Sequence[Case], results: Mapping[str, Result]) -> Report:
    """Judge the result of each of ``cases``; one without a result counts as skipped."""
    judged: list[Judged] = []
    skipped: list[Result] = []
    ops: dict[str, Score] = defaultdict(Score)
    tags: dict[str, Score] = defaultdict(Score)
    for case in cases:
        result = results.get(case.name)
        if result is None or result.is_skipped:
            skipped.append(result or Result(case.name, "", cause="there is no result"))
            continue
        judgement = judge(case, result)
        judged.append(Judged(case, result, judgement))
        for group, names in ((ops, (ALL, case.op)), (tags, case.tags)):
            for name in names:
                group[name].count(judgement, result)
    return Report(tuple(judged), tuple(skipped), _by_size(ops), _by_size(tags), _seconds(judged))


def _by_size(scores: Mapping[str, Score]) -> dict[str, Score]:
    return dict(sorted(scores.items(), key=lambda one: (-one[1].cases, one[0])))


def _seconds(judged: Sequence[Judged]) -> dict[str, float]:
    spent = [one.result.seconds for one in judged]
    if not spent:
        return {}
    return {"mean": round(mean(spent), 6), "median": round(median(spent), 6)}
