"""What can go wrong with a citation."""

from __future__ import annotations

from collections.abc import Iterable

from dcf.problem import Problem


class InvalidCitation(ValueError):
    """It is no citation; ``problems`` says all that is wrong, and how to mend it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
