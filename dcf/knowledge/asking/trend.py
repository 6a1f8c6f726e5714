"""How a success rate, a duration or a cost developed from day to day, and whether it did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean
from typing import Any, Literal

from dcf.evidence import MIN_SAMPLES, SIGNIFICANT, Counts, fisher_exact, mann_whitney
from dcf.knowledge.asking.crossing import Narrowed
from dcf.knowledge.asking.looking import look_fast
from dcf.knowledge.connection import GraphConnection

Of = Literal["success", "duration", "cost"]
Direction = Literal["rises", "falls", "no_change_found", "too_few"]
MOST = 20_000
"""So many outcomes are looked at, the newest."""
_WHAT = "a trend"
_TEXT = """MATCH (e:StateOutcome) %s
RETURN e.ended_at, e.status, e.duration_ms, e.cost_usd ORDER BY e.ended_at DESC LIMIT $most"""


@dataclass(frozen=True, slots=True)
class Day:
    """The outcomes of a UTC day; ``cost_usd`` is the sum of what is known."""

    day: str
    counts: Counts
    mean_ms: float
    cost_usd: float


@dataclass(frozen=True, slots=True)
class Trend:
    """``days`` in their order. ``before`` and ``after`` are the value of the older and of the newer
    half of all outcomes: the rate, the mean duration (ms), or the mean cost of those with a price
    (USD); None without any. ``p_value`` is Fisher's of rates, that of Mann and Whitney's test of
    others; ``direction`` what follows from it."""

    of: Of
    days: tuple[Day, ...]
    looked_at: int
    before: float | None
    after: float | None
    p_value: float
    direction: Direction

    def to_json(self) -> dict[str, Any]:
        return {
            "of": self.of,
            "looked_at": self.looked_at,
            "before": self.before,
            "after": self.after,
            "p_value": self.p_value,
            "direction": self.direction,
            "days": [
                {
                    "day": one.day,
                    "n": one.counts.n,
                    "ok": one.counts.successes,
                    "mean_ms": round(one.mean_ms, 1),
                    "cost_usd": round(one.cost_usd, 6),
                }
                for one in self.days
            ],
        }


async def trend(
    graph: GraphConnection, of: Of = "success", narrowed: Narrowed | None = None
) -> Trend:
    """How ``of`` developed over the outcomes of ``narrowed``, of which the newest 20,000 are looked
    at. Raises GraphAway, GraphRefused, QuestionTooWide."""
    where, given = (narrowed or Narrowed()).terms()
    rows = await look_fast(graph, _WHAT, _TEXT % where, **given, most=MOST)
    told = sorted((row for row in rows if isinstance(row[0], int)), key=lambda row: row[0])
    by_day: dict[str, list[Sequence[Any]]] = defaultdict(list)
    for row in told:
        by_day[f"{datetime.fromtimestamp(row[0] / 1000, UTC):%Y-%m-%d}"].append(row)
    values = _values(of, told)
    older, newer = values[: len(values) // 2], values[len(values) // 2 :]
    before, after = (fmean(half) if half else None for half in (older, newer))
    p_value = _p_value(of, older, newer)
    return Trend(
        of,
        tuple(_day(day, rows) for day, rows in by_day.items()),
        len(told),
        before,
        after,
        p_value,
        _direction(older, newer, p_value),
    )


def _values(of: Of, rows: Sequence[Sequence[Any]]) -> list[float]:
    if of == "success":
        return [float(row[1] == "done") for row in rows]
    at = 2 if of == "duration" else 3
    return [float(row[at]) for row in rows if row[at] is not None]


def _p_value(of: Of, older: Sequence[float], newer: Sequence[float]) -> float:
    if of != "success":
        return mann_whitney(older, newer)
    first, second = ((round(sum(half)), len(half) - round(sum(half))) for half in (older, newer))
    return fisher_exact(first, second)


def _direction(older: Sequence[float], newer: Sequence[float], p_value: float) -> Direction:
    if len(older) < MIN_SAMPLES:
        return "too_few"
    if p_value >= SIGNIFICANT:
        return "no_change_found"
    return "rises" if fmean(newer) > fmean(older) else "falls"


def _day(day: str, rows: Sequence[Sequence[Any]]) -> Day:
    won = sum(row[1] == "done" for row in rows)
    return Day(
        day,
        Counts(won, len(rows) - won),
        fmean(row[2] or 0 for row in rows),
        sum(float(row[3]) for row in rows if row[3] is not None),
    )
