"""What can be wrong with guidelines."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.problem import Problem


class InvalidGuidelines(Exception):
    """The guidelines cannot be read."""

    hint = "`dcf memory history` shows who wrote the block, `dcf memory rollback` takes it back"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in problems))
