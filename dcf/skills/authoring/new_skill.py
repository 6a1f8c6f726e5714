"""A new skill, and what it needs beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from dcf.problem import Problem
from dcf.skills.authoring.skeleton import skill_text, tools_text
from dcf.skills.authoring.source_plan import SourcePlan

_NAME = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)*")
_SERVER = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_TOOL = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,127}")
_TAG = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class SkillOrder:
    """What the author asked for. ``refs`` are ``serverId:toolName``; tools that no file has yet
    are made."""

    name: str
    refs: tuple[str, ...] = ()
    description: str = ""
    tags: tuple[str, ...] = ()
    risk: str = "low"


@dataclass(slots=True)
class NewSkill:
    """``written`` and ``extended``: paths below the source folder; with problems nothing was."""

    problems: list[Problem] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    extended: list[str] = field(default_factory=list)


def new_skill(root: Path, generated: Path, order: SkillOrder) -> NewSkill:
    """Write the skill below ``root``; ``generated`` is where its schemas are (or will be)."""
    problems = _check_order(order)
    if problems:
        return NewSkill(problems)
    plan = SourcePlan(root, generated / "schemas")
    _plan(plan, order)
    if not plan.problems:
        plan.carry_out()
    return NewSkill(plan.problems, plan.written, plan.extended)


def _check_order(order: SkillOrder) -> list[Problem]:
    problems = []
    if not _NAME.fullmatch(order.name) or len(order.name) > 128:
        hint = "write lower-case words joined by dots, as in tea.brew"
        problems.append(
            Problem("SKILL_NEW_NAME", f"{order.name!r} is no name of a skill", "", hint)
        )
    if len(order.description) > 500:
        message = "the description is longer than 500 characters"
        problems.append(Problem("SKILL_NEW_DESCRIPTION", message, hint="say it shorter"))
    if any("\ud800" <= character <= "\udfff" for character in order.description):
        message = "the description is not Unicode text"
        problems.append(Problem("SKILL_NEW_DESCRIPTION", message, hint="write it in UTF-8"))
    for tag in order.tags:
        if not _TAG.fullmatch(tag):
            hint = "write a lower-case word"
            problems.append(Problem("SKILL_NEW_NAME", f"{tag!r} is no tag", hint=hint))
    for ref in order.refs:
        server_id, _, tool = ref.partition(":")
        if not _SERVER.fullmatch(server_id) or not _TOOL.fullmatch(tool):
            hint = "write --server kettle --tool boil, or --tool kettle:boil"
            problems.append(Problem("SKILL_NEW_TOOL", f"{ref!r} names no tool", hint=hint))
    return problems


def _plan(plan: SourcePlan, order: SkillOrder) -> None:
    refs = tuple(dict.fromkeys(order.refs))
    fresh = [ref for ref in refs if ref not in plan.tools.tools]
    for skill in plan.tree.skills:
        if skill.text("metadata", "name") == order.name:
            hint = "change that file, or choose another name"
            where = Path(skill.document.file)
            plan.object("SKILL_NEW_TAKEN", f"{order.name!r} is taken", hint, where)
    *domain, last = order.name.split(".")
    text = skill_text(
        order.name,
        description=order.description,
        tags=order.tags or tuple(domain[:1]),
        risk=order.risk,
        refs=refs,
        fresh=fresh,
    )
    folder = "/".join(["skills", *domain[:1]])
    stem = ".".join([*domain[1:], last])
    plan.create(f"{folder}/{stem}.skill.yaml", text, "skill")
    for server_id in dict.fromkeys(ref.partition(":")[0] for ref in fresh):
        names = [ref.partition(":")[2] for ref in fresh if ref.startswith(f"{server_id}:")]
        plan.create(f"tools/{server_id}.tools.yaml", tools_text(server_id, names), "tools")
    plan.index(list(dict.fromkeys(f"{ref.partition(':')[0]}.tools.yaml" for ref in fresh)))
    plan.registry(list(dict.fromkeys(ref.partition(":")[0] for ref in refs)))
