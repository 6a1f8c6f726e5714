"""Agents that a server wrote into one file each, in one file: a block that they share is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dcf.agents.files import AgentFile, FileAgent, FileBlock, FileTool
from dcf.problem import Problem


def asked_for(file: AgentFile) -> AgentFile:
    """``file`` with its first agent alone: behind an agent the server writes those of its group, a
    sleep-time agent say, which nobody has asked for here."""
    first, *others = file.agents
    if not others:
        return file
    return replace(
        file,
        agents=(first,),
        blocks=tuple(block for block in file.blocks if block.id in first.blocks),
        tools=tuple(tool for tool in file.tools if tool.id in first.tools),
        extra=_without_references(file.extra),
    )


def merged(files: Sequence[tuple[AgentFile, Mapping[str, str]]]) -> AgentFile:
    """All of ``files``, each with the ids that the blocks have on the server, by label.

    Ids of a file count from 0 in each: here they say of which file they are.
    """
    agents: list[FileAgent] = []
    blocks: dict[str, FileBlock] = {}
    tools: list[FileTool] = []
    warnings: list[Problem] = []
    extra: dict[str, Any] = {}
    for number, (file, held) in enumerate(files):
        own: dict[str, str] = {}
        for block in file.blocks:
            own[block.id] = held.get(block.new.label, f"{block.id}-{number}")
            blocks.setdefault(own[block.id], replace(block, id=own[block.id]))
        tools += [replace(tool, id=f"{tool.id}-{number}") for tool in file.tools]
        agents += [
            replace(
                agent,
                id=f"{agent.id}-{number}",
                blocks=tuple(own[one] for one in agent.blocks),
                tools=tuple(f"{one}-{number}" for one in agent.tools),
            )
            for agent in file.agents
        ]
        warnings += file.warnings
        extra = extra or dict(file.extra)
    if len(files) > 1:
        extra = _without_references(extra)
    return AgentFile(
        agents=tuple(agents),
        blocks=tuple(blocks.values()),
        tools=tuple(tools),
        extra=extra,
        warnings=tuple(warnings),
    )


def _without_references(extra: Mapping[str, Any]) -> dict[str, Any]:
    """``extra`` without groups, sources and the like, which name each other by the ids of a file
    that is no longer whole."""
    return {name: [] if isinstance(value, list) else value for name, value in extra.items()}
