"""What the tools cost a client: the tokens of what it has to put before its model."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dcf.mcp.catalogue import Catalogue
from dcf.mcp.listing import INSTRUCTIONS, listing
from dcf.mcp.roles import Role
from dcf.mcp.tool import Tool
from dcf.search import count_tokens

WHOLE_LIMIT = 12_250
"""The server's instructions, and names, descriptions and input schemas of all tools, in tokens."""
ROLE_LIMIT = 4_000
"""The same of the tools of one role."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens. Output schemas are apart: few clients show them to a model."""

    shown: int
    output: int

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.shown + other.shown, self.output + other.output)


def cost_of(tool: Tool) -> Cost:
    """What one tool costs, as the compact JSON of its listing."""
    shown = listing(tool)
    output = shown.pop("outputSchema")
    return Cost(_tokens(shown), _tokens(output))


def cost_of_role(catalogue: Catalogue, role: Role | None) -> Cost:
    """What a client of a role pays, or one that sees all tools: the instructions and the tools."""
    total = Cost(count_tokens(INSTRUCTIONS), 0)
    for tool in catalogue.tools(role).values():
        total += cost_of(tool)
    return total


def _tokens(value: object) -> int:
    return count_tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
