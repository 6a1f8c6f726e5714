"""Blocks on their way to what they will be."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from dcf.memory.consolidation.likeness import Likeness
from dcf.memory.consolidation.lines import is_data
from dcf.memory.consolidation.merging import merged_lines, repeats
from dcf.memory.consolidation.session import ConsolidationChange, LeftOut
from dcf.memory.consolidation.settings import ConsolidationSettings
from dcf.memory.consolidation.shortening import shortened
from dcf.memory.consolidation.snapshot import HeldBlock
from dcf.memory.consolidation.strategy import Strategy
from dcf.memory.consolidation.writing import Writer, block_prompt
from dcf.search import words


@dataclass(frozen=True, slots=True)
class Edit:
    """The text becomes ``text``. ``keep`` is what goes to the archive before that."""

    change: ConsolidationChange
    text: str
    keep: str


@dataclass(slots=True)
class Draft:
    """A block, and the edits that were thought of."""

    held: HeldBlock
    edits: list[Edit] = field(default_factory=list)

    @property
    def label(self) -> str:
        return self.held.label

    @property
    def text(self) -> str:
        return self.edits[-1].text if self.edits else str(self.held.row["value"])

    @property
    def size(self) -> int:
        return len(self.text.encode())

    def edit(
        self,
        strategy: Strategy,
        text: str,
        reason: str,
        keep: str,
        *,
        by_model: bool = False,
    ) -> None:
        change = ConsolidationChange(
            strategy, self.label, self.size, len(text.encode()), reason, by_model
        )
        self.edits.append(Edit(change, text, keep))


def merge(drafts: Sequence[Draft], likeness: Likeness) -> None:
    """Take out of each block the lines that others of it say."""
    for draft in drafts:
        merged = merged_lines(draft.text, likeness)
        if merged.count:
            lines = "1 line says" if merged.count == 1 else f"{merged.count} lines say"
            reason = f"{lines} what another line of the block says"
            gone = "\n".join(merged.gone)
            draft.edit("merge", merged.text, reason, gone)


def repeated(drafts: Sequence[Draft], likeness: Likeness) -> list[LeftOut]:
    """Blocks that say nothing which another one does not say. They stay: what a line means depends
    on the label that it stands under, and no two blocks of an agent have the same."""
    left_out: list[LeftOut] = []
    said: list[Draft] = []
    # A block is repeated by one that says as much or more.
    for draft in sorted(drafts, key=lambda one: -one.size):
        other = next((one for one in said if repeats(draft.text, one.text, likeness)), None)
        if other is None:
            said.append(draft)
        else:
            reason = f"block {other.label!r} says all that it says; blocks are not merged by rule"
            left_out.append(LeftOut("merge", draft.label, reason))
    return left_out


async def summarize(
    drafts: Sequence[Draft], settings: ConsolidationSettings, writer: Writer
) -> list[LeftOut]:
    """Shorten blocks over their targets; what was not done as it should have been."""
    left_out: list[LeftOut] = []
    for draft in drafts:
        target = draft.held.target
        if settings.level == 0 or draft.size <= target:
            continue
        if is_data(draft.text):
            reason = "it is JSON, of which nothing can be left out"
            left_out.append(LeftOut("summarize", draft.label, reason))
            continue
        room = settings.room(target)
        before, text = draft.text, None
        reason = f"it has {draft.size:,} bytes, and should have {target:,}"
        if writer.is_there:
            prompt = block_prompt(draft.label, before, room)
            text, failed = await writer.ask(prompt, room, before)
            if text is None:
                left_out.append(LeftOut("summarize", draft.label, failed))
        by_model = text is not None
        if text is None:
            text = await asyncio.to_thread(shortened, before, room)
        if not words(text):
            # Emptying is not shortening: the agent would stand there without what it knew.
            reason = f"nothing of it fits in {room:,} bytes; raise its limits"
            left_out.append(LeftOut("summarize", draft.label, reason))
            continue
        draft.edit("summarize", text, reason, before, by_model=by_model)
    return left_out
