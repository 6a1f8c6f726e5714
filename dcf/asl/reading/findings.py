"""The problems found while a definition is read, each with its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dcf.asl.errors import ExpressionError
from dcf.problem import Problem

_MANY = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, and what AWS's message for it contains besides its code and place: the ``aws``
    words themselves (``Minimum value is 1``), or the ``fields`` that it is about, which are missing
    or exclude each other; see ``dcf.asl.checks.aws_wording``."""

    problem: Problem
    aws: str = ""
    fields: tuple[str, ...] = ()


class Findings:
    """Collects problems; reading goes on so that one run reports all of them. ``aws`` and
    ``fields``: see Finding."""

    __slots__ = ("_all", "_seen", "problems")

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._all: list[Finding] = []
        self._seen: set[tuple[str, str, str]] = set()

    def error(
        self,
        code: str,
        pointer: str,
        message: str,
        hint: str = "",
        aws: str = "",
        fields: tuple[str, ...] = (),
    ) -> None:
        self._add(Finding(Problem(code, message, pointer, hint), aws, fields))

    def warning(self, code: str, pointer: str, message: str, hint: str = "", aws: str = "") -> None:
        self._add(Finding(Problem(code, message, pointer, hint, severity="warning"), aws))

    def consequence(self, code: str, pointer: str, message: str, hint: str, aws: str) -> None:
        """An error that goes when another one is mended: AWS lists it, people are spared it."""
        self._all.append(Finding(Problem(code, message, pointer, hint), aws))

    def expression(self, error: ExpressionError, pointer: str) -> None:
        self.error(error.code, pointer, error.message, error.hint, error.aws)

    @property
    def are_many(self) -> bool:
        """Whether there are so many that no more names are compared for hints: that takes long."""
        return len(self.problems) >= _MANY

    def with_aws(self) -> Iterator[Finding]:
        """Each problem with what AWS's words for it hold. Consequences are among them."""
        yield from self._all

    def _add(self, finding: Finding) -> None:
        problem = finding.problem
        # Two readers may meet the same fault: a field is read once for its type, once for its rule.
        key = (problem.code, problem.path, problem.message)
        if key in self._seen:
            return
        self._seen.add(key)
        self._all.append(finding)
        self.problems.append(problem)


def child(pointer: str, *parts: str | int) -> str:
    """The JSON pointer of a member below ``pointer``."""
    for part in parts:
        step = str(part)
        if "~" in step or "/" in step:
            step = step.replace("~", "~0").replace("/", "~1")
        pointer = f"{pointer}/{step}"
    return pointer
