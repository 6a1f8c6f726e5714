"""Both versions of agent files in one form: a bundle (version 2) in which everything has an id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

KINDS = {"groups": "group", "files": "file", "sources": "source", "mcp_servers": "mcp_server"}
"""What a bundle has beside agents, blocks and tools; DCF has no use for it, and keeps it."""
NO_REST: dict[str, Any] = {**{name: [] for name in KINDS}, "metadata": {}, "created_at": None}
"""The members that every bundle has beside agents, blocks and tools, as they are without those."""
_LISTS = ("agents", "blocks", "tools", *KINDS)


@dataclass(slots=True)
class Normal:
    """``raw`` is a bundle. ``origin``: where things of it stand in the file, by JSON pointer, if
    that is another place."""

    raw: dict[str, Any]
    version: Literal[1, 2]
    origin: dict[str, str] = field(default_factory=dict)

    def place(self, pointer: str) -> str:
        """Where the value at ``pointer`` of the bundle stands in the file."""
        head = max(
            (known for known in self.origin if f"{pointer}/".startswith(f"{known}/")),
            key=len,
            default="",
        )
        return self.origin.get(head, "") + pointer.removeprefix(head) if head else pointer


def version_of(value: Any) -> Literal[1, 2] | None:
    """Which version of an agent file a value is; None: it is something else."""
    if not isinstance(value, dict):
        return None
    if "agents" in value:
        return 2
    if "core_memory" in value or "agent_type" in value:
        return 1
    return None


def normal_form(value: Mapping[str, Any], version: Literal[1, 2]) -> Normal:
    """``value``, whose shape was checked, as a bundle. It is not changed."""
    normal = Normal(_bundle_of(value) if version == 1 else dict(value), version)
    if version == 1:
        normal.origin = {"/agents/0": ""}
        normal.origin |= {"/tools": "/tools"}
    normal.raw = {**NO_REST, **normal.raw}
    for name in _LISTS:
        normal.raw[name] = [dict(one) for one in normal.raw.get(name) or ()]
    for name, kind in (("blocks", "block"), ("tools", "tool"), ("agents", "agent")):
        _give_ids(normal.raw[name], kind)
    for index, agent in enumerate(normal.raw["agents"]):
        agent["messages"] = [dict(message) for message in agent.get("messages") or ()]
        _give_ids(agent["messages"], "message")
        _lift_blocks(normal, index, agent)
        _metadata(agent)
        _in_context(agent)
    for block in normal.raw["blocks"]:
        _metadata(block)
    return normal


def _bundle_of(agent: Mapping[str, Any]) -> dict[str, Any]:
    tools = [dict(tool) for tool in agent.get("tools") or ()]
    _give_ids(tools, "tool")
    rest = {name: value for name, value in agent.items() if name != "tools"}
    return {"agents": [{**rest, "tool_ids": [tool["id"] for tool in tools]}], "tools": tools}


def _lift_blocks(normal: Normal, index: int, agent: dict[str, Any]) -> None:
    """Blocks that stand in an agent become blocks of the bundle."""
    held = list(agent.get("block_ids") or ())
    for member in ("core_memory", "memory_blocks"):
        lifted = [dict(block) for block in agent.get(member) or ()]
        for number, block in enumerate(lifted):
            block.pop("id", None)
            place = f"/blocks/{len(normal.raw['blocks'])}"
            inside = f"/agents/{index}/{member}/{number}"
            normal.raw["blocks"].append(block)
            normal.origin[place] = normal.place(inside)
            _give_ids(normal.raw["blocks"], "block")
            held.append(block["id"])
        if lifted:
            del agent[member]
    agent.pop("core_memory", None)
    agent["block_ids"] = held


def _give_ids(things: list[dict[str, Any]], kind: str) -> None:
    taken = {thing["id"] for thing in things if "id" in thing}
    number = 0
    for thing in things:
        if "id" in thing:
            continue
        while f"{kind}-{number}" in taken:
            number += 1
        thing["id"] = f"{kind}-{number}"
        taken.add(thing["id"])


def _metadata(thing: dict[str, Any]) -> None:
    """Version 1 calls it ``metadata_``."""
    if "metadata" not in thing and "metadata_" in thing:
        thing["metadata"] = thing.pop("metadata_")


def _in_context(agent: dict[str, Any]) -> None:
    """Version 1 counts messages, version 2 names them; without either all are in context."""
    messages = agent["messages"]
    indices = agent.pop("in_context_message_indices", None)
    if "in_context_message_ids" in agent:
        return
    if indices is None:
        agent["in_context_message_ids"] = [message["id"] for message in messages]
        return
    agent["in_context_message_ids"] = [
        messages[index]["id"] if 0 <= index < len(messages) else f"the message number {index}"
        for index in indices
    ]
