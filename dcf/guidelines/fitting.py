"""What of guidelines there is room for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from dcf.guidelines.document import Guidelines
from dcf.guidelines.item import ITEMS, Item
from dcf.guidelines.rules import Rules


def fitted(
    guidelines: Guidelines, rules: Rules, limit: int | None = None
) -> tuple[Guidelines, tuple[str, ...]]:
    """``guidelines`` of which each list has at most ``max_items``, and which are no longer than
    ``limit`` bytes (None: as long as they like); and what was dropped for that, in words.

    From a list those that count least go first (``Item.rank``), among these the oldest. For want of
    bytes the oldest insights go first, then the items that count least, the least sure of them.
    """
    dropped: list[str] = []
    kept = {}
    for kind in ITEMS:
        items = guidelines.items(kind)
        gone = _least(items, len(items) - rules.max_items)
        dropped += [_said(item) for item in gone]
        kept[kind.LIST] = [item for item in items if not any(item is one for one in gone)]
    guidelines = guidelines.with_items(kept)
    while limit is not None and len(text_of(guidelines).encode()) > limit:
        if guidelines.recent_insights:
            dropped.append("the oldest of recent_insights")
            recent = guidelines.recent_insights[:-1]
            guidelines = replace(guidelines, recent_insights=recent)
            continue
        every: list[Item] = [item for kind in ITEMS for item in guidelines.items(kind)]
        if not every:
            break
        least = min(every, key=_worth)
        dropped.append(_said(least))
        left = [item for item in guidelines.items(type(least)) if item is not least]
        guidelines = guidelines.with_items({least.LIST: left})
    return guidelines, tuple(dict.fromkeys(dropped))


def text_of(guidelines: Guidelines) -> str:
    """The document as it stands in a memory block."""
    return json.dumps(guidelines.to_json(), ensure_ascii=False)


def _least(items: Sequence[Item], count: int) -> list[Item]:
    # The newest are last, and sorting keeps that order among those of one rank.
    return sorted(items, key=lambda item: item.rank)[: max(0, count)]


def _worth(item: Item) -> tuple[int, float, int]:
    return item.rank, item.confidence or 0.0, item.last_evidence_at or 0


def _said(item: Item) -> str:
    return f"{item.LIST}: {item.said[0]}"
