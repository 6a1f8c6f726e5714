"""What can go wrong in a search of code. A class's docstring is its message."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dcf.problem import Problem, ProblemError
from dcf_agents.installation import extra_command


class CodeProblem(ProblemError):
    """The code cannot be searched."""

    code = "code_problem"


class RootMissing(CodeProblem):
    """{root} is no folder that can be read: {reason}."""

    code = "code_root_missing"
    hint = "name the folder of a project"


class RipgrepMissing(CodeProblem):
    """ripgrep is not there: looked for {path}, and for rg on the PATH."""

    code = "code_ripgrep_missing"

    def __init__(self, *, path: Path) -> None:
        self.hint = extra_command("code")
        super().__init__(path=path)


class RipgrepFailed(CodeProblem):
    """ripgrep failed: {reason}."""

    code = "code_ripgrep_failed"
    hint = "run `rg --files` in the folder: it says the same"


class TooManyFiles(CodeProblem):
    """{root} has more than {most} files that git does not ignore."""

    code = "code_too_many_files"
    hint = "name a folder further inside, or let .gitignore leave out what is no source"


class UnshownFile(CodeProblem):
    """Lines of {path} cannot be shown: {reason}."""

    code = "code_unshown_file"

    def __init__(self, *, path: str, reason: str, hint: str) -> None:
        self.hint = hint
        super().__init__(path=path, reason=reason)


class IndexTrouble(CodeProblem):
    """The index {path} cannot be used: {reason}."""

    code = "code_index_trouble"
    hint = "check that the file can be written and that the disk has room; it can be deleted"


class IndexDamaged(IndexTrouble):
    """The index {path} could not be read and has been removed: {reason}."""

    code = "code_index_damaged"
    hint = "nothing is lost: it is made anew from the files; if it happens again, check the disk"


class InvalidSearch(CodeProblem):
    """The code cannot be searched so: {text}."""

    code = "code_invalid_search"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(text="; ".join(problem.message for problem in problems))
