"""Agents from a Letta server into a memory, and back. Nothing on the server is ever deleted."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count

from dcf.agents.files import AgentFile, export_agents, import_agents, read_agent_file
from dcf.agents.letta.agent_state import EXTRA, TOOLS, own_system
from dcf.agents.letta.archive import Archive
from dcf.agents.letta.block_state import KEPT
from dcf.agents.letta.connection import Connection
from dcf.agents.letta.files import export_text, put_agents
from dcf.agents.letta.merging import asked_for, merged
from dcf.agents.letta.server import LettaServer
from dcf.memory import Actor, Agent, AgentExists, Memory, NewPassage, OnNameTaken, UnknownAgent
from dcf.problem import Problem

_MOST = 1 << 31


@dataclass(frozen=True, slots=True)
class Moved:
    """What arrived: the agents as they are now where they went to, how many passages of their
    archives, and what the user should know."""

    agents: tuple[Agent, ...]
    passages: int
    warnings: tuple[Problem, ...] = ()


async def import_from_letta(
    memory: Memory,
    server: LettaServer,
    *,
    by: Actor,
    names: Sequence[str] = (),
    tags: Sequence[str] = (),
    on_name_taken: OnNameTaken = "suffix",
) -> Moved:
    """Copy agents of ``server`` into ``memory``: those called ``names``, or with all of ``tags``,
    or all there are; with blocks (one that several hold stays one), messages and archives. Others
    of an agent's group come only if they are chosen themselves.

    Everything is read first; then the agents are made in one transaction, and their archives are
    filled. Raises UnknownAgent for a name the server does not have, AgentExists (``refuse``),
    InvalidAgentFile, and a Letta… error.
    """
    async with _archive(server) as theirs:
        agents = await _chosen(theirs, names, tags)
        files, archives = [], []
        for agent in agents:
            read = asked_for(read_agent_file(await export_text(theirs.connection, agent.id)))
            held = {one.label: one.id for one in await theirs.blocks(agent.id)}
            files.append((read, held))
            archives.append(await theirs.passages(agent.id, _MOST))
    file = _without_marks(merged(files))
    made = await import_agents(memory, file, by=by, on_name_taken=on_name_taken)
    for agent, passages in zip(made, archives, strict=True):
        news = [NewPassage(one.text, one.tags, one.salience, one.source) for one in passages]
        if news:
            await memory.passages.insert(agent.id, *news, by=by)
    return Moved(made, sum(map(len, archives)), file.warnings)


async def export_to_letta(
    memory: Memory,
    server: LettaServer,
    agent_ids: Sequence[str],
    *,
    on_name_taken: OnNameTaken = "refuse",
) -> Moved:
    """Copy agents of ``memory`` to ``server``, with blocks, messages and archives. Program text of
    their tools is not sent.

    Names are looked at before anything is sent: one that is taken gets a number behind it, or with
    ``refuse`` raises AgentExists. The agents arrive in one request, their archives after it; if the
    server fails in between, what has arrived stays. Raises UnknownAgent, and a Letta… error.
    """
    file = await export_agents(memory, agent_ids)
    async with _archive(server) as theirs:
        renamed = []
        for agent in file.agents:
            name = agent.new.name
            if await theirs.find(name) is not None:
                if on_name_taken == "refuse":
                    raise AgentExists(name=name)
                name = await _free_name(theirs, name)
            renamed.append(replace(agent, new=replace(agent.new, name=name)))
        made = await put_agents(theirs, replace(file, agents=tuple(renamed)))
        sent = 0
        for sent_agent, agent_id in zip(made, dict.fromkeys(agent_ids), strict=True):
            for one in await memory.passages.list(agent_id, limit=_MOST):
                new = NewPassage(one.text, one.tags, one.salience, one.source)
                await theirs.put_passage(sent_agent.id, new)
                sent += 1
    return Moved(made, sent, file.warnings)


@asynccontextmanager
async def _archive(server: LettaServer) -> AsyncIterator[Archive]:
    connection = Connection(server)
    try:
        yield Archive(connection, defaults=(), clock=lambda: time.time_ns() // 1_000_000)
    finally:
        await connection.aclose()


async def _chosen(theirs: Archive, names: Sequence[str], tags: Sequence[str]) -> list[Agent]:
    if names:
        agents = []
        for name in dict.fromkeys(names):
            agent = await theirs.find(name)
            if agent is None:
                raise UnknownAgent(name, await theirs.closest(name))
            agents.append(agent)
        return agents
    return list(await theirs.list(tags=tags, limit=_MOST))


async def _free_name(theirs: Archive, name: str) -> str:
    for number in count(2):
        if await theirs.find(f"{name}-{number}") is None:
            return f"{name}-{number}"
    raise AssertionError


def _without_marks(file: AgentFile) -> AgentFile:
    """``file`` without what DCF noted on the server for its own use."""
    agents = []
    for agent in file.agents:
        metadata = dict(agent.new.metadata)
        for mark in (EXTRA, TOOLS):
            metadata.pop(mark, None)
        system = own_system(agent.new.name, agent.new.system)
        agents.append(replace(agent, new=replace(agent.new, metadata=metadata, system=system)))
    blocks = []
    for block in file.blocks:
        metadata = {name: one for name, one in block.new.metadata.items() if name != KEPT}
        blocks.append(replace(block, new=replace(block.new, metadata=metadata)))
    return replace(file, agents=tuple(agents), blocks=tuple(blocks))
