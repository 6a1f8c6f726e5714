"""The page of the MCP server's tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dcf.cli.reference_pages.markdown import page, table

if TYPE_CHECKING:
    from dcf.mcp import Parameters

_INTRO = """\
What `dcf serve` and `dcf mcp` offer, as clients see it: [how to](../how-to/mcp-server.md). Every
tool answers `{status, error, …}`; `error` is null when it worked, and `"code: message"` otherwise,
with `hint` and `problems` where there are any. Parameters that end with `_json` are JSON text."""

_COSTS = """\
In tokens of a client's model: the server's instructions, and names, descriptions and input schemas;
output schemas apart, since few clients show them to a model.

Clients get less than this page has: no help that a parameter's name and type say already (in
*italics* here), no default that is false or empty, no help on `hint`, `problems` and the like in
answers, and no parameter *without effect*: those are taken for callers of the earlier server."""


def mcp_tools_page() -> str:
    """The text of ``mcp-tools.md``."""
    from dcf.mcp import ROLES, cost_of, cost_of_role, load_catalogue

    catalogue = load_catalogue()
    rows = []
    for role in (None, *ROLES):
        cost = cost_of_role(catalogue, role)
        count = str(len(catalogue.tools(role)))
        rows.append([role or "all tools", count, f"{cost.shown:,}", f"{cost.output:,}"])
    parts = ["## Costs", _COSTS, table(["role", "tools", "tokens", "output schemas"], rows)]
    for family, tools in catalogue.families.items():
        parts.append(f"## {family.replace('_', ' ')}")
        for tool in tools:
            roles = ", ".join(role for role in ROLES if role in tool.roles) or "none: full set only"
            about = f"{tool.description}\n\nRoles: {roles}. {cost_of(tool).shown} tokens."
            parts += [f"### {tool.name}", about, *arguments(tool.parameters, tool.input_schema)]
            parts.append(_answer(tool.output_schema))
    return page("MCP tools", _INTRO, *parts)


def arguments(parameters: Parameters, schema: Mapping[str, Any]) -> list[str]:
    """The table of a tool's parameters, none if it takes none."""
    rows = []
    for one in parameters.all:
        part = schema["properties"][one.name]
        default = "required" if one.required else _shown(part.get("default"))
        rows.append([f"`{one.name}`", _type(part), default, _help(one.help)])
    return [table(["parameter", "type", "default", "meaning"], rows)] if rows else []


def _answer(schema: Mapping[str, Any]) -> str:
    common = ("status", "error", "hint", "problems", "warnings", "error_id")
    rows = [
        [f"`{name}`", part["description"]]
        for name, part in schema["properties"].items()
        if name not in common
    ]
    return table(["answer", "meaning"], rows) if rows else "Answers nothing more."


def _help(text: str) -> str:
    """For whom it is shows in how it is printed."""
    from dcf.mcp import NoEffect, Obvious

    if isinstance(text, NoEffect):
        return f"*without effect:* {text}"
    return f"*{text}*" if isinstance(text, Obvious) else text


def _type(part: Mapping[str, Any]) -> str:
    if "enum" in part:
        return " or ".join(f"`{value}`" for value in part["enum"])
    kind = part.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _shown(default: Any) -> str:
    return "" if default is None else f"`{str(default).lower()}`"
