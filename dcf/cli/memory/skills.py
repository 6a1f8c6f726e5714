"""``dcf memory skills``: what an agent knows from a folder of skills."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED
from dcf.cli.memory.naming import agent_named
from dcf.cli.memory.opening import opened, person
from dcf.cli.memory.project import current_project
from dcf.cli.memory.wording import one_line, size_text
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, listed, summary
from dcf.cli.wording import counted
from dcf.memory import Agent, Memory, Skill, SyncReport
from dcf.problem import Problem

DEFAULT_FOLDER = ".skills"


@dataclass(frozen=True, slots=True)
class SkillsOrder:
    """What is done before the agent's skills are listed: ``sync`` with a folder (None: that of its
    last session, else ``.skills`` of the project), then unloading, then loading."""

    folder: Path | None = None
    sync: bool = False
    load: tuple[str, ...] = ()
    unload: tuple[str, ...] = ()
    reason: str = ""


async def tend_skills(settings: Settings, name: str, order: SkillsOrder) -> Answer:
    """Do what was asked, and list what the agent knows. Raises BadInput for a folder that is not
    there, UnknownSkills, SkillsTooLarge. Skills with errors are an answer with exit code 1."""
    by = person(order.reason or "asked for by `dcf memory skills`")
    report: SyncReport | None = None
    async with opened(settings) as memory:
        agent = await agent_named(memory, name)
        if order.sync:
            folder = await folder_of(memory, agent, order.folder)
            report = await memory.skills.sync(agent.id, folder, by=by)
        if order.unload:
            await memory.skills.unload(agent.id, *order.unload, by=by)
        if order.load:
            await memory.skills.load(agent.id, *order.load, by=by)
        skills = await memory.skills.list(agent.id)
    fields: dict[str, Any] = {
        "agent": agent.name,
        "skills": [skill_entry(skill) for skill in skills],
        "sync": None if report is None else sync_entry(report),
        "problems": [] if report is None else [one.to_dict() for one in report.problems],
    }
    show: list[Any] = [] if report is None else _changes_and_warnings(report)
    loaded = sum(skill.is_loaded for skill in skills)
    count = f"{agent.name} knows {counted(len(skills), 'skill', 'skills')}, {loaded} loaded"
    show += [*([_table(skills)] if skills else []), count]
    wrong = [] if report is None else [one for one in report.problems if one.is_error]
    if not wrong:
        return Answer(fields, show)
    message = f"{summary(wrong)}: what is right came in, what is wrong stays as it was known"
    note = ErrorNote("memory_skill_faults", message, details=listed(wrong))
    return Answer(fields, show, "error", note, FAILED)


async def watch_skills(
    settings: Settings, name: str, folder: Path | None, screen: Screen
) -> Answer:
    """Keep the agent up to date with the folder until Ctrl-C. A skill with an error stays as it was
    known. Raises BadInput for a folder that is not there."""
    by = person("seen by `dcf memory skills --watch`")
    syncs = 0
    async with opened(settings) as memory:
        agent = await agent_named(memory, name)
        watched = await folder_of(memory, agent, folder)
        screen.say(f"watching {watched} for {agent.name}; Ctrl-C ends it")
        try:
            async for report in memory.skills.watch(agent.id, watched, by=by):
                syncs += 1
                for line in sync_lines(report):
                    screen.say(line)
        except asyncio.CancelledError:
            pass
    told = f"stopped after {counted(syncs, 'synchronisation', 'synchronisations')}"
    return Answer({"agent": agent.name, "syncs": syncs}, [told], status="stopped")


async def folder_of(memory: Memory, agent: Agent, chosen: Path | None) -> Path:
    """The folder of the agent's skills. Raises BadInput if it is not there."""
    folder = chosen
    if folder is None:
        sessions = await memory.sessions.list(agent_id=agent.id, limit=100)
        known = (session.skills_directory for session in sessions)
        remembered = next((one for one in known if one is not None), None)
        project = await current_project(memory)
        base = Path.cwd() if project is None else Path(project.path)
        folder = base / DEFAULT_FOLDER if remembered is None else Path(remembered)
    if not folder.is_dir():
        message = "there is no folder of skills here"
        hint = "name it with --folder"
        raise BadInput([Problem("CLI_SKILLS_FOLDER", message, hint=hint, file=str(folder))])
    return folder.absolute()


def skill_entry(skill: Skill) -> dict[str, Any]:
    """A skill as ``--json`` has it."""
    return {
        "name": skill.name,
        "description": skill.description,
        "is_loaded": skill.is_loaded,
        "bytes": len(skill.content.encode()),
        "files": list(skill.files),
        "config": dict(skill.config),
        "source": skill.source,
        "revision": skill.revision,
        "updated_at": skill.updated_at,
    }


def sync_entry(report: SyncReport) -> dict[str, Any]:
    """What a synchronisation changed, as ``--json`` has it."""
    return {
        "folder": report.folder,
        "added": list(report.added),
        "changed": list(report.changed),
        "removed": list(report.removed),
        "unloaded": list(report.unloaded),
    }


def sync_lines(report: SyncReport) -> list[str]:
    """What a synchronisation changed and found wrong, for people."""
    return [*listed(report.problems), *_changes(report)]


def _changes_and_warnings(report: SyncReport) -> list[str]:
    return [*listed(one for one in report.problems if not one.is_error), *_changes(report)]


def _changes(report: SyncReport) -> list[str]:
    lines: list[str] = []
    signs = (("+", report.added), ("~", report.changed), ("-", report.removed))
    lines += [f"{sign} {name}" for sign, names in signs for name in names]
    lines += [f"  {name} was loaded, and is no longer" for name in report.unloaded]
    if report.is_unchanged:
        lines.append(f"{report.folder}: no change")
    return lines


def _table(skills: tuple[Skill, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("skill", "loaded", "size", "description"):
        table.add_column(heading, no_wrap=heading != "description")
    for skill in skills:
        table.add_row(
            Text(skill.name, "bold"),
            Text("loaded", "green") if skill.is_loaded else Text("-"),
            size_text(len(skill.content.encode())),
            Text(one_line(skill.description)),
        )
    return table
