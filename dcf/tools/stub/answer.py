"""What the stub answers to a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it arrived. ``idempotency_key`` and ``fence`` come from its ``_meta``."""

    arguments: dict[str, Any]
    idempotency_key: str | None = None
    fence: int | None = None

    @property
    def run(self) -> str:
        """The run that the call belongs to: what its key has before the first ``/``. All calls with
        other keys, or none, count as one."""
        run, slash, _rest = (self.idempotency_key or "").partition("/")
        return run if slash else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The decided answer. It is given after ``delay_s`` seconds.

    An error has ``data`` of the shape ``{"code", "message", …}`` and its code in ``error``.
    ``holds``: the delay is the point of it (errorMode ``timeout``), so a replay waits again.
    """

    data: Any
    case_id: str | None
    error: str | None = None
    delay_s: float = 0.0
    holds: bool = False


def failure(
    code: str,
    message: str,
    case_id: str | None = None,
    delay_s: float = 0.0,
    *,
    holds: bool = False,
    **more: Any,
) -> Answer:
    """An error answer; ``more`` joins the code and the message in its data."""
    return Answer({"code": code, "message": message, **more}, case_id, code, delay_s, holds)
