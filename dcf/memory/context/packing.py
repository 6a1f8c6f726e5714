"""Packing what is remembered into a context that has a hard limit.

What was offered first is told in full as long as the details' budget lasts; what does not fit has a
line in the index, which says what reading it would cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dcf.search import count_tokens, counts_of_tokens

Layer: TypeAlias = Literal["details", "index"]

_HEADINGS: dict[Layer, str] = {
    "details": "## What is known, each with its address",
    "index": "## Seen before: id, type, title, then source, age and tokens of all that is known",
}
_LAYERS: tuple[Layer, ...] = ("details", "index")
_BETWEEN = 2
"""Tokens that the line ends around an item may add."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Something worth telling: ``uri`` cites it, ``row`` is one line for an index, ``details`` all
    that is known, ``why`` the reason that it is offered."""

    uri: str
    row: str
    details: str
    why: str


@dataclass(frozen=True, slots=True)
class Packed:
    """An offer that is told, in which layer, and what that costs in tokens."""

    offer: Offer
    layer: Layer
    tokens: int


@dataclass(frozen=True, slots=True)
class Budget:
    """The most tokens of each layer, headings and all; ``rows`` is the most lines of the index."""

    details: int = 3_000
    index: int = 800
    rows: int = 50

    @property
    def tokens(self) -> int:
        """What a pack never exceeds."""
        return self.details + self.index


@dataclass(frozen=True, slots=True)
class Pack:
    """A context: ``text`` for a model, of ``tokens`` tokens; ``items`` are what is in it, in order;
    ``left_out`` is how many offers are not."""

    text: str
    tokens: int
    items: tuple[Packed, ...]
    left_out: int


def pack(offers: Sequence[Offer], budget: Budget | None = None) -> Pack:
    """The offers, the most wanted first, as far as the budget lasts. The same address comes once.

    Tokens are counted on the whole text, by ``count_tokens``: no pack has more than its budget.
    """
    budget = budget or Budget()
    seen: dict[str, Offer] = {}
    for one in offers:
        seen.setdefault(one.uri, one)
    wanted = list(seen.values())
    details = _taken("details", wanted, budget.details, len(wanted))
    told = {one.offer.uri for one in details}
    others = [one for one in wanted if one.uri not in told]
    index = _taken("index", others, budget.index, budget.rows)
    kept = [*_within(details, budget.details), *_within(index, budget.index)]
    text, tokens = _counted(kept)
    while tokens > budget.tokens:
        kept.pop()
        text, tokens = _counted(kept)
    return Pack(text, tokens, tuple(kept), len(wanted) - len(kept))


def beside(first: Pack, second: Pack) -> Pack:
    """Both of them, each within its own budget, as one, and how many ``first`` leaves out."""
    more = f"Not shown here: {first.left_out:,} more." if first.left_out else ""
    text = "\n\n".join(one for one in (first.text, more, second.text) if one)
    items = (*first.items, *second.items)
    left_out = first.left_out + second.left_out
    return Pack(text, count_tokens(text) if items else 0, items, left_out)


def _taken(layer: Layer, offers: Sequence[Offer], most: int, items: int) -> list[Packed]:
    """Those that fit, in order; one that is too long does not keep shorter ones out."""
    if most <= 0 or items <= 0:
        return []
    costs = counts_of_tokens([_told(layer, one) for one in offers]) if offers else []
    left = most - count_tokens(_HEADINGS[layer]) - _BETWEEN
    taken: list[Packed] = []
    for offer, cost in zip(offers, costs, strict=True):
        if len(taken) < items and cost + _BETWEEN <= left:
            taken.append(Packed(offer, layer, cost))
            left -= cost + _BETWEEN
    return taken


def _within(items: list[Packed], most: int) -> list[Packed]:
    """As many of the first as do not cost more than ``most`` together: texts side by side may cost
    more than each by itself."""
    while items and count_tokens(_text(items)) > most:
        items = items[:-1]
    return items


def _counted(items: Sequence[Packed]) -> tuple[str, int]:
    text = _text(items)
    return text, count_tokens(text) if items else 0


def _text(items: Sequence[Packed]) -> str:
    parts: list[str] = []
    for layer in _LAYERS:
        told = [_told(layer, one.offer) for one in items if one.layer == layer]
        if told:
            parts.append("\n".join([_HEADINGS[layer], *told]))
    return "\n\n".join(parts)


def _told(layer: Layer, offer: Offer) -> str:
    if layer == "index":
        return offer.row
    return f"{offer.details}\n({offer.uri})"
