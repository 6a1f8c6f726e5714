"""How long logged items are kept: for ever, unless a tag says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcf.retrieval.item import Item


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """``by_tag`` has ms by tag. An item ends with the first of its tags."""

    by_tag: Mapping[str, int] = field(default_factory=dict)

    def is_over(self, item: Item, now: int) -> bool:
        """Whether ``item`` is not to be found any more at ``now`` (ms since the epoch)."""
        ages = [self.by_tag[tag] for tag in item.tags if tag in self.by_tag]
        return bool(ages) and item.timestamp + min(ages) <= now
