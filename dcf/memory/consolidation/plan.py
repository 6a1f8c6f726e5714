"""What a session is going to do."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field

from dcf.memory.consolidation.compressing import (
    AT_ONCE,
    AT_ONCE_SIZE,
    Packed,
    changes_of,
    compressed,
)
from dcf.memory.consolidation.conversation import Farewell, archive
from dcf.memory.consolidation.drafts import Draft, merge, repeated, summarize
from dcf.memory.consolidation.likeness import Likeness
from dcf.memory.consolidation.passages import PassageMerge, passage_merges
from dcf.memory.consolidation.session import ConsolidationChange, LeftOut
from dcf.memory.consolidation.settings import ConsolidationSettings
from dcf.memory.consolidation.snapshot import HeldBlock, Snapshot, packable_rows
from dcf.memory.consolidation.strategy import Strategy
from dcf.memory.consolidation.writing import Writer
from dcf.memory.ledger import Ledger


@dataclass(slots=True)
class Plan:
    """Changes that were thought of, for rows as a snapshot has them. ``drafts`` are all blocks that
    may be changed."""

    drafts: list[Draft]
    passages: list[PassageMerge] = field(default_factory=list)
    farewell: Farewell | None = None
    events: list[Packed] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    @property
    def changes(self) -> list[ConsolidationChange]:
        """What it comes to if nothing stands in the way."""
        return [
            *(edit.change for draft in self.drafts for edit in draft.edits),
            *map(passage_change, self.passages),
            *([] if self.farewell is None else [self.farewell.change]),
            *changes_of(self.events),
        ]


async def planned(
    now: Snapshot,
    strategies: Collection[Strategy],
    settings: ConsolidationSettings,
    likeness: Likeness,
    writer: Writer,
    ledger: Ledger,
) -> Plan:
    """What is to be done about ``now``. What computes runs in a thread."""
    drafts = [Draft(block) for block in now.blocks if block.untouched is None]
    plan = Plan(drafts)
    if "merge" in strategies:
        await asyncio.to_thread(merge, drafts, likeness)
        plan.passages = await asyncio.to_thread(passage_merges, now.passages, likeness)
    if "summarize" in strategies:
        plan.left_out += await summarize(drafts, settings, writer)
        if "merge" in strategies:
            # What was shortened may say something twice that was said in longer ways.
            await asyncio.to_thread(merge, drafts, likeness)
        plan.left_out += [_over(block) for block in now.blocks if _is_stuck(block)]
    if "merge" in strategies:
        plan.left_out += await asyncio.to_thread(repeated, drafts, likeness)
    if "archive" in strategies:
        plan.farewell, left_out = await archive(now, settings, writer)
        plan.left_out += left_out
    if "compress" in strategies and settings.level > 0 and now.history_bytes:
        before = now.at - settings.compress_after_ms
        rows = await ledger.read(
            lambda connection: packable_rows(
                connection, now.agent_id, before, AT_ONCE, AT_ONCE_SIZE
            )
        )
        plan.events = await asyncio.to_thread(compressed, rows, settings.level)
    return plan


def passage_change(merge: PassageMerge) -> ConsolidationChange:
    """What merging passages comes to."""
    count = len(merge.gone)
    reason = f"{count + 1} passages say the same: {merge.kept['id']} stays"
    return ConsolidationChange("merge", None, merge.before, merge.after, reason)


def _is_stuck(block: HeldBlock) -> bool:
    return block.untouched is not None and block.size > block.target


def _over(block: HeldBlock) -> LeftOut:
    reason = f"it has {block.size:,} bytes, and should have {block.target:,}; {block.untouched}"
    return LeftOut("summarize", block.label, reason)
