"""A text as a reader sees it, and where each part of it stands in what is written."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from dcf.secret_form.found import Found


class Bit(NamedTuple):
    """Some signs that are seen. They are those from ``start`` up to, but not with, ``end`` in what
    is written: as they are, or as something else that stands for all of them, as ``&amp;`` does.
    Where both are the same, nobody wrote them: a bar between two cells."""

    text: str
    start: int = 0
    end: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether each sign is one that is written."""
        return len(self.text) == self.end - self.start


class View:
    """What is seen of a text; ``bits`` are in the order in which they are seen."""

    def __init__(self, bits: Iterable[Bit]) -> None:
        self._bits = [bit for bit in bits if bit.text]
        self._begins: list[int] = []
        at = 0
        for bit in self._bits:
            self._begins.append(at)
            at += len(bit.text)
        self.text = "".join(bit.text for bit in self._bits)

    def written(self, found: Iterable[Found]) -> Iterator[Found]:
        """What is ``found`` in ``text``, where it is written: a part for each bit."""
        for one in found:
            first = bisect_right(self._begins, one.start) - 1
            last = bisect_right(self._begins, one.end - 1)
            for begin, bit in zip(self._begins[first:last], self._bits[first:last], strict=True):
                if bit.start == bit.end:
                    continue
                start, end = bit.start, bit.end
                if bit.is_exact:
                    start += max(0, one.start - begin)
                    end = min(end, bit.start + one.end - begin)
                yield replace(one, start=start, end=end)
