"""Unique names for the tools of several servers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

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


def _free(name: str, taken: Iterable[str]) -> str:
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
