"""A place in an authored document: a value together with where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dcf.problem import Problem, Severity

Mark = tuple[int, int]  # line and column, both from 1


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file as JSON values, with the mark of every member and element by JSON pointer."""

    file: str
    value: Any
    marks: Mapping[str, Mark]

    @property
    def root(self) -> Place:
        return Place(self, "", self.value)


@dataclass(frozen=True, slots=True)
class Place:
    """One value of a document. Its readers answer None or nothing when the type is another one:
    the shape check reports that, and the other checks go on with what is there."""

    document: Document
    pointer: str
    value: Any

    def member(self, name: str) -> Place | None:
        """The member called ``name``, or None."""
        if not isinstance(self.value, dict) or name not in self.value:
            return None
        return Place(self.document, f"{self.pointer}/{escape(name)}", self.value[name])

    def members(self) -> Iterator[tuple[str, Place]]:
        if isinstance(self.value, dict):
            for name, value in self.value.items():
                yield name, Place(self.document, f"{self.pointer}/{escape(name)}", value)

    def element(self, index: int) -> Place | None:
        """The element at ``index``, or None."""
        if not isinstance(self.value, list) or index >= len(self.value):
            return None
        return Place(self.document, f"{self.pointer}/{index}", self.value[index])

    def elements(self) -> Iterator[Place]:
        if isinstance(self.value, list):
            for index, value in enumerate(self.value):
                yield Place(self.document, f"{self.pointer}/{index}", value)

    def descend(self, steps: Iterable[str | int]) -> Place:
        """The place reached by member names and indices, as far as they lead."""
        here = self
        for step in steps:
            found = here.element(step) if isinstance(step, int) else here.member(step)
            if found is None:
                return here
            here = found
        return here

    def inside(self, *names: str) -> Place | None:
        """The place reached by the member names one after another, or None."""
        here: Place | None = self
        for name in names:
            here = here.member(name) if here else None
        return here

    def text(self, *names: str) -> str | None:
        """The text at ``names`` below this place, or None."""
        place = self.inside(*names)
        return place.value if place and isinstance(place.value, str) else None

    @property
    def mark(self) -> Mark:
        """Line and column of this value, or of the nearest value around it."""
        pointer = self.pointer
        while pointer and pointer not in self.document.marks:
            pointer = pointer.rpartition("/")[0]
        return self.document.marks.get(pointer, (1, 1))

    def problem(
        self, code: str, message: str, hint: str = "", severity: Severity = "error"
    ) -> Problem:
        line, column = self.mark
        return Problem(
            code, message, self.pointer, hint, severity, self.document.file, line, column
        )


def escape(name: str) -> str:
    """``name`` as one step of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")
