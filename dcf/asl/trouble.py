"""What failed, in two texts that have limits."""

from __future__ import annotations

from dataclasses import dataclass

from control_plane import cause_of, error_of


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error name and a cause, each cut where it is longer than Step Functions takes it."""

    error: str | None
    cause: str | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "error", error_of(self.error))
        object.__setattr__(self, "cause", cause_of(self.cause))
