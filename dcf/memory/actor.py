"""Who changes something in the memory, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

ActorKind: TypeAlias = Literal["user", "agent", "system", "consolidator"]


@dataclass(frozen=True, slots=True)
class Actor:
    """Recorded with every change. ``name`` is a person's name, an agent's id or a part of DCF."""

    kind: ActorKind
    name: str
    reason: str = ""

    def because(self, reason: str) -> Actor:
        """The same actor with another reason."""
        return Actor(self.kind, self.name, reason)


SYSTEM = Actor("system", "dcf")
