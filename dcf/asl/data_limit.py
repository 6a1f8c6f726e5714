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


def answering(state: str, resource: str | None) -> str:
    """Whom a cause names for the result of a Task: the service, or what ``resource`` is an ARN of.

    >>> answering("Pay", "arn:aws:states:::aws-sdk:s3:getObject")
    'aws-sdk:s3'
    """
    if resource is None or not resource.startswith("arn:"):
        return state
    _, integrated, action = resource.partition(":states:::")
    return action.rpartition(":")[0] if integrated else resource


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
