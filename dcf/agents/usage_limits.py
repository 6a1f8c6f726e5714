"""How much one assignment may use before it is stopped."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UsageLimits:
    """Ceilings for one assignment; crossing one fails it with ``DCF.LimitExceeded``.

    The defaults leave room for a long task (the rehearsal needs one request per tool and one to
    report) and stop a model that goes round in circles. Both must be at least 1.
    """

    max_requests: int = 64
    max_tool_calls: int = 128

    def __post_init__(self) -> None:
        if self.max_requests < 1 or self.max_tool_calls < 1:
            raise ValueError(
                "max_requests and max_tool_calls must be at least 1, "
                f"not {self.max_requests} and {self.max_tool_calls}"
            )
