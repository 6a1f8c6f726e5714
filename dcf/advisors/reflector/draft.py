"""A finding before it is an insight, and what all findings are made with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dcf.evidence import Beta, Counts
from dcf.guidelines import Category, Evidence, Severity


@dataclass(frozen=True, slots=True)
class Draft:
    """An insight before it has an id and a history; the fields are those of Insight."""

    category: Category
    topic: str
    condition: dict[str, str]
    prefer: str | None
    avoid: str | None
    reason: str
    evidence: Evidence
    confidence: float
    severity: Severity | None = None


class Shown(Protocol):
    """What names the runs that show something."""

    @property
    def workflows(self) -> int: ...
    @property
    def runs(self) -> tuple[str, ...]: ...
    @property
    def first_at(self) -> int: ...
    @property
    def last_at(self) -> int: ...


def evidence_of(shown: Shown, outcomes: int, **measures: float | None) -> Evidence:
    """The runs of ``shown``, and those of ``measures`` that there are."""
    return Evidence(
        outcomes=outcomes,
        workflows=shown.workflows,
        since=shown.first_at,
        until=shown.last_at,
        runs=shown.runs,
        measures={name: value for name, value in measures.items() if value is not None},
    )


def above(counts: Counts, limit: float) -> float:
    """How probable it is that the true rate is above ``limit``."""
    return 1 - Beta(1 + counts.successes, 1 + counts.failures).cdf(limit)


def share_of(counts: Counts) -> str:
    """``90% of 60 outcomes``."""
    rate = "no" if counts.rate is None else f"{counts.rate:.0%}"
    return f"{rate} of {counts.n} outcomes"
