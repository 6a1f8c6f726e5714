"""One difference between two versions, and the version number that it asks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Bump = Literal["none", "patch", "minor", "major"]
BUMPS: tuple[Bump, ...] = ("none", "patch", "minor", "major")


@dataclass(frozen=True, slots=True)
class Change:
    """``code`` is stable; ``place`` is where in the skill; ``text`` says what changed, ``reason``
    why that asks for ``bump``."""

    code: str
    place: str
    text: str
    bump: Bump
    reason: str

    def to_json(self) -> dict[str, str]:
        """``{code, place, text, bump, reason}``."""
        return {
            "code": self.code,
            "place": self.place,
            "text": self.text,
            "bump": self.bump,
            "reason": self.reason,
        }


def highest(bumps: Iterable[Bump]) -> Bump:
    """The greatest of ``bumps``; ``none`` of none."""
    return max(bumps, key=BUMPS.index, default="none")
