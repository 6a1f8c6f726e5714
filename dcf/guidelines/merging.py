"""Changing guidelines: every function gives a new document, of the same revision."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from dcf.guidelines.document import Guidelines
from dcf.guidelines.item import ITEMS, Item
from dcf.guidelines.rules import Rules


def merge(guidelines: Guidelines, items: Iterable[Item], now: int) -> Guidelines:
    """``guidelines`` with ``items``, which go last. One that says what an item there says, or comes
    from the same insight, takes its place, unless that one counts for more (``Item.rank``) or, of
    the same rank, has newer evidence. Items without a time of evidence begin to age at ``now``
    (ms). How many a list may have is not looked at: see ``fitted``."""
    changed = {kind.LIST: list(guidelines.items(kind)) for kind in ITEMS}
    for given in items:
        item = given
        if item.last_evidence_at is None:
            item = replace(item, last_evidence_at=now)
        kept = changed[item.LIST]
        for index, old in enumerate(kept):
            if _is_one(old, item):
                kept[index] = _better(old, item)
                break
        else:
            kept.append(item)
    return guidelines.with_items(changed)


def without_insights(guidelines: Guidelines, ids: Collection[str]) -> Guidelines:
    """``guidelines`` without the items that come from the insights ``ids``."""
    return _keeping(guidelines, lambda item: item.insight not in ids)


def expired(guidelines: Guidelines, now: int, rules: Rules) -> tuple[Item, ...]:
    """The items without evidence for longer than the rules allow, at ``now`` (ms)."""
    return tuple(
        item
        for kind in ITEMS
        for item in guidelines.items(kind)
        if item.last_evidence_at is not None and now - item.last_evidence_at > rules.expiry_ms
    )


def without_expired(guidelines: Guidelines, now: int, rules: Rules) -> Guidelines:
    """``guidelines`` without the ``expired`` items."""
    gone = {id(item) for item in expired(guidelines, now, rules)}
    return _keeping(guidelines, lambda item: id(item) not in gone)


def with_insights(guidelines: Guidelines, insights: Sequence[Any], rules: Rules) -> Guidelines:
    """``guidelines`` with ``insights`` (JSON values, the newest first) before the recent ones; one
    with an ``id`` that is there already takes the other's place."""
    known = {_insight_key(insight) for insight in insights}
    older = [one for one in guidelines.recent_insights if _insight_key(one) not in known]
    kept = (*insights, *older)[: rules.max_insights]
    return replace(guidelines, recent_insights=kept)


def next_revision(guidelines: Guidelines, now: int) -> Guidelines:
    """The document as it is published at ``now`` (ms)."""
    return replace(guidelines, revision=guidelines.revision + 1, last_updated=now)


def _insight_key(insight: Any) -> str:
    if isinstance(insight, dict) and isinstance(insight.get("id"), str):
        return str(insight["id"])
    return json.dumps(insight, sort_keys=True, ensure_ascii=False)


def _is_one(old: Item, new: Item) -> bool:
    return old.said == new.said or (new.insight is not None and old.insight == new.insight)


def _better(old: Item, new: Item) -> Item:
    if old.rank != new.rank:
        return max(old, new, key=lambda item: item.rank)
    return old if (old.last_evidence_at or 0) > (new.last_evidence_at or 0) else new


def _keeping(guidelines: Guidelines, keep: Callable[[Item], bool]) -> Guidelines:
    return guidelines.with_items(
        {kind.LIST: [item for item in guidelines.items(kind) if keep(item)] for kind in ITEMS}
    )
