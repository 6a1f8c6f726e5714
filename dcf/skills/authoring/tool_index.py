"""All tools of the sources by server and name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from dcf.problem import Problem
from dcf.skills.authoring.place import Place

_EMPTY_PARAMETERS = {"type": "object", "properties": {}}


def agent_name(tool_name: str) -> str:
    """The tool's name as models accept it: letters, digits, ``_`` and ``-``, all else ``_``."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", tool_name)


@dataclass(frozen=True, slots=True)
class ToolSource:
    """One tool as authored. ``name`` is its name on the server."""

    server_id: str
    name: str
    place: Place

    @property
    def ref(self) -> str:
        return f"{self.server_id}:{self.name}"

    @property
    def description(self) -> str:
        return self.place.text("description") or ""

    @property
    def params(self) -> dict[str, Any]:
        """The JSON Schema of the arguments; always with ``type`` and ``properties``."""
        place = self.place.member("params")
        authored = place.value if place and isinstance(place.value, dict) else {}
        return {**_EMPTY_PARAMETERS, **authored}

    @property
    def result(self) -> dict[str, Any]:
        """The JSON Schema of the answer; ``{}`` when none was written."""
        place = self.place.member("result")
        return place.value if place and isinstance(place.value, dict) else {}

    @property
    def idempotent(self) -> bool:
        """Whether the author declared that a repeated call does nothing more."""
        place = self.place.member("idempotent")
        return place is not None and place.value is True

    def cases(self) -> Iterator[Place]:
        place = self.place.member("cases")
        return place.elements() if place else iter(())


@dataclass(slots=True)
class ToolIndex:
    """``tools`` by ``serverId:toolName``; ``servers`` by id, each with its first description."""

    tools: dict[str, ToolSource] = field(default_factory=dict)
    servers: dict[str, str] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def closest(self, ref: str) -> list[str]:
        """Up to three refs that look like ``ref``: first by the whole, then by the tool's name."""
        near = get_close_matches(ref, self.tools, n=3)
        name = ref.rpartition(":")[2]
        same = [known for known, tool in self.tools.items() if tool.name == name]
        return list(dict.fromkeys([*same, *near]))[:3]

    def on(self, server_id: str) -> list[ToolSource]:
        return [tool for tool in self.tools.values() if tool.server_id == server_id]


def index_tools(documents: Iterable[Place]) -> ToolIndex:
    """Merge the tools files. A server may stand in several files; of a tool that stands in two the
    later one holds."""
    index = ToolIndex()
    for document in documents:
        servers = document.member("servers")
        for server_id, server in servers.members() if servers else ():
            description = server.text("description") or ""
            index.servers[server_id] = index.servers.get(server_id) or description
            index.places.setdefault(server_id, server)
            tools = server.member("tools")
            for name, place in tools.members() if tools else ():
                _add(index, ToolSource(server_id, name, place))
    for server_id in index.servers:
        _check_agent_names(index, server_id)
    return index


def _add(index: ToolIndex, tool: ToolSource) -> None:
    first = index.tools.get(tool.ref)
    index.tools[tool.ref] = tool
    if first is not None:
        where = f"{first.place.document.file}, line {first.place.mark[0]}"
        message = f"the tool {tool.ref!r} replaces the one in {where}"
        hint = "the file that the index lists later holds; keep one of the two"
        index.problems.append(tool.place.problem("TOOL_DUPLICATE", message, hint, "warning"))


def _check_agent_names(index: ToolIndex, server_id: str) -> None:
    taken: dict[str, str] = {}
    for tool in index.on(server_id):
        name = agent_name(tool.name)
        if name in taken:
            message = f"{tool.name!r} and {taken[name]!r} are both called {name!r} by agents"
            hint = "rename one of the two"
            index.problems.append(tool.place.problem("TOOL_NAME_COLLISION", message, hint))
        taken.setdefault(name, tool.name)
