"""What could go into a packed context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Layer: TypeAlias = Literal["details", "index"]


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
