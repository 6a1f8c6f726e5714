"""``dcf memory import``: agents from agent files, or from a Letta server."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dcf.agents.files import AgentFile, InvalidAgentFile, import_agents, read_agent_file
from dcf.cli.answer import Answer
from dcf.cli.memory.entries import agent_entry
from dcf.cli.memory.opening import opened, person
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, listed
from dcf.cli.wording import counted
from dcf.memory import Agent, Memory, OnNameTaken, UnknownAgent
from dcf.problem import Problem


@dataclass(frozen=True, slots=True)
class ImportOrder:
    """Files, or folders of ``.af`` files; or agents of the Letta server at the URL ``letta``, those
    with ``names`` or ``tags``."""

    paths: tuple[Path, ...] = ()
    letta: str | None = None
    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    on_name_taken: OnNameTaken = "suffix"
    dry_run: bool = False


async def import_files(settings: Settings, order: ImportOrder, screen: Screen) -> Answer:
    """Bring in the agents of all files; none if one of them cannot be read. Raises BadInput with
    everything that is wrong in all of them."""
    files = _read(_found(order.paths))
    warnings = [
        replace(one, file=str(path)) for path, file in files.items() for one in file.warnings
    ]
    if order.dry_run:
        return _would(files, warnings)
    by = person(f"imported from {', '.join(path.name for path in files)}")
    made: list[Agent] = []
    async with opened(settings, make=True) as memory:
        if order.on_name_taken == "refuse":
            await _refuse_taken(memory, files)
        for number, (path, file) in enumerate(files.items(), start=1):
            with screen.working(f"importing {path} ({number} of {len(files)})"):
                made += await import_agents(memory, file, by=by, on_name_taken=order.on_name_taken)
    return imported(made, warnings)


async def import_letta(settings: Settings, order: ImportOrder, screen: Screen) -> Answer:
    """Bring in agents of a Letta server. Raises a Letta… error, AgentExists, InvalidAgentFile."""
    from dcf.agents.letta import LettaServer, import_from_letta

    server = LettaServer.of(settings.env, order.letta)
    by = person(f"imported from {server.url}")
    async with opened(settings, make=True) as memory:
        with screen.working(f"reading the agents of {server.url}"):
            moved = await import_from_letta(
                memory,
                server,
                by=by,
                names=order.names,
                tags=order.tags,
                on_name_taken=order.on_name_taken,
            )
    answer = imported(list(moved.agents), list(moved.warnings))
    return replace(answer, fields={**answer.fields, "passages": moved.passages})


def imported(agents: list[Agent], warnings: list[Problem]) -> Answer:
    """What came in, and what its user should know."""
    fields = {
        "agents": [agent_entry(agent) for agent in agents],
        "problems": [warning.to_dict() for warning in warnings],
    }
    show: list[Any] = [*listed(warnings)]
    show += [f"imported {agent.name} ({agent.id})" for agent in agents]
    if not agents:
        show.append("There was no agent to import.")
    return Answer(fields, show, "imported")


def _found(paths: tuple[Path, ...]) -> list[Path]:
    """The files that are meant. Raises BadInput with every path at which there is none."""
    files: dict[Path, None] = {}
    problems = []
    for path in paths:
        inside = sorted(path.glob("*.af")) if path.is_dir() else [path]
        if not inside:
            message = "no agent file is in this folder"
            hint = "agent files end with .af; one that is called otherwise is named itself"
            problems.append(Problem("CLI_AGENT_FILES", message, hint=hint, file=str(path)))
        elif not path.exists():
            message = "there is no such agent file"
            hint = "name a file, or a folder of them"
            problems.append(Problem("CLI_AGENT_FILE", message, hint=hint, file=str(path)))
        files |= dict.fromkeys(inside)
    if problems:
        raise BadInput(problems)
    return list(files)


def _read(paths: list[Path]) -> dict[Path, AgentFile]:
    files: dict[Path, AgentFile] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            files[path] = read_agent_file(path.read_bytes())
        except InvalidAgentFile as invalid:
            problems += [replace(one, file=str(path)) for one in invalid.problems]
    if problems:
        raise BadInput(problems)
    return files


async def _refuse_taken(memory: Memory, files: dict[Path, AgentFile]) -> None:
    """Raises BadInput with every name that an agent has already, here or in another file."""
    problems, seen = [], set[str]()
    for path, file in files.items():
        for agent in file.agents:
            name = agent.new.name
            if name in seen or await _is_there(memory, name):
                message = f"there is an agent {name!r} already"
                hint = "rename it, or let this one be numbered: --on-name-taken suffix"
                problems.append(Problem("CLI_AGENT_NAME", message, hint=hint, file=str(path)))
            seen.add(name)
    if problems:
        raise BadInput(problems)


async def _is_there(memory: Memory, name: str) -> bool:
    try:
        await memory.agents.find(name)
    except UnknownAgent:
        return False
    return True


def _would(files: dict[Path, AgentFile], warnings: list[Problem]) -> Answer:
    agents = [
        {
            "file": str(path),
            "name": agent.new.name,
            "model": agent.new.model,
            "blocks": len(agent.blocks),
            "messages": len(agent.messages),
            "tools": len(agent.tools),
        }
        for path, file in files.items()
        for agent in file.agents
    ]
    fields = {"would_import": agents, "problems": [warning.to_dict() for warning in warnings]}
    show = [*listed(warnings)]
    show += [
        f"would import {one['name']} of {one['file']}: {one['blocks']} blocks,"
        f" {one['messages']} messages, {one['tools']} tools"
        for one in agents
    ]
    show.append(f"{counted(len(agents), 'agent', 'agents')}; nothing was changed")
    return Answer(fields, show, "tried")
