"""The largest payload that may pass between states."""

from __future__ import annotations

from dcf.asl.errors import DATA_LIMIT_EXCEEDED, PlainError
from dcf.asl.payload import JSON, is_heavier, size

RESULT = "returned a result"
VARIABLES = "assigned variables"
INPUT = "created an input"

LARGEST = 16 * 1024 * 1024
"""Most characters of JSON of a payload where nobody sets a limit.

A template may hold the same large part any number of times: in memory it is there once, but not
when it is written, sent and stored.
"""


def check_size(state: str, done: str, value: JSON, limit: int | None) -> None:
    """Raises EvaluationError (``States.DataLimitExceeded``) when ``value`` has more than
    ``limit`` bytes of JSON, or without a limit surely more than LARGEST characters. ``done`` is
    what ``state`` did with the value."""
    if is_heavier(value, limit or LARGEST) or (limit is not None and size(value) > limit):
        cause = (
            f"The state/task '{state}' {done} with a size exceeding the maximum number of "
            "bytes service limit."
        )
        raise PlainError(DATA_LIMIT_EXCEEDED, cause)
