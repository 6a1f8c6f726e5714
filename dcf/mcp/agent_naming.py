"""Agents that a call names: by their ids or by their names, whichever the tool takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from control_plane import UnknownAgent
from dcf.mcp.agent_life import agent_of, id_of
from dcf.mcp.arguments import Parameters
from dcf.mcp.envelope import BadArguments, Refused
from dcf.mcp.json_text import storable
from dcf.mcp.platform import Platform
from dcf.problem import Problem

_ID, _NAME = "agent_id", "agent_name"
_ADVISED = ("planner_agent_id", "reflector_agent_id")


async def with_agent(
    platform: Platform, parameters: Parameters, arguments: Mapping[str, Any]
) -> Mapping[str, Any]:
    """``arguments`` with ``agent_id`` where a tool that takes only that was given ``agent_name``,
    and the other way round, and with the ids of planner and Reflector where they were named. Raises
    BadArguments, Refused and UnknownAgent."""
    taken = {one.name for one in parameters.all}
    for role in taken.intersection(_ADVISED):
        arguments = {**arguments, **await _advised(platform, role, arguments.get(role))}
    if (_ID in taken) == (_NAME in taken):
        return arguments
    wanted, other = (_ID, _NAME) if _ID in taken else (_NAME, _ID)
    given = arguments.get(other)
    if not isinstance(given, str) or not given or other in parameters.aliases:
        return arguments
    why = storable(given)
    if why is not None:
        raise BadArguments([Problem("MCP_ARGUMENT", why, f"/{other}")])
    if wanted == _ID:
        found = await _id_of(platform, given)
    else:
        found = await _name_of(platform, given)
    if arguments.get(wanted) not in (None, "", found):
        message = f"names another agent than {wanted} does"
        raise BadArguments([Problem("MCP_ARGUMENT", message, f"/{other}")])
    return {**{name: one for name, one in arguments.items() if name != other}, wanted: found}


async def _advised(platform: Platform, role: str, given: Any) -> dict[str, str]:
    """The id under ``role``, if ``given`` is a name that leads to one and no id itself."""
    if not isinstance(given, str) or not given or storable(given) is not None:
        return {}
    if await agent_of(platform, given) is not None:
        return {}
    found = await id_of(platform, given)
    return {} if found is None else {role: found}


async def _id_of(platform: Platform, name: str) -> str:
    found = await id_of(platform, name)
    if found is None:
        raise Refused("unknown_agent", f"there is no agent called {name[:256]!r}")
    return found


async def _name_of(platform: Platform, agent_id: str) -> str:
    agent = await agent_of(platform, agent_id) or await platform.agents.get(agent_id, ())
    # A name that leads to another agent would be worse than none.
    if agent is None or await id_of(platform, agent.name) != agent_id:
        raise UnknownAgent(agent=agent_id)
    return agent.name
