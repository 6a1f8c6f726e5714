"""Playbooks as they are offered to a context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from dcf.memory.context.packing import Offer
from dcf.memory.playbook import PlaybookMatch


@dataclass(frozen=True, slots=True)
class PlaybookOffer(Offer):
    """The playbook ``playbook_id`` as it is offered."""

    playbook_id: str

    @classmethod
    def of(cls, match: PlaybookMatch) -> Self:
        """A playbook that fits an error of the work."""
        one = match.playbook
        row = f"{one.id}: {' '.join(one.pattern.split())}"
        return cls(one.citation, row, match.text, match.reason, one.id)
