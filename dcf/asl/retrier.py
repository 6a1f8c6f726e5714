"""Retry: which errors are tried again, how often, and after what delay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from dcf.asl.error_match import ErrorNames, read_error_names
from dcf.asl.reading.fields import check_fields
from dcf.asl.reading.node import Node

MAX_DELAY = 31_622_400
LARGEST = 99_999_999


@dataclass(frozen=True, slots=True)
class Retrier:
    """Delay before attempt ``n`` (0 = first retry): interval_s * backoff_rate ** n, capped.

    With ``interval_s=3, backoff_rate=2, max_delay_s=10``: 3, 6, 10, 10, …
    """

    errors: ErrorNames
    interval_s: int = 1
    max_attempts: int = 3
    backoff_rate: float = 2.0
    max_delay_s: int | None = None
    jitter: bool = False

    def delay(self, used: int, rng: Random | None = None) -> float:
        """Seconds to wait before the next attempt when ``used`` retries are spent.

        Full jitter draws evenly between 0 and that delay, from ``rng``.
        """
        ceiling = float(self.max_delay_s if self.max_delay_s is not None else MAX_DELAY)
        try:
            delay = min(self.interval_s * self.backoff_rate**used, ceiling)
        except OverflowError:
            delay = ceiling
        return rng.uniform(0.0, delay) if self.jitter and rng is not None else delay


def find_retrier(
    retriers: tuple[Retrier, ...], used: Mapping[int, int], error: str | None
) -> int | None:
    """Index of the retrier for ``error`` when it has attempts left.

    Only the first retrier that names the error counts, spent or not.
    """
    for index, retrier in enumerate(retriers):
        if retrier.errors.match(error):
            return index if used.get(index, 0) < retrier.max_attempts else None
    return None


def read_retriers(state: Node) -> tuple[Retrier, ...]:
    """The ``Retry`` of a state; problems go to its findings."""
    nodes = state.nodes("Retry")
    return tuple(_read_retrier(node, node is nodes[-1]) for node in nodes)


_FIELDS = frozenset(
    {
        "ErrorEquals",
        "IntervalSeconds",
        "MaxAttempts",
        "BackoffRate",
        "MaxDelaySeconds",
        "JitterStrategy",
        "Comment",
    }
)


def _read_retrier(node: Node, last: bool) -> Retrier:
    check_fields(node, _FIELDS, "a retrier")
    node.text("Comment")
    interval = node.integer("IntervalSeconds", 0, LARGEST)
    attempts = node.integer("MaxAttempts", 0, LARGEST)
    rate = node.number("BackoffRate", 1.0, 1e9)
    max_delay = node.integer("MaxDelaySeconds", 1, MAX_DELAY)
    jitter = node.choice("JitterStrategy", ("NONE", "FULL"))
    return Retrier(
        errors=read_error_names(node, last),
        interval_s=1 if interval is None else interval,
        max_attempts=3 if attempts is None else attempts,
        backoff_rate=2.0 if rate is None else rate,
        max_delay_s=max_delay,
        jitter=jitter == "FULL",
    )
