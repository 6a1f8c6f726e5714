"""What a test run found, and how much of the skills it touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dcf.skill_tests.outcome import Outcome
from dcf.skill_tests.plan import NO_SKILL, Plan

_ORDER = {"case": 0, "default": 1, "test": 2}


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of one skill: how many of its tools and of their cases were called and did as they should.
    ``tests`` are those written in the skill."""

    skill: str
    tools: int
    tools_passed: int
    cases: int
    cases_passed: int
    tests: int
    tests_passed: int

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Report:
    """``outcomes`` in order of tools and names; ``coverage`` in order of skills. ``url`` is the
    server that was asked, None for a stub of its own."""

    outcomes: tuple[Outcome, ...]
    coverage: tuple[Coverage, ...]
    seconds: float
    url: str | None

    @classmethod
    def of(
        cls, plan: Plan, outcomes: Iterable[Outcome], *, seconds: float, url: str | None
    ) -> Report:
        """Put the outcomes in order and count them by skill."""
        found = sorted(outcomes, key=lambda one: (one.tool, _ORDER[one.kind], one.name, one.skills))
        skills = list(plan.skills)
        if any(NO_SKILL in outcome.skills for outcome in found):
            skills.append(NO_SKILL)
        coverage = tuple(_coverage(skill, plan, found) for skill in skills)
        return cls(tuple(found), coverage, seconds, url)

    @property
    def ok(self) -> bool:
        return all(outcome.ok for outcome in self.outcomes)

    @property
    def counts(self) -> dict[str, int]:
        """``{passed, failed, unreachable, skipped}``."""
        counted = Counter(outcome.status for outcome in self.outcomes)
        return {name: counted[name] for name in ("passed", "failed", "unreachable", "skipped")}

    @property
    def cases(self) -> tuple[int, int]:
        """How many cases passed, and how many there are; defaults and tests apart."""
        cases = [outcome for outcome in self.outcomes if outcome.kind == "case"]
        return sum(outcome.status == "passed" for outcome in cases), len(cases)

    def to_dict(self) -> dict[str, Any]:
        """``{counts, cases: {passed, total}, coverage, outcomes, seconds, url}``."""
        passed, total = self.cases
        return {
            "counts": self.counts,
            "cases": {"passed": passed, "total": total},
            "coverage": [entry.to_dict() for entry in self.coverage],
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
            "seconds": round(self.seconds, 3),
            "url": self.url,
        }


def _coverage(skill: str, plan: Plan, outcomes: list[Outcome]) -> Coverage:
    tools = [ref for ref, users in plan.users.items() if skill in users]
    mine = [outcome for outcome in outcomes if skill in outcome.skills]
    cases = [outcome for outcome in mine if outcome.kind == "case"]
    tests = [outcome for outcome in mine if outcome.kind == "test"]
    passed = {outcome.tool for outcome in mine if outcome.status == "passed"}
    failed = {outcome.tool for outcome in mine if not outcome.ok}
    keys = {plan.tools[ref].key for ref in tools}
    return Coverage(
        skill=skill,
        tools=len(tools),
        tools_passed=len(keys & (passed - failed)),
        cases=sum(len(plan.tools[ref].cases) for ref in tools),
        cases_passed=sum(outcome.status == "passed" for outcome in cases),
        tests=len(tests),
        tests_passed=sum(outcome.status == "passed" for outcome in tests),
    )
