"""The problems found while a definition is read, each with its place."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.asl.errors import ExpressionError
from dcf.problem import Problem


class Findings:
    """Collects problems; reading goes on so that one run reports all of them.

    ``aws`` is what AWS says to the same fault, where its words hold something that code and place
    alone do not tell (``Minimum value is 1``); see ``dcf.asl.checks.aws_wording``.
    """

    __slots__ = ("_all", "_seen", "problems")

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._all: list[tuple[Problem, str]] = []
        self._seen: set[tuple[str, str, str]] = set()

    def error(self, code: str, pointer: str, message: str, hint: str = "", aws: str = "") -> None:
        self._add(Problem(code, message, pointer, hint), aws)

    def warning(self, code: str, pointer: str, message: str, hint: str = "", aws: str = "") -> None:
        self._add(Problem(code, message, pointer, hint, severity="warning"), aws)

    def consequence(self, code: str, pointer: str, message: str, hint: str, aws: str) -> None:
        """An error that goes when another one is mended: AWS lists it, people are spared it."""
        self._all.append((Problem(code, message, pointer, hint), aws))

    def expression(self, error: ExpressionError, pointer: str) -> None:
        self.error(error.code, pointer, error.message, error.hint)

    def with_aws(self) -> Iterator[tuple[Problem, str]]:
        """Each problem with AWS's words for it, empty where its code and place tell enough.

        Consequences are among them.
        """
        yield from self._all

    def _add(self, problem: Problem, aws: str) -> None:
        # Two readers may meet the same fault: a field is read once for its type, once for its rule.
        key = (problem.code, problem.path, problem.message)
        if key in self._seen:
            return
        self._seen.add(key)
        self._all.append((problem, aws))
        self.problems.append(problem)


def child(pointer: str, *parts: str | int) -> str:
    """The JSON pointer of a member below ``pointer``."""
    for part in parts:
        step = str(part)
        if "~" in step or "/" in step:
            step = step.replace("~", "~0").replace("/", "~1")
        pointer = f"{pointer}/{step}"
    return pointer
