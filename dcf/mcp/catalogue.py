"""All tools, and those of a role."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from functools import cache

from dcf.mcp.families import FAMILIES
from dcf.mcp.roles import ROLES, Role
from dcf.mcp.tool import Tool


class Catalogue:
    """Tools by name, in the order of their families."""

    def __init__(self, families: Mapping[str, Iterable[Tool]]) -> None:
        self.families = {name: tuple(tools) for name, tools in families.items()}
        self._all: dict[str, Tool] = {}
        for tools in self.families.values():
            for tool in tools:
                if tool.name in self._all:
                    raise ValueError(f"two tools are called {tool.name}")
                self._all[tool.name] = tool
        self._by_role = {
            role: {name: tool for name, tool in self._all.items() if role in tool.roles}
            for role in ROLES
        }

    def tools(self, role: Role | None = None) -> Mapping[str, Tool]:
        """The tools of ``role``, or all."""
        return self._all if role is None else self._by_role[role]


@cache
def load_catalogue() -> Catalogue:
    """The tools of this version."""
    return Catalogue(
        {name: importlib.import_module(f"dcf.mcp.families.{name}").FAMILY for name in FAMILIES}
    )
