"""The difference between two texts as one replaced stretch: what history keeps of a long text."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from dcf.memory.audit.clean_text import changed_part


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
    start, end = changed_part(before, after)
    kept = len(after) - end
    return Edit(
        start,
        before[start : len(before) - kept],
        after[start:end],
        digest_of(after),
    )


def digest_of(text: str) -> str:
    """32 hex digits that stand for ``text``."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
