"""What can go wrong with templates."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from dcf.problem import Problem


class InvalidTemplate(ValueError):
    """A template or its prompt is not usable. ``problems`` are all that was found, with file and
    line."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problem.message for problem in self.problems[:3]))


class UnknownTemplate(LookupError):
    """There is no template of this name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
        self.problem = Problem("TEMPLATE_UNKNOWN", f"there is no template {name!r}", "", hint)
        super().__init__(self.problem.message)
