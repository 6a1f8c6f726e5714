"""What can go wrong with a conductor by rule."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.problem import Problem
from dcf.sessions.errors import SessionProblem


class InvalidConductorRules(Exception):
    """The rules of a conductor cannot be read; ``problems`` is all that is wrong with them."""

    code = "invalid_conductor_rules"
    hint = "mend the file, or leave it away: without one the rules that come with DCF hold"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in problems))


class BadRequest(SessionProblem):
    """{what} is {value}, not {wanted}."""

    code = "bad_request"
    hint = "{how}"


class RuleTooSlow(SessionProblem):
    """The pattern of the rule {rule} takes too long: {pattern}."""

    code = "rule_too_slow"
    hint = "mend the rule: repeats within repeats try without end"
