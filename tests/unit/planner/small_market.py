"""A market of a few skills whose tools and answers are known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dcf.planner import THRESHOLDS, Market, ToolResults
from dcf.search import embedder_named
from dcf.skills import Manifest, SkillCatalog
from dcf.skills.discovery import SkillSearch

TOOLS: Mapping[str, tuple[dict[str, str], dict[str, str], bool]] = {
    "shop:check": ({"order_id": "string"}, {"valid": "boolean", "reason": "string"}, True),
    "shop:price": (
        {"order_id": "string"},
        {"amount_cents": "integer", "currency": "string"},
        True,
    ),
    "shop:discount": ({"amount_cents": "integer"}, {"amount_cents": "integer"}, True),
    "shop:charge": (
        {"order_id": "string", "amount_cents": "integer"},
        {"payment_id": "string"},
        False,
    ),
    "shop:list": ({"order_id": "string"}, {"lines": "array", "count": "integer"}, True),
    "post:tell": ({"order_id": "string"}, {"channel": "string"}, False),
}
"""By ``server:tool``: what it takes, what it gives, and whether it is idempotent."""

SKILLS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "shop.check@1.0.0": ("Check that an order is complete.", ("shop:check",)),
    "shop.price@1.0.0": ("Work out the price of an order.", ("shop:price", "shop:discount")),
    "shop.charge@1.0.0": ("Charge the card of the customer.", ("shop:charge",)),
    "shop.charge@1.1.0": ("Charge the card of the customer.", ("shop:charge",)),
    "shop.charge@2.0.0": ("Charge the card of the customer.", ("shop:charge",)),
    "shop.list@1.0.0": ("List the lines of an order.", ("shop:list",)),
    "post.tell@1.0.0": ("Tell the customer what happened.", ("post:tell",)),
}

EXAMPLES: Mapping[str, Any] = {
    "string": "text",
    "integer": 7,
    "boolean": True,
    "array": [{"sku": "DESK"}, {"sku": "LAMP"}],
}

SELL_IT = """# Sell it

## Objective

It is paid for.

## Inputs

- `order_id` (text)

## Steps

1. Check the order
   - Skill: shop.check
   - Writes: `valid`
   - If `valid` is false, stop with Rejected
2. Charge the card of the customer
   - Skill: shop.charge
   - Retry on Busy up to 2 times
3. Tell the customer what happened
   - Skill: post.tell
"""
"""A procedure of steps that the market covers."""


def small_market(folder: Path, **changed: Any) -> Market:
    """The market, with an index in ``folder``; words alone decide."""
    catalog = SkillCatalog([_manifest(ref, *said) for ref, said in SKILLS.items()])
    finder = SkillSearch(folder / "skills.db", embedder_named("none"))
    results = ToolResults({key: _object(gives) for key, (_, gives, _) in TOOLS.items()})
    parts = {"results": results, "threshold": THRESHOLDS["none"], **changed}
    return Market(catalog, finder, **parts)


def answer_of(skills: list[str]) -> Any:
    """What a Task with ``skills`` answers: its only tool's answer, or that of each by name."""
    tools = [tool for ref in skills for tool in SKILLS[ref][1]]
    answers = {
        tool.partition(":")[2]: {name: EXAMPLES[kind] for name, kind in TOOLS[tool][1].items()}
        for tool in tools
    }
    return next(iter(answers.values())) if len(answers) == 1 else answers


def _manifest(ref: str, description: str, tools: tuple[str, ...]) -> Manifest:
    name, _, version = ref.partition("@")
    return Manifest.from_document(
        {
            "manifestApiVersion": "v2.1.0",
            "manifestId": f"skill.{ref}",
            "skillPackageId": None,
            "skillName": name,
            "skillVersion": version,
            "description": description,
            "skillDirectives": description,
            "tags": [name.partition(".")[0]],
            "permissions": {"egress": "none", "secrets": [], "riskLevel": "low"},
            "requiredDataSources": [],
            "requiredTools": [_tool(tool) for tool in tools],
        }
    )


def _tool(key: str) -> dict[str, Any]:
    server, _, name = key.partition(":")
    takes, _, idempotent = TOOLS[key]
    return {
        "toolName": name,
        "description": name,
        "definition": {"type": "mcp_server", "serverId": server, "toolName": name},
        "json_schema": {"name": name, "description": name, "parameters": _object(takes)},
        "required": True,
        "idempotent": idempotent,
    }


def _object(members: Mapping[str, str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in members.items()},
        "required": list(members),
    }
