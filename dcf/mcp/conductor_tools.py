"""The tools of a conductor that is an agent: those of the server, for its own session."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any

from dcf.agents import JSON, ToolSpec
from dcf.agents.templates import Template
from dcf.mcp.calling import call
from dcf.mcp.catalogue import load_catalogue
from dcf.mcp.listing import listing
from dcf.mcp.platform import Platform
from dcf.mcp.roles import Role
from dcf.mcp.tool import Tool
from dcf.tools import PermissionDenied

ROLE: Role = "conductor"
_OTHERWISE = frozenset({"create_session_context", "send_session_message", "list_sessions"})
"""What makes no sense in a turn of a session that is there."""
_OWN_MEMORY = ("memory", "recall")
"""Families for whose work agents have tools of their own."""
_GIVEN = {"session_id": "session", "conductor_id": "conductor", "conductor_agent_id": "conductor"}
"""Parameters that follow from the turn."""
_PEOPLE_S = "external"
"""What only people say of a companion: its token would stand in what the agent remembers."""


def tools_of(template: Template) -> Mapping[str, Tool]:
    """What an agent made from ``template`` may call as a conductor."""
    catalogue = load_catalogue()
    there = catalogue.tools(ROLE)
    of_role = there if ROLE in template.tools.roles else {}
    own = _OWN_MEMORY if template.tools.memory else ()
    without = {tool.name for family in own for tool in catalogue.families[family]}
    named = {*of_role, *(name for name in template.tools.names if name in there)}
    left = named - without - set(template.tools.without) - _OTHERWISE
    return {name: tool for name, tool in there.items() if name in left}


@cache
def spec_of(tool: Tool) -> ToolSpec:
    """The tool as the agent's model sees it: without what follows from the turn."""
    shown = listing(tool)
    schema = dict(shown["inputSchema"])
    given = {*_GIVEN, "request_id", _PEOPLE_S}
    schema["properties"] = {
        name: part for name, part in schema["properties"].items() if name not in given
    }
    schema["required"] = [name for name in schema.get("required", ()) if name not in given]
    # A model that names its session all the same does no harm.
    schema.pop("additionalProperties", None)
    return ToolSpec(tool.name, shown["description"], schema)


class TurnTools:
    """Calls the tools in one turn, as a client would, but in the name of the conductor, for its
    session. What a ``turn`` makes gets ids that follow from it, so that one that is taken again
    makes nothing twice; it serves ``request``. ``demand`` raises where the turn is lost."""

    def __init__(
        self,
        platform: Platform,
        tools: Mapping[str, Tool],
        *,
        session: str,
        conductor: str,
        turn: str,
        request: str | None,
        demand: Callable[[], Awaitable[None]],
    ) -> None:
        self._platform = platform
        self._tools = tools
        self._session = session
        self._given = {"session": session, "conductor": conductor}
        self._turn = turn
        self._request = request
        self._demand = demand
        self._made: Counter[str] = Counter()

    async def use(self, name: str, arguments: dict[str, JSON]) -> JSON:
        """The answer of the tool, its envelope included. Raises PermissionDenied, TurnLost."""
        tool = self._tools.get(name)
        if tool is None:
            raise PermissionDenied("dcf", name, "it is no tool of conductors", sorted(self._tools))
        whole = self._whole(tool, arguments)
        await self._demand()
        return await call(tool, self._platform, whole)

    def _whole(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
        taken = {one.name for one in tool.parameters.all}
        given: dict[str, Any] = {
            name: self._given[part] for name, part in _GIVEN.items() if name in taken
        }
        if "request_id" in taken:
            given["request_id"] = self._request
        if _PEOPLE_S in taken:
            given[_PEOPLE_S] = False
        mark = self._mark(tool.name, arguments)
        if tool.name in ("delegate_task", "delegate_workflow", "broadcast_task"):
            given["task_id"] = f"task-{mark}"
        elif tool.name == "create_companion" and not arguments.get("companion_name"):
            given["companion_name"] = f"{self._session[:24]}-{mark[:8]}"
        return {**arguments, **given}

    def _mark(self, name: str, arguments: Mapping[str, Any]) -> str:
        """What tells this call from all others, and is the same when the turn is taken again."""
        text = json.dumps([name, arguments], sort_keys=True, ensure_ascii=False, default=str)
        self._made[text] += 1
        parts = [self._session, self._turn, text, str(self._made[text])]
        written = "\0".join(parts).encode("utf-8", "surrogatepass")
        return hashlib.sha256(written).hexdigest()[:16]
