"""Handlers, and how a run ended, for the tests of choreography."""

from __future__ import annotations

from typing import Any

from unit.workflow.stage import Calls

from dcf.worker import TaskFailure
from dcf.workflow import Result


def ended(result: Result) -> tuple[str, Any]:
    """The status, and the output or the error name."""
    return result.status, result.failure.error if result.failure else result.output


def failing(error: str, times: int) -> Calls:
    """Fails ``times`` times, then gives "ok"."""
    left = [times]

    def answer(_given: Any) -> Any:
        left[0] -= 1
        return TaskFailure(error, "as planned") if left[0] >= 0 else "ok"

    return Calls(answer)


async def echo(given: Any) -> Any:
    return given
