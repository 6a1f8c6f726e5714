"""A tool as clients list it: all that calls need, and nothing that a model would pay for in vain.

What the reference and the checks have beside it (``Tool.input_schema``, ``Tool.output_schema``):
parameters without effect and rare ones, help that repeats a name, defaults that say "no" or
"nothing" or are the usual number or word, and the same help on the envelope of every answer, which
``INSTRUCTIONS`` give once.
"""

from __future__ import annotations

from typing import Any

from dcf.mcp.envelope import Envelope
from dcf.mcp.help import NoEffect, Obvious, Rare
from dcf.mcp.tool import Tool

INSTRUCTIONS = (
    "DCF runs workflows whose steps are done by agents. Every tool answers {status, error, ...}; "
    'error is null on success, else "code: message"; hint says what would help, problems '
    "everything that is wrong, warnings what was ignored or is doubtful. Parameters that end with "
    "_json are JSON text. workflow_id is the id of a run; after and before take next_after and "
    "next_before of the last page; what is not given is false, none or as usual unless a default "
    "says otherwise."
)
"""What a client is told once of all tools."""
_HELP = frozenset({"description", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
"""What an obvious parameter is listed without: who goes beyond its bounds is told them then."""
_SAID_ONCE = frozenset(Envelope.__annotations__) | {"error_id"}


def listing(tool: Tool) -> dict[str, Any]:
    """``tool`` as it stands in ``tools/list``: ``{name, description, inputSchema, outputSchema}``.
    Checks of arguments against it are those of the tool, but for parameters without effect."""
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": _asked(tool),
        "outputSchema": _answered(tool.output_schema),
    }


def _asked(tool: Tool) -> dict[str, Any]:
    properties = tool.input_schema["properties"]
    shown = {
        one.name: _short(properties[one.name], silent=isinstance(one.help, Obvious))
        for one in tool.parameters.all
        if not isinstance(one.help, NoEffect | Rare)
    }
    return {**tool.input_schema, "properties": shown}


def _short(part: dict[str, Any], *, silent: bool) -> dict[str, Any]:
    """``part`` without a default that says nothing and, if ``silent``, without help and bounds and
    the usual number or word."""
    left = {key: value for key, value in part.items() if key not in _HELP or not silent}
    default = left.get("default")
    if default is False or default == "" or (silent and default is not True):
        left.pop("default", None)
    return left


def _answered(schema: dict[str, Any]) -> dict[str, Any]:
    properties = {
        name: _short(part, silent=name in _SAID_ONCE) for name, part in schema["properties"].items()
    }
    return {**schema, "properties": properties}
