"""The list of steps that is being filled, and what the whole runbook declares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dcf.sop.procedure import Guardrail, Note, Value
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.flow import Node
from dcf.sop.runbook.sections import Section
from dcf.sop.runbook.wording import Piece


@dataclass(slots=True)
class Scope:
    """The list of nodes that is being filled. ``section`` names the anchors of its numbers,
    ``owner`` is the step that the list is inside of, ``numbers`` are those that a table gives to
    the section."""

    nodes: list[Node]
    section: int
    loops: int = 0
    owner: Node | None = None
    numbers: list[str] = field(default_factory=list)

    @property
    def last(self) -> Node | None:
        return self.nodes[-1] if self.nodes else None

    @property
    def told(self) -> Node | None:
        """The node that a sentence is about which only tells something."""
        return self.last or self.owner


@dataclass(slots=True)
class Found:
    """What the whole runbook declares besides its steps; ``consents`` are those of its rules."""

    guardrails: list[Guardrail] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    inputs: dict[str, Value] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    consents: list[Node] = field(default_factory=list)


class Reader(Protocol):
    """Who reads on: what stands below a sentence, or behind it."""

    def sentence(self, piece: Piece, scope: Scope, in_step: bool = False) -> None: ...

    def blocks(self, blocks: Sequence[Block], scope: Scope, in_step: bool = False) -> None: ...

    def more(self, rest: Sequence[Piece], below: Sequence[Block], scope: Scope) -> None: ...

    def section(
        self, section: Section, aside: bool = False, counted: bool = False
    ) -> list[Node]: ...
