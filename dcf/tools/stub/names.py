"""The names of tools: unique ones for those of several servers, and others that mean the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from dcf.tools.stub.tool import StubTool


def shared_names(tools: Iterable[StubTool]) -> dict[str, StubTool]:
    """Each tool under its own name, or under ``server.tool`` where names clash; none is dropped.

    All holders of a clashing name get the long form, so that adding a server never changes which
    tool a short name means. A long name that clashes in turn is numbered.
    """
    tools = list(tools)
    holders = Counter(tool.name for tool in tools)
    named: dict[str, StubTool] = {tool.name: tool for tool in tools if holders[tool.name] == 1}
    for tool in tools:
        if holders[tool.name] > 1:
            named[_free(f"{tool.server_id}.{tool.name}", named)] = tool
    return named


def called_names(listed: Mapping[str, StubTool], server_id: str | None) -> dict[str, StubTool]:
    """Names beside the listed ones under which a tool can be called, where they are free.

    Of all servers together ``server:tool`` and ``server.tool``; of a tool whose name the earlier
    generator made safe, the name it had.
    """
    others: dict[str, StubTool] = {}
    for tool in listed.values():
        names = [tool.name, *filter(None, [tool.original_name])]
        if server_id is None:
            names = [f"{tool.server_id}{mark}{name}" for mark in ":." for name in names]
        for name in names:
            if name not in listed:
                others.setdefault(name, tool)
    return others


def _free(name: str, taken: Iterable[str]) -> str:
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
