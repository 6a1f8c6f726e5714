"""What a search gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "message", "passage", "block", "observation", "thread", "entry", "document"
]

AGENT_KINDS: tuple[Kind, ...] = ("message", "passage", "block")
"""What agents have; the others are of projects, and entries of the nodes of these."""

KINDS: tuple[Kind, ...] = (*AGENT_KINDS, "observation", "thread", "entry", "document")

NODE_KINDS: tuple[Kind, ...] = ("observation", "thread", "entry")
"""What is read in a node: its lineage's entries, and what is of the project, which is its root."""


LEAST_SIMILARITY = 0.2
"""Of a text that is found by its meaning alone: everything is a little like everything else."""


@dataclass(frozen=True, slots=True)
class Found:
    """A text that was found. ``ref`` is its id; ``text`` is all of it, or of a long one the part
    around the first word that matches.

    An observation is in the memory of its ``project``; ``tags`` are its concepts. A turn of a
    ``thread`` is, too; ``seq`` is its number. An ``entry`` is of ``node_id``; its tag is its kind.
    A piece of a ``document`` is of its project; ``citation`` says where it stands there.

    ``score`` is made of ``words`` (0: none of the query; 1: about what each of them once gives),
    ``near`` (the part of ``words`` that the messages around it have) and ``similarity`` (of what is
    meant, -1 to 1; None where no vector was compared). A block that several agents hold comes once,
    as the block ``label`` of one of them. ``at`` is when it was written (a block: last changed), in
    ms.
    """

    kind: Kind
    ref: str
    agent_id: str | None
    label: str | None
    text: str
    score: float
    words: float
    near: float
    similarity: float | None
    at: int
    seq: int | None = None
    role: str | None = None
    sender: str | None = None
    project: str | None = None
    node_id: str | None = None
    tags: tuple[str, ...] = ()
    citation: str | None = None

    @property
    def says_it(self) -> bool:
        """Whether it has words of the query itself, not only beside it."""
        return self.words > self.near

    @property
    def answers(self) -> bool:
        """Whether its own words, or what is meant, brought it here."""
        return self.says_it or (self.similarity or 0.0) >= LEAST_SIMILARITY
