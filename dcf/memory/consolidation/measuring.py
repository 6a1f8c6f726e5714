"""Measuring an agent's memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcf.memory.consolidation.drafts import Draft, merge
from dcf.memory.consolidation.likeness import Likeness
from dcf.memory.consolidation.session import Metrics
from dcf.memory.consolidation.snapshot import HeldBlock, Snapshot

_WEIGHTS = (0.5, 0.3, 0.2)
"""Of what is redundant, of what is too much, and of what does not fit in the window."""


class Measure:
    """Measures, and remembers what it compared: a transaction must not wait for that again."""

    def __init__(self, likeness: Likeness) -> None:
        self._likeness = likeness
        self._known: dict[tuple[tuple[str, str], ...], dict[str, int]] = {}

    def metrics(self, now: Snapshot) -> Metrics:
        """The metrics of a snapshot; ``Analysis`` has the formula of the efficiency."""
        total = sum(block.size for block in now.blocks)
        redundant = sum(self.redundancy(now.blocks).values())
        own = [block for block in now.blocks if block.untouched is None]
        excess = sum(max(block.size - block.target, 0) for block in own)
        tokens = sum(row["tokens"] for row in now.live)
        outside = sum(row["tokens"] for row in now.live if row["seq"] in now.outside)
        parts = (_part(redundant, total), _part(excess, total), _part(outside, tokens))
        lost = sum(weight * part for weight, part in zip(_WEIGHTS, parts, strict=True))
        return Metrics(
            efficiency=round(1 - lost, 4),
            blocks=len(now.blocks),
            block_bytes=total,
            redundant_bytes=redundant,
            excess_bytes=excess,
            passages=now.passage_count,
            messages=len(now.live),
            message_tokens=tokens,
            outside_tokens=outside,
            history_bytes=now.history_bytes,
        )

    def redundancy(self, blocks: Sequence[HeldBlock]) -> dict[str, int]:
        """Bytes that merging would take out, by label, of the blocks that may be changed."""
        drafts = [Draft(block) for block in blocks if block.untouched is None]
        key = tuple((draft.label, draft.text) for draft in drafts)
        if key not in self._known:
            merge(drafts, self._likeness)
            self._known[key] = {draft.label: draft.held.size - draft.size for draft in drafts}
        return self._known[key]

    def expect(self, drafts: Sequence[Draft]) -> None:
        """Compare what the drafts will be, so that it is known when they are written."""
        self.redundancy(
            [replace(draft.held, row={**draft.held.row, "value": draft.text}) for draft in drafts]
        )


def _part(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
