"""How long to wait before a request is sent again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Waits that double: before the ``n``-th repetition (from 0) ``first_s * 2**n``, at most
    ``longest_s``, of which a random part between half and all is waited. What the provider asked
    for is waited at least, unless that is more than ``most_asked_s``: then the model has failed.

    >>> [Pace().wait_s(n, None, lambda: 1.0) for n in range(4)]
    [0.5, 1.0, 2.0, 4.0]
    >>> Pace().wait_s(0, 7.0, lambda: 0.0)
    7.25
    """

    first_s: float = 0.5
    longest_s: float = 30.0
    most_asked_s: float = 300.0

    def wait_s(self, n: int, asked_s: float | None, random: Callable[[], float]) -> float:
        """Seconds to wait; ``random`` gives a number between 0 and 1."""
        full = min(self.longest_s, self.first_s * 2.0 ** min(n, 60))
        part = full * (0.5 + random() / 2)
        # Those who were all told the same moment do not come back at the same moment.
        return part if asked_s is None else asked_s + part
