"""Outcomes and what knows them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

from dcf.advisors import Reflection, reflect
from dcf.knowledge import InsightFact, Outcome

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
NOW = 1_700_000_000_000
GOOD, BAD = "skill.shop.pay@2.0.0", "skill.shop.pay@1.0.0"


def outcome(number: int, ok: bool = True, **changes: Any) -> Outcome:
    """The task of run ``number``, which ended so many hours before NOW."""
    ended = changes.pop("ended_at", NOW - number * HOUR_MS)
    took = changes.pop("duration_ms", 1_000)
    fields: dict[str, Any] = {
        "run": f"run-{number}",
        "workflow_id": f"run-{number}",
        "workflow_name": "shop",
        "path": "Pay",
        "state": "Pay",
        "visit": 1,
        "tries": 1,
        "task_type": "pay",
        "skills": ("skill.shop.pay@1.0.0",),
        "agent": None,
        "status": "done" if ok else "failed",
        "error": None if ok else "Bank.Refused",
        "cause": None,
        "started_at": ended - took,
        "ended_at": ended,
        "duration_ms": took,
    }
    return Outcome(**{**fields, **changes})


class Known:
    """What is known of runs: given outcomes, and insights that were put here before."""

    def __init__(self, outcomes: Iterable[Outcome] = ()) -> None:
        self.ended = sorted(outcomes, key=lambda one: one.ended_at)
        self.facts: dict[str, InsightFact] = {}

    async def outcomes(self, *, since: int | None = None) -> AsyncIterator[Outcome]:
        for one in self.ended:
            if since is None or one.ended_at >= since:
                yield one

    async def insights(self) -> list[InsightFact]:
        over = {old for fact in self.facts.values() for old in fact.supersedes}
        return [
            fact
            for fact in self.facts.values()
            if fact.retracted_at is None and fact.id not in over
        ]

    async def put(self, kind: str, id_: str, data: Any) -> None:
        assert kind == "insight"
        self.facts[id_] = InsightFact.from_json(data)


def shop(first: int, last: int, good: str = GOOD, bad: str = BAD) -> Iterable[Outcome]:
    """Two versions by turns, so many hours ago: nine of ten succeed, and four of ten."""
    for n in range(first, last):
        yield outcome(n, n % 20 not in (0, 1), skills=(good,), ended_at=NOW - n * HOUR_MS + 1)
        yield outcome(n + 10_000, n % 5 in (0, 1), skills=(bad,), ended_at=NOW - n * HOUR_MS)


async def reflected(known: Known, now: int = NOW) -> Reflection:
    return await reflect(known, since=now - 7 * DAY_MS, now=now, sink=known)
