"""``dcf memory consolidate``: memories put in order."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.asking import confirm
from dcf.cli.memory.entries import event_entry
from dcf.cli.memory.naming import agent_named, names_of
from dcf.cli.memory.opening import opened, person
from dcf.cli.memory.wording import fill_bar, moment, size_text
from dcf.cli.model_check import demand_model
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.wording import counted
from dcf.memory.consolidation import (
    STRATEGIES,
    Analysis,
    ConsolidationRunning,
    ConsolidationSettings,
    Consolidator,
    Metrics,
    Scheduler,
    SchedulerSettings,
    Session,
    Strategy,
    Write,
)

REFLECTOR = "reflector"
"""The role whose model writes what is shortened."""


@dataclass(frozen=True, slots=True)
class ConsolidationOrder:
    """What is done to an agent (None: to each that wants it), and how far it goes. By ``rules``
    alone, or what the model of reflectors writes, if one is configured."""

    agent: str | None
    settings: ConsolidationSettings
    strategies: tuple[Strategy, ...] = STRATEGIES
    dry_run: bool = False
    rules: bool = False


async def analyse(settings: Settings, name: str, how: ConsolidationSettings) -> Answer:
    """What an agent's memory takes, and what could be done about it."""
    async with opened(settings) as memory:
        agent = await agent_named(memory, name)
        found = await Consolidator(memory, settings=how).analyse(agent.id)
    return Answer({"agent": agent.name, "analysis": asdict(found)}, _analysis(agent.name, found))


async def consolidate(settings: Settings, order: ConsolidationOrder, screen: Screen) -> Answer:
    """Consolidate an agent, or all with ``enable_sleeptime`` but for those that somebody else
    consolidates now. Raises ConsolidationRunning for an agent that was named."""
    by = person("asked for by `dcf memory consolidate`") if order.agent else None
    if not order.rules:
        demand_model(settings, REFLECTOR)
    async with opened(settings) as memory:
        agents = [await agent_named(memory, order.agent)] if order.agent else None
        if agents is None:
            everybody = await memory.agents.list(limit=1 << 62)
            agents = [agent for agent in everybody if agent.enable_sleeptime]
        write = _writer(settings, rules=order.rules or order.dry_run)
        consolidator = Consolidator(memory, write=write, settings=order.settings)
        names = {agent.id: agent.name for agent in agents}
        sessions, left = [], list[ConsolidationRunning]()
        for number, agent in enumerate(agents, start=1):
            with screen.working(f"consolidating {agent.name} ({number} of {len(agents)})"):
                try:
                    sessions.append(
                        await consolidator.run(
                            agent.id,
                            strategies=order.strategies,
                            dry_run=order.dry_run,
                            **({} if by is None else {"by": by}),
                        )
                    )
                except ConsolidationRunning as running:
                    if order.agent:
                        raise
                    left.append(running)
    fields = {
        "sessions": [session_entry(session, names) for session in sessions],
        "problems": [running.problem.to_dict() for running in left],
    }
    show = [line for session in sessions for line in _session(session, names)]
    show += [Text(f"left alone: {running}", "yellow") for running in left]
    if not agents:
        show = ["No agent has sleeptime; `dcf memory agents NAME --sleeptime`, or name one."]
    return Answer(fields, show, "tried" if order.dry_run else "ok")


async def list_sessions(settings: Settings, name: str | None, limit: int) -> Answer:
    """The newest consolidations, of one agent or of all."""
    async with opened(settings) as memory:
        agent = None if name is None else await agent_named(memory, name)
        found = await Consolidator(memory).history(None if agent is None else agent.id, limit=limit)
        names = await names_of(memory)
    fields = {"sessions": [session_entry(session, names) for session in found]}
    show = [line for session in found for line in _session(session, names)]
    return Answer(fields, show or ["Nothing was consolidated yet."])


async def undo_session(
    settings: Settings, session_id: str, screen: Screen, *, dry_run: bool, sure: bool
) -> Answer:
    """Undo all that a consolidation did, once that is confirmed."""
    by = person("asked for by `dcf memory consolidate --rollback`")
    async with opened(settings) as memory:
        consolidator = Consolidator(memory)
        session = await consolidator.get(session_id)
        names = await names_of(memory)
        tried = await consolidator.rollback(session_id, by=by, dry_run=True)
        if not dry_run:
            if not sure:
                for line in _session(session, names):
                    screen.human.print(line)
            rows = counted(len(tried), "row", "rows")
            confirm(f"Undo it ({rows})?", screen, sure=sure)
            tried = await consolidator.rollback(session_id, by=by)
    fields = {
        "session": session_entry(session, names),
        "events": [event_entry(event) for event in tried],
    }
    rows, said = counted(len(tried), "row", "rows"), "would go back" if dry_run else "went back"
    return Answer(fields, [f"{session.id}: {rows} {said}."], "tried" if dry_run else "rolled_back")


