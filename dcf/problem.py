"""A problem found in something the user wrote: where it is, which rule, how to mend it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Severity = Literal["error", "warning"]

_LONGEST = 1_000
"""Characters of a message or hint."""
_KEPT = 200
"""Characters at either end of one that is longer."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding. Validators return all of them at once, never only the first.

    ``code`` is stable (scripts may match it); ``path`` is the place inside the document in
    JSON-Pointer form (``/States/Pay/Next``); ``line`` and ``column`` count from 1. A text that
    quotes a value as large as its author liked is shortened in the middle.
    """

    code: str
    message: str
    path: str = ""
    hint: str = ""
    severity: Severity = "error"
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __post_init__(self) -> None:
        for name in ("message", "hint"):
            text = getattr(self, name)
            if len(text) > _LONGEST:
                object.__setattr__(self, name, f"{text[:_KEPT]} … {text[-_KEPT:]}")

    @property
    def is_error(self) -> bool:
        return self.severity == "error"

    def at(
        self, *, file: str | None = None, line: int | None = None, column: int | None = None
    ) -> Problem:
        """The same problem, placed in a file."""
        return replace(
            self,
            file=self.file if file is None else file,
            line=self.line if line is None else line,
            column=self.column if column is None else column,
        )

    def to_dict(self) -> dict[str, Any]:
        """A JSON object with every field, for ``--json`` output."""
        return asdict(self)

    @property
    def with_hint(self) -> str:
        """What is wrong and how to mend it as one sentence, for answers that have one text."""
        said = self.message.removesuffix(".")
        return f"{said}; hint: {self.hint}" if self.hint else self.message

    def __str__(self) -> str:
        file = printable(self.file or "")
        place = ":".join(str(part) for part in (file, self.line, self.column) if part)
        # A message for those who see no path says it.
        said = self.message.startswith(f"{self.path} ")
        where = " ".join(part for part in (place, "" if said else self.path) if part)
        text = (
            f"{where}: {self.severity}: {self.message} [{self.code}]"
            if where
            else (f"{self.severity}: {self.message} [{self.code}]")
        )
        return f"{text}\n    hint: {self.hint}" if self.hint else text


def printable(text: str) -> str:
    """``text`` in one line, what is no sign to be seen escaped: names of files may have any.

    >>> printable("a\\nb.md")
    'a\\\\nb.md'
    """
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)


def has_errors(problems: Iterable[Problem]) -> bool:
    """Whether any of ``problems`` is more than a warning."""
    return any(problem.is_error for problem in problems)


class ProblemError(Exception):
    """What was wanted cannot be done.

    The docstring of a class is its message, filled in with ``fields``; ``code`` is stable, ``hint``
    says what to do.
    """

    code = "problem"
    hint = ""

    def __init__(self, **fields: object) -> None:
        self.fields = fields
        super().__init__((type(self).__doc__ or "").strip().format(**fields))

    @property
    def problem(self) -> Problem:
        """The same for people and for ``--json``."""
        return Problem(code=self.code, message=str(self), hint=self.hint)
