"""What is wrong with documents of the Strategist."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.problem import Problem


class InvalidStrategy(Exception):
    """A document cannot be read; ``problems`` is all that is wrong with it."""

    code = "invalid_strategy"
    hint = ""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in problems))


class InvalidActivity(InvalidStrategy):
    """What was told of a session is no activity."""

    code = "invalid_activity"


class InvalidRules(InvalidStrategy):
    """The rules of the Strategist cannot be read."""

    code = "invalid_rules"
    hint = "mend the file, or remove it: without one the documented defaults hold"


class InvalidStrategistGuidelines(InvalidStrategy):
    """The guidelines for a Conductor cannot be read."""

    code = "invalid_guidelines"
    hint = "`update_conductor_guidelines` with `clear_guidelines` begins anew"