async def watch(
    settings: Settings,
    how: ConsolidationSettings,
    when: SchedulerSettings,
    screen: Screen,
    *,
    rules: bool,
) -> Answer:
    """Consolidate agents with ``enable_sleeptime`` whenever they are idle, until Ctrl-C."""
    count = 0
    if not rules:
        demand_model(settings, REFLECTOR)
    async with opened(settings) as memory:
        write = _writer(settings, rules=rules)
        scheduler = Scheduler(Consolidator(memory, write=write, settings=how), when)
        screen.say(f"looking every {when.interval_s:g} s; Ctrl-C ends it")
        try:
            while True:
                sessions = await scheduler.tick()
                count += len(sessions)
                names = await names_of(memory) if sessions else {}
                for session in sessions:
                    for line in _session(session, names):
                        screen.human.print(line)
                await asyncio.sleep(when.interval_s)
        except asyncio.CancelledError:
            pass
    told = f"stopped after {counted(count, 'consolidation', 'consolidations')}"
    return Answer({"consolidations": count}, [told], status="stopped")


def _writer(settings: Settings, *, rules: bool) -> Write | None:
    """What has a model write; None where rules do."""
    if rules:
        return None
    from dcf.agents import consolidation_writer
    from dcf.agents.models import Models

    return consolidation_writer(Models(settings.env), settings.env)


def session_entry(session: Session, names: dict[str, str]) -> dict[str, Any]:
    """A consolidation as ``--json`` has it."""
    return {**asdict(session), "agent": names.get(session.agent_id)}


def _session(session: Session, names: dict[str, str]) -> list[Any]:
    name = names.get(session.agent_id, session.agent_id)
    status = session.status.replace("_", " ")
    used = f", {session.tokens:,} tokens of models" if session.tokens else ""
    lines: list[Any] = [
        Text.assemble(
            (name, "bold"),
            f"  {status}  {session.id}",
            (f"  {moment(session.started_at)}, by {session.actor}{used}", "dim"),
        ),
        Text(f"  {_difference(session.before, session.after)}"),
    ]
    for change in session.changes:
        what = change.label or "messages and history"
        sizes = f"{size_text(change.before)} → {size_text(change.after)}"
        by = " (a model wrote it)" if change.by_model else ""
        lines.append(Text(f"  {change.strategy} {what}: {sizes}: {change.reason}{by}"))
    for left in session.left_out:
        what = left.label or "messages"
        lines.append(Text(f"  not done: {left.strategy} {what}: {left.reason}", "yellow"))
    return lines


def _difference(before: Metrics, after: Metrics) -> str:
    return (
        f"efficiency {before.efficiency:.2f} → {after.efficiency:.2f},"
        f" blocks {size_text(before.block_bytes)} → {size_text(after.block_bytes)},"
        f" messages {before.message_tokens:,} → {after.message_tokens:,} tokens"
    )


def _analysis(name: str, found: Analysis) -> list[Any]:
    metrics = found.metrics
    table = Table(box=None, pad_edge=False)
    for heading in ("block", "size of its target", "grown", "written", "twice"):
        table.add_column(heading, no_wrap=True)
    for block in found.blocks:
        table.add_row(
            Text(block.label, "bold"),
            fill_bar(block.size, block.target),
            f"{block.growth:+,}",
            f"{block.writes:,} times",
            f"{block.redundant:,}",
        )
    lines: list[Any] = [
        Text.assemble((name, "bold"), f"  efficiency {metrics.efficiency:.2f} of 1"),
        table,
        *(
            Text(f"left alone: {block.label}: {block.untouched}", "dim")
            for block in found.blocks
            if block.untouched
        ),
        f"{counted(metrics.messages, 'message', 'messages')} with {metrics.message_tokens:,} tokens"
        f" ({metrics.outside_tokens:,} outside the window),"
        f" {counted(metrics.passages, 'passage', 'passages')}",
    ]
    for one in found.suggestions:
        what = one.label or "messages and history"
        lines.append(f"{one.strategy} {what}: about {size_text(one.saves)}: {one.reason}")
    if not found.suggestions:
        lines.append("There is nothing to consolidate.")
    return lines
