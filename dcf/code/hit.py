"""What a search of code gives."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.citation import Citation


@dataclass(frozen=True, slots=True)
class CodeHit:
    """Lines ``first_line`` to ``last_line`` (from 1, both included) of the file ``path``, which is
    relative to the root. ``symbol`` is the qualified name of what they define or stand in, empty
    outside of everything. ``text`` is of whole lines and costs ``tokens``. ``score`` is between 0
    and 1; it may be compared inside of one answer. ``why`` are the reasons, the strongest first.
    ``likeness`` is how near the question it is but for words, from 0 to 1: by meaning, by the names
    that it defines, 1 where a stack trace names it; None where only words were compared. ``frame``
    is its place among those that a stack trace names, from 0, the fault's; else None."""

    path: str
    first_line: int
    last_line: int
    symbol: str
    text: str
    tokens: int
    score: float
    why: tuple[str, ...]
    likeness: float | None = None
    frame: int | None = None

    @property
    def citation(self) -> str:
        """The address of its lines."""
        place = Citation("code", self.path, "line", number=self.first_line, last=self.last_line)
        return str(place)
