"""What can go wrong in the memory. A class's docstring is its message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dcf.problem import Problem, ProblemError


class MemoryProblem(ProblemError):
    """The memory cannot do that."""

    code = "memory_problem"


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


class WrongVariables(MemoryProblem):
    """{text}."""

    hint = "leave it unset for the default"

    def __init__(self, wrong: Mapping[str, str]) -> None:
        """``wrong`` are variables of the environment by name, with what is wrong with each."""
        self.wrong = dict(wrong)
        super().__init__(text="; ".join(f"{name} {why}" for name, why in wrong.items()))


class DamagedDatabase(MemoryProblem):
    """{path} cannot be read as an SQLite database: {reason}."""

    code = "memory_database_damaged"
    hint = "open it with its program once, or take a backup of it; what was read is kept"


class LockedDatabase(MemoryProblem):
    """{path} is locked by another program."""

    code = "memory_database_locked"
    hint = "try again when that program has ended, or has nothing to do"
