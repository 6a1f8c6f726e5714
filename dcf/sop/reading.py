"""What came of reading a procedure."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.problem import Problem, has_errors
from dcf.sop.procedure import Sop


@dataclass(frozen=True, slots=True)
class Reading:
    """``sop`` is None when there are errors among ``problems``; these are all, in order of their
    lines."""

    sop: Sop | None
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        return not has_errors(self.problems)
