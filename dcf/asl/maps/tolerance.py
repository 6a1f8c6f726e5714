"""How many failed iterations a Map lives with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Tolerance:
    """``count`` items, and ``percentage`` of them, may fail; None where the Map does not say."""

    count: int | None = None
    percentage: float | None = None

    @property
    def is_said(self) -> bool:
        return self.count is not None or self.percentage is not None

    def iterations(self, sizes: Sequence[int]) -> int:
        """How many iterations, whichever they are, may fail when they have ``sizes`` items.

        Items are counted: all of those in a failed batch have failed. Neither the number nor the
        percentage may be exceeded. Where neither is said, none may fail.
        """
        limits = [] if self.count is None else [self.count]
        if self.percentage is not None:
            limits.append(int(sum(sizes) * self.percentage / 100 + 1e-9))
        items = min(limits, default=0)
        return sum(1 for failed in accumulate(sorted(sizes, reverse=True)) if failed <= items)
