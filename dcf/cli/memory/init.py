"""``dcf memory init``: the memory, and an agent to work with in this project."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dcf.agents.templates import template_named
from dcf.cli.answer import Answer
from dcf.cli.memory.agent_settings import AgentSettings
from dcf.cli.memory.entries import agent_entry
from dcf.cli.memory.naming import name_warnings
from dcf.cli.memory.opening import opened, person, source_in
from dcf.cli.memory.project import current_project, last_agent
from dcf.cli.settings import Settings
from dcf.cli.trouble import NotSo
from dcf.memory import Actor, Agent, Memory, NewAgent, NewBlock, UnknownAgent

_FALLBACK = "agent"


@dataclass(frozen=True, slots=True)
class InitOrder:
    """The agent (None: the last one of the project, else one with its folder's name), what it is
    made from, and where its skills are. ``labels`` are the blocks that it gets instead of the
    default ones."""

    name: str | None
    settings: AgentSettings
    template: str | None = None
    tags: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    skills: Path | None = None


async def init(settings: Settings, order: InitOrder) -> Answer:
    """Make what is missing of memory, project and agent. The same again changes nothing.

    Raises NotSo for an agent that was made from another template, InvalidEntry, UnknownTemplate,
    InvalidTemplate.
    """
    given, warnings = order.settings.fields(), order.settings.warnings(settings)
    by = person("set up by `dcf memory init`")
    async with opened(settings, make=True) as memory:
        found = await _known(memory, order)
        agent = found or await _made(settings, memory, order, given, by)
        if found is not None:
            agent = await _brought_to(memory, found, order, given, by)
        project = await _begin(memory, agent, order, by)
        blocks = await memory.blocks.list(agent.id)
    if found is None:
        warnings += name_warnings(agent.name)
    path = source_in(settings).path
    labels = [block.label for block in blocks]
    fields: dict[str, Any] = {
        "memory": str(path),
        "agent": {**agent_entry(agent), "blocks": labels},
        "created": found is None,
        "project": project,
        "warnings": warnings,
    }
    said = f"{agent.name} {'is here again' if found else 'is made'}: {', '.join(labels)}"
    show = [said, f"memory {path}, project {project}", *warnings, "next: `dcf memory remember`"]
    return Answer(fields, show)


async def _known(memory: Memory, order: InitOrder) -> Agent | None:
    if order.name is None:
        return await last_agent(memory)
    with suppress(UnknownAgent):
        return await memory.agents.find(order.name)
    return None


async def _made(
    settings: Settings, memory: Memory, order: InitOrder, given: dict[str, Any], by: Actor
) -> Agent:
    name = order.name or await _free_name(memory, Path.cwd().name or _FALLBACK)
    blocks: list[NewBlock] | None = None
    if order.template is None:
        new = NewAgent(name)
    else:
        template = template_named(order.template, settings.templates)
        new, blocks = template.new_agent(name), list(template.blocks)
    if order.labels:
        known = {block.label: block for block in blocks or ()}
        blocks = [known.get(one) or await memory.labels.new(one) for one in order.labels]
    new = replace(new, tags=order.tags, lifecycle="persistent", **given)
    return await memory.agents.create(new, by=by, blocks=blocks)


async def _free_name(memory: Memory, wanted: str) -> str:
    """``wanted``, or with the first number behind it that no agent has: folders of other projects
    may be called the same."""
    name, number = wanted, 1
    while True:
        try:
            await memory.agents.find(name)
        except UnknownAgent:
            return name
        number += 1
        name = f"{wanted}-{number}"


async def _brought_to(
    memory: Memory, agent: Agent, order: InitOrder, given: dict[str, Any], by: Actor
) -> Agent:
    """The agent with the settings that were given, which may be others than it was made with."""
    if order.template not in (None, agent.template):
        made = f"from template {agent.template}" if agent.template else "without a template"
        message = f"{agent.name} was made {made}, not from {order.template}"
        raise NotSo("memory_other_template", message, "name another agent, or leave --template out")
    held = {block.label for block in await memory.blocks.list(agent.id)}
    for label in order.labels:
        if label not in held:
            await memory.blocks.create(agent.id, await memory.labels.new(label), by=by)
    if given:
        agent = await memory.agents.update(agent.id, by=by, **given)
    return await memory.agents.tag(agent.id, by=by, add=order.tags) if order.tags else agent


async def _begin(memory: Memory, agent: Agent, order: InitOrder, by: Actor) -> str:
    """Let the agent be the last of the project, unless it is and its session goes on; its path."""
    project = await current_project(memory)
    here = str(Path.cwd()) if project is None else project.path
    skills = None if order.skills is None else str(order.skills.absolute())
    for session in await memory.sessions.list(agent_id=agent.id, project=here, ended=False):
        if skills in (None, session.skills_directory):
            return here
    await memory.sessions.begin(agent.id, by=by, project=here, skills_directory=skills)
    return here
