"""``dcf graph sync``."""

from __future__ import annotations

from dataclasses import asdict

from dcf.cli.answer import Answer
from dcf.cli.graph.access import open_graph
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.wording import counted


async def sync_graph(settings: Settings, screen: Screen, *, everything: bool) -> Answer:
    """Write out what waits, and say how much that was."""
    async with open_graph(settings, screen, everything=everything) as (knowledge, done):
        runs = counted(done.runs, "run", "runs")
        outcomes = counted(done.outcomes, "outcome", "outcomes")
        records = counted(done.records, "record", "records")
        line = f"written: {runs}, {outcomes} of tasks, {records}"
        return Answer(
            {"written": asdict(done), "graph": knowledge.graph.label},
            [line if done.runs or done.records else "The graph has everything."],
        )
