"""Running text with marks of emphasis, code and links, as Markdown has them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_BLANKS = re.compile(r"[ \t\xa0\n]+")


@dataclass(slots=True)
class _Mark:
    opening: str
    closing: str
    is_written: bool = False


@dataclass(slots=True)
class MarkedText:
    """Collects a paragraph row by row, each with the number of its line. A mark is written before
    the first word inside of it and behind the last one, so that one around nothing is not."""

    _rows: list[tuple[int, list[str]]] = field(default_factory=list)
    _marks: list[_Mark] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self._rows)

    def open(self, opening: str, closing: str = "") -> None:
        """Begin what is marked."""
        self._marks.append(_Mark(opening, closing or opening))

    def close(self, opening: str) -> None:
        """End the innermost thing that ``opening`` marks."""
        for at in range(len(self._marks) - 1, -1, -1):
            if self._marks[at].opening == opening:
                mark = self._marks.pop(at)
                if mark.is_written:
                    self._end(mark)
                return

    def is_marked(self, opening: str) -> bool:
        """Whether what follows is inside of it."""
        return any(mark.opening == opening for mark in self._marks)

    def say(self, text: str, line: int) -> None:
        """Add ``text``, which begins on ``line`` and may have several lines."""
        for at, row in enumerate(text.split("\n")):
            said = _BLANKS.sub(" ", row)
            if said.strip():
                self._row(line + at).append(self._begun(said))
            elif said and self._rows and self._rows[-1][0] == line + at:
                self._rows[-1][1].append(said)

    def break_row(self, line: int) -> None:
        """What follows stands below."""
        if self._rows:
            self._rows.append((line, []))

    def taken(self) -> list[tuple[int, str]]:
        """The rows so far; what is marked goes on behind them."""
        for mark in reversed(self._marks):
            if mark.is_written:
                self._end(mark)
                mark.is_written = False
        rows = [(line, _BLANKS.sub(" ", "".join(parts)).strip()) for line, parts in self._rows]
        self._rows = []
        return [(line, text) for line, text in rows if text]

    def _row(self, line: int) -> list[str]:
        if not self._rows or self._rows[-1][0] != line:
            self._rows.append((line, []))
        return self._rows[-1][1]

    def _begun(self, said: str) -> str:
        waiting = "".join(mark.opening for mark in self._marks if not mark.is_written)
        for mark in self._marks:
            mark.is_written = True
        begin = len(said) - len(said.lstrip())
        return said[:begin] + waiting + said[begin:]

    def _end(self, mark: _Mark) -> None:
        parts = self._rows[-1][1] if self._rows else []
        if parts:
            said = parts[-1].rstrip()
            parts[-1] = said + mark.closing + parts[-1][len(said) :]
