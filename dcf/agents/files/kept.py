"""What the memory keeps of an agent file beside agents, blocks and messages, so that an export says
it again: ``file`` in an agent's ``extra``, and ``dcf`` in the metadata of a block, which no file
has as a name of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from dcf.agents.files.agent_file import AgentFile, FileAgent, FileBlock, FileMessage, FileTool
from dcf.agents.files.form import OWN
from dcf.agents.files.normal_form import KINDS, NO_REST
from dcf.agents.files.write import tool_members
from dcf.memory import NewAgent, NewBlock

FILE = "file"


def kept_agents(file: AgentFile) -> list[NewAgent]:
    """The agents, each with what the file has of it, and of what it refers to. What none refers to
    goes with the first."""
    tools = {tool.id: tool for tool in file.tools}
    mentioned = [set(_mentioned(agent.extra)) for agent in file.agents]
    everywhere = set().union(*mentioned)
    return [
        _kept_agent(
            agent,
            tools,
            {
                name: [
                    thing
                    for thing in file.extra.get(name, ())
                    if thing.get("id") in mine or (index == 0 and thing.get("id") not in everywhere)
                ]
                for name in KINDS
            }
            | ({} if index else _others(file.extra)),
        )
        for index, (agent, mine) in enumerate(zip(file.agents, mentioned, strict=True))
    ]


def _others(extra: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in extra.items() if name not in KINDS}


def _kept_agent(
    agent: FileAgent, tools: Mapping[str, FileTool], rest: Mapping[str, Any]
) -> NewAgent:
    file = {
        "id": agent.id,
        "members": dict(agent.extra),
        "secrets": list(agent.secrets),
        # By number in the conversation: a message has no room for what DCF does not know.
        "messages": {
            str(seq): _kept_message(seq, message)
            for seq, message in enumerate(agent.messages, start=1)
        },
        "tools": [tool_members(tools[one]) for one in agent.tools],
        "rest": {name: value for name, value in rest.items() if value != NO_REST.get(name)},
    }
    return replace(agent.new, extra={FILE: {name: value for name, value in file.items() if value}})


def _kept_message(seq: int, message: FileMessage) -> dict[str, Any]:
    kept: dict[str, Any] = {"id": message.id}
    if message.extra:
        kept["members"] = dict(message.extra)
    if is_old_prompt(seq, message):
        kept["in_context"] = True
    return kept


def is_old_prompt(seq: int, message: FileMessage) -> bool:
    """Whether a message in context is the prompt that the program before put at the head: it is
    kept, and out of context, for here each turn begins with a prompt of its own."""
    return seq == 1 and message.in_context and message.new.role == "system"


def kept_block(block: FileBlock) -> NewBlock:
    """The block, with what the file has of it."""
    file = {"id": block.id, **({"members": dict(block.extra)} if block.extra else {})}
    return replace(block.new, metadata={**block.new.metadata, OWN: file})


def kept_in(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """What was kept under ``name``; nothing where somebody else has written there."""
    kept = holder.get(name)
    return kept if isinstance(kept, Mapping) else {}


def _mentioned(value: Any) -> Iterator[str]:
    """Ids that stand in ``value`` in members called so."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name.endswith(("_id", "_ids")):
                yield from _texts(item)
            else:
                yield from _mentioned(item)
    elif isinstance(value, list):
        for item in value:
            yield from _mentioned(item)


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
