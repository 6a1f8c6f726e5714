"""The problems of one text, collected while it is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from dcf.problem import Problem, Severity
from dcf.sop.language.phrase import Unreadable, check_length

T = TypeVar("T")


@dataclass(slots=True)
class Findings:
    """``mentioned`` are the words of phrases that could not be read: a step or a value among them
    may have been meant, so nobody is told that it is not used. ``cut_short``: part of the text was
    not read at all, so nothing can be said about the whole. One mistake is one problem."""

    file: str
    problems: list[Problem] = field(default_factory=list)
    mentioned: set[str] = field(default_factory=set)
    cut_short: bool = False
    _spoilt: set[int] = field(default_factory=set)

    def add(
        self, code: str, message: str, hint: str, line: int, severity: Severity = "error"
    ) -> None:
        """``line`` counts from 1; 0 stands for none."""
        self.problems.append(
            Problem(code, message, "", hint, severity, self.file or None, line or None)
        )

    def mention(self, text: str) -> None:
        """The words of ``text``, also two of them as one name: ``line item`` is ``line_item``."""
        words = re.findall(r"\w+", text)
        self.mentioned.update(words)
        self.mentioned.update(re.findall(r"\b\w++(?:\.\w++)+", text))
        self.mentioned.update(f"{one}_{next}".lower() for one, next in pairwise(words))

    def spoil(self, line: int) -> None:
        """Something under the step on ``line`` could not be read."""
        self._spoilt.add(line)

    def spoilt(self, line: int) -> bool:
        return line in self._spoilt

    def attempt(self, read: Callable[[], T], text: str, line: int) -> T | None:
        """What ``read`` makes of ``text``; None, and a problem, when it raises ``Unreadable``."""
        try:
            check_length(text)
            return read()
        except Unreadable as error:
            self.add(error.code, error.message, error.hint, line)
            self.mention(text)
            return None
