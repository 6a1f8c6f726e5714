"""What a tree of nodes must be: a dictionary, trivially simple."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Tree:
    """What must be true: parents by node, and entries in the order in which they were made, each
    with its node, its text and what it shadows."""

    parents: dict[str, str | None] = field(default_factory=dict)
    entries: dict[str, tuple[str, str, str | None]] = field(default_factory=dict)

    def lineage(self, node: str | None) -> list[str]:
        """The node and its ancestors, upwards."""
        found = []
        while node is not None:
            found.append(node)
            node = self.parents[node]
        return found

    def read(self, node: str) -> dict[str, str]:
        """The texts that are read in a node, by entry."""
        return self.of(self.lineage(node))

    def of(self, nodes: Sequence[str]) -> dict[str, str]:
        """The texts of some nodes, by entry, without those for which a nearer one has another."""
        depths = {one: len(self.lineage(one)) for one in nodes if one in self.parents}
        here = {one: it for one, it in self.entries.items() if it[0] in depths}
        hidden = {
            shadows
            for owner, _, shadows in here.values()
            if shadows in here and depths[owner] > depths[here[shadows][0]]
        }
        return {one: text for one, (_, text, _) in here.items() if one not in hidden}

    def below(self, node: str) -> set[str]:
        """The node and all below it."""
        return {one for one in self.parents if node in self.lineage(one)}
