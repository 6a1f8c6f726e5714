"""``dcf memory stats``: how much there is, and where."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.memory.naming import names_of
from dcf.cli.memory.opening import opened, source_in
from dcf.cli.memory.wording import fill_bar, one_line, size_text
from dcf.cli.settings import Settings
from dcf.memory import Stats


async def show_stats(settings: Settings, *, agents: int, blocks: int) -> Answer:
    """What the memory holds, in detail of so many agents and blocks, the largest."""
    async with opened(settings) as memory:
        found = await memory.stats(agents=agents, blocks=blocks)
        holders = {
            block.block_id: await memory.blocks.holders(block.block_id)
            for block in found.largest_blocks
        }
        names = await names_of(memory)
    held = {key: ", ".join(names.get(one, one) for one, _ in who) for key, who in holders.items()}
    path = source_in(settings).path
    fields = {"memory": str(path), **asdict(found)}
    return Answer(fields, [_heading(str(path), found), *_tables(found, held)])


def _heading(path: str, found: Stats) -> str:
    parts = [f"version {found.version}", size_text(found.file_bytes)]
    if found.free_bytes:
        parts.append(f"{size_text(found.free_bytes)} of it unused")
    if found.wal_bytes:
        parts.append(f"{size_text(found.wal_bytes)} not yet merged")
    history = f"changes {found.border + 1} to {found.last_event}"
    return f"{path}: {', '.join(parts)}; {history}"


def _tables(found: Stats, held: dict[str, str]) -> list[Any]:
    """``held`` are the names of those who hold a block, by its id."""
    kinds = _table("kind", "count", "text and data")
    for kind in found.kinds:
        kinds.add_row(kind.kind.replace("_", " "), f"{kind.count:,}", size_text(kind.bytes))
    parts: list[Any] = [kinds]
    if found.agents:
        agents = _table("agent", "blocks", "messages", "passages", "changes", "size")
        for agent in found.agents:
            agents.add_row(
                Text(agent.name, "bold"),
                f"{agent.blocks:,}",
                f"{agent.messages:,}" + (f" ({agent.archived:,} archived)" * (agent.archived > 0)),
                f"{agent.passages:,}",
                f"{agent.events:,}",
                size_text(agent.bytes),
            )
        parts.append(agents)
    filled = [block for block in found.largest_blocks if block.bytes]
    if filled:
        largest = _table("largest blocks", "", "held by")
        for block in filled:
            bar = fill_bar(block.bytes, block.hard_limit)
            who = Text(one_line(held[block.block_id], 40))
            largest.add_row(Text(block.label, "bold"), bar, who)
        parts.append(largest)
    return parts


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for number, heading in enumerate(headings):
        left = number == 0 or not heading
        table.add_column(heading, justify="left" if left else "right", no_wrap=True)
    return table
