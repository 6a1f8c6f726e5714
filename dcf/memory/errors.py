"""What can go wrong in the memory. A class's docstring is its message."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.problem import Problem


class MemoryProblem(Exception):
    """The memory cannot do that."""

    code = "memory_problem"
    hint = ""

    def __init__(self, **fields: object) -> None:
        self.fields = fields
        super().__init__((type(self).__doc__ or "").strip().format(**fields))

    @property
    def problem(self) -> Problem:
        """The same for people and for ``--json``."""
        return Problem(code=self.code, message=str(self), hint=self.hint)


class InvalidEntry(MemoryProblem):
    """{what} cannot be kept: {text}."""

    code = "memory_invalid_entry"

    def __init__(self, what: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(what=what, text="; ".join(problem.message for problem in problems))


class RevisionConflict(MemoryProblem):
    """{what} was changed meanwhile: you saw revision {expected}, it is now {found}."""

    code = "memory_revision_conflict"
    hint = "read it again and repeat the change on what it is now"
