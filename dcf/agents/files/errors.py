"""What can be wrong with an agent file."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.problem import Problem


class InvalidAgentFile(ValueError):
    """The agent file cannot be imported. ``problems`` are all that was found, with the place of
    each as a JSON pointer."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problem.message for problem in self.problems[:3]))
