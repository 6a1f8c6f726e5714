"""How often something succeeded, and how often not."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.evidence.interval import wilson


@dataclass(frozen=True, slots=True)
class Counts:
    """Whole outcomes, all of the same weight."""

    successes: int = 0
    failures: int = 0

    @property
    def n(self) -> int:
        return self.successes + self.failures

    @property
    def rate(self) -> float | None:
        """The share of successes; None without outcomes."""
        return self.successes / self.n if self.n else None

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The Wilson interval of the rate."""
        return wilson(self.successes, self.n, level)

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.successes + other.successes, self.failures + other.failures)
