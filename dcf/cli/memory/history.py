"""``dcf memory history``: who changed what, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dcf.cli.answer import Answer
from dcf.cli.memory.changes import described
from dcf.cli.memory.entries import event_entry
from dcf.cli.memory.naming import id_of, names_of
from dcf.cli.memory.opening import opened
from dcf.cli.settings import Settings
from dcf.cli.wording import counted


@dataclass(frozen=True, slots=True)
class HistoryQuestion:
    """Which changes: of everything, of an agent (which may be gone), of what is a label for it; of
    one consolidation; older than the event ``before``; at most ``limit``."""

    agent: str | None = None
    label: str | None = None
    consolidation: str | None = None
    before: int | None = None
    limit: int = 20


async def show_history(settings: Settings, asked: HistoryQuestion) -> Answer:
    """The changes, newest first, each with what it was before and after."""
    async with opened(settings) as memory:
        agent_id = None if asked.agent is None else await id_of(memory, asked.agent)
        events = await memory.events.list(
            agent_id=agent_id,
            label=asked.label,
            consolidation_id=asked.consolidation,
            before=asked.before,
            limit=asked.limit + 1,
        )
        shown, more = events[: asked.limit], len(events) > asked.limit
        agents = await names_of(memory)
        lines: list[Any] = []
        for event in shown:
            lines += await described(memory, event, agents)
    fields = {"events": [event_entry(event) for event in shown], "more": more}
    if not shown:
        return Answer(fields, ["No changes."])
    lines.append(counted(len(shown), "change", "changes") + (_older(shown[-1].seq) if more else ""))
    return Answer(fields, lines)


def _older(seq: int) -> str:
    return f"; --before {seq} shows older ones"
