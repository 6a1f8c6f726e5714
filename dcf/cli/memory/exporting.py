"""``dcf memory export``: agents as agent files, or to a Letta server."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf.agents.files import export_agents, write_agent_file
from dcf.cli.answer import Answer
from dcf.cli.memory.entries import agent_entry
from dcf.cli.memory.naming import agents_named
from dcf.cli.memory.opening import opened
from dcf.cli.memory.wording import size_text
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, listed
from dcf.cli.whole_file import whole_file
from dcf.memory import Agent, Memory, OnNameTaken
from dcf.problem import Problem

_UNSAFE = re.compile(r"[^\w.-]+")
_ALL = 1 << 62


@dataclass(frozen=True, slots=True)
class ExportOrder:
    """Agents by name, else those with all ``tags``; to one file ``out``, or as a file each into the
    folder ``out``; or to the Letta server at the URL ``letta``."""

    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    out: Path = Path()
    overwrite: bool = False
    letta: str | None = None
    on_name_taken: OnNameTaken = "refuse"


async def export_files(settings: Settings, order: ExportOrder, screen: Screen) -> Answer:
    """Write the agents. Raises BadInput when a file is there already, UnknownAgent."""
    async with opened(settings) as memory:
        agents = await _chosen(memory, order)
        targets = _targets(agents, order)
        written: list[dict[str, Any]] = []
        for file, inside in targets.items():
            with screen.working(f"writing {file}"):
                form = await export_agents(memory, [agent.id for agent in inside])
                text = json.dumps(write_agent_file(form), ensure_ascii=False, indent=2)
                with whole_file(file, overwrite=order.overwrite) as stream:
                    stream.write(f"{text}\n".encode())
            written.append(
                {
                    "file": str(file),
                    "bytes": len(text.encode()) + 1,
                    "agents": [a.name for a in inside],
                }
            )
    show = [
        f"{one['file']}: {', '.join(one['agents'])}, {size_text(one['bytes'])}" for one in written
    ]
    return Answer({"written": written}, show or ["There is no agent to export."], "exported")


async def export_letta(settings: Settings, order: ExportOrder, screen: Screen) -> Answer:
    """Copy the agents to a Letta server. Raises UnknownAgent, AgentExists, a Letta… error."""
    from dcf.agents.letta import LettaServer, export_to_letta

    server = LettaServer.of(settings.env, order.letta)
    async with opened(settings) as memory:
        agents = await _chosen(memory, order)
        with screen.working(f"sending agents to {server.url}"):
            moved = await export_to_letta(
                memory,
                server,
                [agent.id for agent in agents],
                on_name_taken=order.on_name_taken,
            )
    fields = {
        "server": server.url,
        "agents": [agent_entry(agent) for agent in moved.agents],
        "passages": moved.passages,
        "problems": [warning.to_dict() for warning in moved.warnings],
    }
    show = [*listed(moved.warnings)]
    show += [f"{agent.name} is at {server.url} ({agent.id})" for agent in moved.agents]
    return Answer(fields, show, "exported")


async def _chosen(memory: Memory, order: ExportOrder) -> list[Agent]:
    if order.names:
        return await agents_named(memory, list(order.names))
    return list(await memory.agents.list(tags=order.tags, limit=_ALL))


def _targets(agents: list[Agent], order: ExportOrder) -> dict[Path, list[Agent]]:
    """Which agents go into which file. Raises BadInput with every file that is there already."""
    targets: dict[Path, list[Agent]] = {}
    if order.out.suffix and not order.out.is_dir():
        targets = {order.out: agents} if agents else {}
    else:
        for agent in agents:
            name = _UNSAFE.sub("-", agent.name).strip(".-") or agent.id
            file = order.out / f"{name}.af"
            if file in targets:
                file = order.out / f"{name}-{agent.id}.af"
            targets[file] = [agent]
    problems = [
        Problem(
            "CLI_OUT",
            "this file is there already",
            hint="choose another --out, or say --overwrite",
            file=str(file),
        )
        for file in targets
        if file.exists() and not order.overwrite
    ]
    if problems:
        raise BadInput(problems)
    return targets
