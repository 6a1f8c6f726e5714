"""``dcf memory agents``: who remembers, and with which settings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.asking import confirm
from dcf.cli.memory.agent_settings import AgentSettings
from dcf.cli.memory.entries import agent_entry
from dcf.cli.memory.naming import agent_named, name_warnings
from dcf.cli.memory.opening import opened, person, source_in
from dcf.cli.memory.wording import moment, one_line
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.wording import counted
from dcf.memory import Agent, ContextTooSmall, Memory

_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class AgentChange:
    """What an agent is changed to: settings, another name, tags."""

    settings: AgentSettings
    rename: str | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    reason: str = ""


async def list_agents(
    settings: Settings, tags: tuple[str, ...], *, any_of: bool, limit: int
) -> Answer:
    """The agents with all (or any) of ``tags``, by name."""
    async with opened(settings) as memory:
        found: list[Agent] = []
        while len(found) < limit:
            page = await memory.agents.list(
                tags=tags,
                match="any" if any_of else "all",
                limit=min(_PAGE, limit + 1 - len(found)),
                after=found[-1].name if found else "",
            )
            found += page
            if len(page) < _PAGE:
                break
    shown, more = found[:limit], len(found) > limit
    fields = {"agents": [agent_entry(agent) for agent in shown], "more": more}
    if not shown:
        what = f" with {'any' if any_of else 'all'} of {', '.join(tags)}" if tags else ""
        return Answer(fields, [f"There are no agents{what}. `dcf memory init NAME` makes one."])
    count = f"the first {limit} agents" if more else counted(len(shown), "agent", "agents")
    own = [agent for agent in shown if not _run_of(agent)]
    show: list[Any] = [*([_table(own)] if own else []), *_of_runs(shown), count]
    return Answer(fields, [*show, *elsewhere(settings)])


async def show_agent(settings: Settings, name: str) -> Answer:
    """One agent with its settings."""
    async with opened(settings) as memory:
        agent = await agent_named(memory, name)
        return await _described(memory, agent)


async def change_agent(settings: Settings, name: str, change: AgentChange) -> Answer:
    """Give the agent other settings. Raises InvalidEntry with all that is wrong, AgentExists."""
    given, warnings = change.settings.fields(), change.settings.warnings(settings)
    warnings += name_warnings(change.rename)
    if change.rename is not None:
        given["name"] = change.rename
    by = person(change.reason or "changed by `dcf memory agents`")
    async with opened(settings) as memory:
        agent = await agent_named(memory, name)
        before = agent.revision
        if given:
            agent = await memory.agents.update(agent.id, by=by, **given)
        if change.add_tags or change.remove_tags:
            agent = await memory.agents.tag(
                agent.id, by=by, add=change.add_tags, remove=change.remove_tags
            )
        answer = await _described(memory, agent)
        if change.settings.context_window is not None:
            warnings += await _window_warnings(memory, agent)
    changed = agent.revision != before
    said = "changed" if changed else "is so already: nothing changed"
    fields = {**answer.fields, "changed": changed, "warnings": warnings}
    return Answer(fields, [f"{agent.name} {said}.", *warnings, *answer.show])


async def _window_warnings(memory: Memory, agent: Agent) -> list[str]:
    """Whether instructions and blocks alone are larger than the window."""
    try:
        await memory.contexts.assemble(agent.id)
    except ContextTooSmall as small:
        return [f"warning: {small}"]
    return []


async def delete_agent(settings: Settings, name: str, screen: Screen, *, sure: bool) -> Answer:
    """Remove an agent with what is its own, once that is confirmed."""
    async with opened(settings) as memory:
        agent = await agent_named(memory, name)
        lost = await _own(memory, agent)
        what = f"{agent.name} with {lost['text']}"
        if not sure:
            screen.say(f"This removes {what}.")
        confirm(f"Delete {agent.name}?", screen, sure=sure)
        before = await memory.events.last()
        await memory.agents.delete(agent.id, by=person("deleted by `dcf memory agents`"))
    back = f"dcf memory rollback {agent.id} --to {before}"
    fields = {"deleted": agent_entry(agent), "lost": lost["counts"], "way_back": back}
    return Answer(fields, [f"Deleted {what}.", f"The way back: {back}"], "deleted")


async def _own(memory: Memory, agent: Agent) -> dict[str, Any]:
    """What goes with an agent, in numbers and in words."""
    blocks = await memory.blocks.list(agent.id)
    alone = 0
    for block in blocks:
        holders = {holder for holder, _ in await memory.blocks.holders(block.id)}
        alone += block.type != "shared" and holders == {agent.id}
    counts = {
        "blocks": alone,
        "messages": await memory.messages.count(agent.id),
        "passages": await _passages(memory, agent.id),
    }
    words = [
        counted(alone, "block", "blocks"),
        counted(counts["messages"], "message", "messages"),
        counted(counts["passages"], "passage", "passages"),
    ]
    stay = len(blocks) - alone
    kept = f" ({counted(stay, 'shared block stays', 'shared blocks stay')})" if stay else ""
    return {"counts": {**counts, "stay": stay}, "text": f"{', '.join(words)}{kept}"}


async def _passages(memory: Memory, agent_id: str) -> int:
    count, after = 0, None
    while page := await memory.passages.list(agent_id, limit=_PAGE, after=after):
        count, after = count + len(page), page[-1].id
    return count


async def _described(memory: Memory, agent: Agent) -> Answer:
    blocks = await memory.blocks.list(agent.id)
    messages = await memory.messages.count(agent.id)
    labels = [block.label for block in blocks]
    entry = {**agent_entry(agent), "blocks": labels, "messages": messages}
    rows = {
        "id": agent.id,
        "description": agent.description,
        "role": agent.role,
        "model": agent.model or "what DCF_MODEL says",
        "embedder": agent.embedder or "what DCF_EMBEDDER says",
        "context window": f"{agent.context_window:,} tokens",
        "parallel tool calls": "yes" if agent.parallel_tool_calls else "no",
        "sleeptime": "yes" if agent.enable_sleeptime else "no",
        "lifecycle": agent.lifecycle,
        "template": f"{agent.template} ({(agent.template_digest or '')[:12]})"
        if agent.template
        else "",
        "tags": ", ".join(agent.tags),
        "blocks": ", ".join(labels),
        "messages": f"{messages:,}",
        "system": one_line(agent.system),
        "revision": f"{agent.revision}, {moment(agent.updated_at)}",
    }
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in rows.items():
        if value:
            table.add_row(Text(name, "dim"), Text(value, overflow="fold"))
    return Answer({"agent": entry}, [Text(agent.name, "bold"), table])


def elsewhere(settings: Settings) -> list[str]:
    """Said where agents work on another runtime: this command shows what DCF itself keeps."""
    runtime = settings.env.get("DCF_RUNTIME") or "local"
    if runtime == "local":
        return []
    path = source_in(settings).path
    return [f"These are in {path}; with DCF_RUNTIME={runtime} agents of runs are on its server."]


_RUN = "wf:"


def _run_of(agent: Agent) -> str:
    """The run that the agent works for; nothing if it is nobody's worker."""
    return next((tag.removeprefix(_RUN) for tag in agent.tags if tag.startswith(_RUN)), "")


def _of_runs(agents: list[Agent]) -> list[Text]:
    """One line for all workers of a run."""
    counts = Counter(filter(None, map(_run_of, agents)))
    return [
        Text.assemble(
            (f"{run}/…", "bold"),
            f"  {counted(number, 'worker', 'workers')} of a run",
            (f"  (dcf memory agents --tag {_RUN}{run} --json)", "dim"),
        )
        for run, number in sorted(counts.items())
    ]


def _table(agents: list[Agent]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("agent", "model", "template", "tags", "changed", "description"):
        table.add_column(heading, no_wrap=heading in ("agent", "changed"))
    for agent in agents:
        table.add_row(
            Text(agent.name, "bold"),
            Text(agent.model or "-"),
            Text(agent.template or "-"),
            Text(" ".join(agent.tags)),
            moment(agent.updated_at),
            Text(one_line(agent.description)),
        )
    return table
