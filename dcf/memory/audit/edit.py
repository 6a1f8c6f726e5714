"""The difference between two texts as one replaced stretch: what history keeps of a long text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b


@dataclass(frozen=True, slots=True)
class Edit:
    """At character ``at``, ``removed`` became ``added``. ``digest`` is that of the whole text
    afterwards, by which an edit knows the text that it can be undone in."""

    at: int
    removed: str
    added: str
    digest: str

    def undone(self, after: str) -> str:
        """The text before, of the text ``after``."""
        return after[: self.at] + self.removed + after[self.at + len(self.added) :]


def edit_between(before: str, after: str) -> Edit:
    """The shortest single stretch that turns ``before`` into ``after``."""
    shorter = min(len(before), len(after))
    start = _longest(shorter, lambda low, high: before[low:high] == after[low:high])
    end = _longest(
        shorter - start,
        lambda low, high: (
            before[len(before) - high : len(before) - low]
            == after[len(after) - high : len(after) - low]
        ),
    )
    return Edit(
        start,
        before[start : len(before) - end],
        after[start : len(after) - end],
        digest_of(after),
    )


def digest_of(text: str) -> str:
    """32 hex digits that stand for ``text``."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _longest(limit: int, same: Callable[[int, int], bool]) -> int:
    """The largest size up to ``limit`` for which all before it is the same; ``same`` compares from
    one size to another. By halves: comparing slices is fast, comparing characters in Python is
    not."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low
