"""The tools attached to agents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from dcf.memory.actor import Actor
from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import data_problems, json_of, refuse, text_problems
from dcf.memory.database import Connection
from dcf.memory.entities import ATTACHED_TOOL
from dcf.memory.ledger import Ledger
from dcf.memory.tool_spec import ToolSpec
from dcf.problem import Problem

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class AttachedTools:
    """Tools by agent. What a tool does is not kept here, only what a model has to know of it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def list(self, agent_id: str) -> tuple[ToolSpec, ...]:
        """The agent's tools by name. Raises UnknownAgent."""
        return await self._ledger.read(lambda connection: held_tools(connection, agent_id))

    async def attach(self, agent_id: str, tools: Sequence[ToolSpec], *, by: Actor) -> None:
        """Add ``tools``; one of the same name takes the other's place.

        Raises UnknownAgent, InvalidEntry with all that is wrong.
        """

        def work(journal: Journal) -> None:
            agent_row(journal.connection, agent_id)
            refuse("the tools", problems(tools))
            for tool in tools:
                attach_tool(journal, agent_id, tool)

        await self._ledger.change(by, work)

    async def detach(self, agent_id: str, names: Sequence[str], *, by: Actor) -> None:
        """Take tools away; names that the agent does not have are no error. Raises UnknownAgent."""

        def work(journal: Journal) -> None:
            agent_row(journal.connection, agent_id)
            for name in dict.fromkeys(names):
                row = ATTACHED_TOOL.find(journal.connection, f"{agent_id}/{name}")
                if row is not None:
                    journal.delete(ATTACHED_TOOL, row, operation="detached", agent_id=agent_id)

        await self._ledger.change(by, work)


def held_tools(connection: Connection, agent_id: str) -> tuple[ToolSpec, ...]:
    """The agent's tools by name. Raises UnknownAgent."""
    agent_row(connection, agent_id)
    return tuple(
        ToolSpec(row["name"], row["description"], json.loads(row["input_schema"]))
        for row in ATTACHED_TOOL.of_owner(connection, agent_id)
    )


def attach_tool(journal: Journal, agent_id: str, tool: ToolSpec) -> None:
    """Add a tool that was checked, or write it over the one of its name."""
    before = ATTACHED_TOOL.find(journal.connection, f"{agent_id}/{tool.name}")
    row = {
        "agent_id": agent_id,
        "name": tool.name,
        "description": tool.description,
        "input_schema": json_of(tool.input_schema),
    }
    if before is None:
        journal.create(ATTACHED_TOOL, row, operation="attached", agent_id=agent_id)
    else:
        journal.update(ATTACHED_TOOL, before, row, agent_id=agent_id)


def problems(tools: Sequence[ToolSpec]) -> Iterator[Problem]:
    """What is wrong with ``tools``."""
    for index, tool in enumerate(tools):
        if _NAME.fullmatch(tool.name) is None:
            yield Problem(
                "memory_tool_name",
                f"{tool.name!r} cannot be a tool's name",
                f"/{index}/name",
                "use letters, digits, _ and -, at most 64",
            )
        yield from text_problems(f"/{index}/description", tool.description)
        yield from data_problems(f"/{index}/input_schema", tool.input_schema)
        if tool.input_schema.get("type") != "object":
            yield Problem(
                "memory_tool_schema",
                f"the arguments of {tool.name!r} are not an object",
                f"/{index}/input_schema/type",
                'a tool takes {"type": "object", "properties": {…}}',
            )
