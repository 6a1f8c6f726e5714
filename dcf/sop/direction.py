"""Where a procedure goes on after a step. ``line`` is where it says so, 0 without a source."""

from __future__ import annotations

from dataclasses import dataclass, field

from dcf.sop.prose import one_line


@dataclass(frozen=True, slots=True)
class Continue:
    """With the next step of the list. After the last one the list is over: the procedure has
    ended well, the loop takes its next item, the lane is finished."""


@dataclass(frozen=True, slots=True)
class GoTo:
    """To the step with this full number (``4``, ``3a``, ``4.2``), which is in the same list."""

    step: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Finish:
    """The list of steps ends here, well. ``of_procedure``: it was called the end of the procedure,
    which it is in no loop and no branch."""

    of_procedure: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Stop:
    """The whole procedure fails, with an error name (``""``: the compiler's choice) and a cause.
    Names in backticks in ``cause`` stand for their values."""

    error: str = ""
    cause: str = ""
    line: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cause", one_line(self.cause))


Direction = Continue | GoTo | Finish | Stop
CONTINUE = Continue()
