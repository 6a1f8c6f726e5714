"""What tools of an agent file need before an agent of DCF can call them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dcf.problem import Problem

MEMORY_TOOLS = frozenset(
    {
        "archival_memory_insert",
        "archival_memory_search",
        "conversation_search",
        "core_memory_append",
        "core_memory_replace",
        "memory_insert",
        "memory_replace",
        "memory_rethink",
        "send_message",
        "send_message_to_agent_async",
    }
)
"""Tools of the earlier system that every agent of DCF has, under this or another name: its memory,
and its answer."""
_SERVED = ("external_mcp", "external_composio")


def tool_warnings(place: str, raw: Mapping[str, Any]) -> Iterator[Problem]:
    """What is to be done for the tool at ``place``; nothing for those that agents have anyway."""
    name, kind = raw["name"], raw.get("tool_type") or "custom"
    if kind.startswith("letta") and name in MEMORY_TOOLS:
        return
    if kind in _SERVED:
        message = f"the tool {name} is on a server that the file does not name"
        hint = "enter the server in registry.yaml, and load a skill that declares the tool"
    elif raw.get("source_code"):
        message = f"the tool {name} is program text; it is kept and never run"
        hint = "serve it as an MCP server of your own, and load a skill that declares the tool"
    else:
        message = f"the tool {name} is built into the program that wrote the file"
        hint = "load a skill with a tool that does the same"
    yield Problem("AGENT_FILE_TOOL", message, place, hint, "warning")
