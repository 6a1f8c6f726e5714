"""Which tools an assignment may use, under which names, and which of them a rehearsal calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcf.agents.task_error import PERMISSION_DENIED, TaskError

if TYPE_CHECKING:
    from dcf.skills import Manifest, SkillTool

REPORT_RESULT = "report_result"
REPORT_FAILURE = "report_failure"

_WIRE_LENGTH = 64


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as one assignment sees it.

    ``wire_name`` is what the model calls it (model providers allow letters, digits, ``_`` and
    ``-``, at most 64); ``key`` is its place in collected results: the declared name, or
    ``serverId.name`` where an earlier tool of another server took that name. ``required`` tools
    are what a rehearsal calls.
    """

    tool: SkillTool
    key: str
    wire_name: str
    required: bool


@dataclass(frozen=True, slots=True)
class Offer:
    """All tools of an assignment in declared order; ``sole`` when the binding named one."""

    tools: tuple[OfferedTool, ...]
    sole: bool


def offer_tools(
    skills: Sequence[Manifest], tool_name: str | None, needed: Sequence[Manifest] = ()
) -> Offer:
    """The tools that ``skills`` declare, or only ``tool_name`` of them.

    Those of the skills that are only ``needed`` come after them, and a rehearsal calls none. A tool
    that several skills declare is offered once, at its first place, and is required if any of them
    requires it. Raises TaskError(DCF.PermissionDenied) if no skill declares ``tool_name``.
    """
    declared = _merged(
        [(tool, tool.required) for skill in skills for tool in skill.tools]
        + [(tool, False) for skill in needed for tool in skill.tools]
    )
    if tool_name is None:
        return Offer(_named(declared), sole=False)
    sole = _sole(declared, [*skills, *needed], tool_name)
    return Offer(_named([(sole, True)]), sole=True)


def _merged(tools: Iterable[tuple[SkillTool, bool]]) -> list[tuple[SkillTool, bool]]:
    """Each tool once, at its first place, required if it is so anywhere."""
    merged: dict[tuple[str, str], tuple[SkillTool, bool]] = {}
    for tool, here in tools:
        identity = (tool.server_id, tool.tool_name)
        first, required = merged.get(identity, (tool, False))
        merged[identity] = (first, required or here)
    return list(merged.values())


def _sole(
    declared: list[tuple[SkillTool, bool]], skills: Sequence[Manifest], tool_name: str
) -> SkillTool:
    tools = [tool for tool, _ in declared]
    for tool in tools:
        if tool.name == tool_name:
            return tool
    for tool in tools:
        if tool.tool_name == tool_name:
            return tool
    raise TaskError(PERMISSION_DENIED, _undeclared(tools, skills, tool_name))


def _undeclared(tools: list[SkillTool], skills: Sequence[Manifest], tool_name: str) -> str:
    if not skills:
        return f"no skill is loaded, so tool {tool_name!r} is not declared by any"
    names = ", ".join(f"{skill.name}@{skill.version}" for skill in skills)
    listed = ", ".join(tool.name for tool in tools) or "none"
    return f"tool {tool_name!r} is not declared by the loaded skills ({names}); declared: {listed}"


def _named(declared: list[tuple[SkillTool, bool]]) -> tuple[OfferedTool, ...]:
    keys: set[str] = set()
    wire_names = {REPORT_RESULT, REPORT_FAILURE}
    offered = []
    for tool, required in declared:
        key = _free(tool.name, keys, otherwise=f"{tool.server_id}.{tool.name}")
        wire_name = _free(re.sub(r"[^A-Za-z0-9_-]", "_", key)[:_WIRE_LENGTH], wire_names)
        offered.append(OfferedTool(tool, key, wire_name, required))
    return tuple(offered)


def _free(name: str, taken: set[str], otherwise: str | None = None) -> str:
    """``name``, else ``otherwise``, else ``name`` with the first free number; now taken."""
    choice = name if name not in taken or otherwise is None else otherwise
    number = 2
    while choice in taken:
        suffix = f"_{number}"
        choice = name[: _WIRE_LENGTH - len(suffix)] + suffix
        number += 1
    taken.add(choice)
    return choice
