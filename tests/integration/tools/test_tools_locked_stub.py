"""A tool that was locked at its real server is rehearsed: the stub announces what was locked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from integration.tools.conftest import serving_app
from unit.tools.gate_samples import MemoryLedger

from dcf.digest import tool_digest
from dcf.problem import Problem
from dcf.skills import generate_all
from dcf.tools import Dispatcher, Gate, Grant, Registry, ServerConfig, Toolbox
from dcf.tools.gate.pins import read_pins
from dcf.tools.stub import create_stub_app

TOOLS = """\
apiVersion: tools/v1
kind: ToolsRegistry
servers:
  shop:
    description: A shop
    tools:
      price:
        description: What it costs.
        params: {type: object, properties: {item: {type: string}}, required: [item]}
        result: {type: integer}
        defaults: {response: 5, latencyMs: 0}
        cases:
          - id: tea
            match: {strategy: exact, path: item, value: tea}
            response: 3
      find:
        description: Where it is.
        params: {type: object, properties: {item: {type: string}}}
        result: {type: object}
        defaults: {response: {shelf: 4}, latencyMs: 0}
"""
REGISTRY = """\
apiVersion: registry/v1
kind: ServerRegistry
servers:
  shop: {transport: streamable_http, endpoint: "http://127.0.0.1:8765", path: /mcp/shop}
"""
SKILL = """\
apiVersion: skill/v1
kind: Skill
metadata: {manifestId: skill.shop@1.0.0, name: shop, version: 1.0.0, description: Buy tea.}
spec:
  directives: Find it, then ask for its price.
  tools: [{ref: "shop:price"}, {ref: "shop:find"}]
"""
# As a server built with the Python SDK writes schemas: titles, and wrapped results.
PRICE_IN = {
    "type": "object",
    "title": "priceArguments",
    "properties": {"item": {"type": "string", "title": "Item"}},
    "required": ["item"],
}
PRICE_OUT = {
    "type": "object",
    "title": "priceOutput",
    "properties": {"result": {"type": "integer", "title": "Result"}},
    "required": ["result"],
}
FIND_IN = {"type": "object", "properties": {"item": {"type": "string", "title": "Item"}}}
FIND_OUT = {"type": "object", "properties": {"shelf": {"type": "integer", "title": "Shelf"}}}


def generated(folder: Path, **tools: tuple[Any, Any]) -> tuple[Path, tuple[Problem, ...]]:
    source = folder / "skills_src"
    (source / "skills").mkdir(parents=True)
    (source / "skills" / "shop.skill.yaml").write_text(SKILL)
    (source / "registry.yaml").write_text(REGISTRY)
    (source / "tools.yaml").write_text(TOOLS)
    locked = {
        f"shop:{name}": {"inputSchema": i, "outputSchema": o, "digest": tool_digest(i, o)}
        for name, (i, o) in tools.items()
    }
    document = {"lockVersion": 1, "tools": locked}
    (source / "tools.lock.json").write_text(json.dumps(document))
    done = generate_all(source, folder / "generated")
    assert done.ok, done.problems
    return folder / "generated", done.problems


async def called(folder: Path, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """The answers of the stub, through a gate with the pins of the lock."""
    pins = read_pins(json.loads((folder / "skills.lock").read_text()))
    async with serving_app(create_stub_app(folder / "stub" / "stub_config.json")) as url:
        registry = Registry([ServerConfig("shop", url=f"{url}/mcp/shop")])
        grants = [Grant("shop", name, "skill.shop@1.0.0") for name in ("price", "find")]
        async with Toolbox(registry) as toolbox:
            gate = Gate(grants, servers=registry, pins=pins)
            dispatcher = Dispatcher(gate, toolbox, MemoryLedger())
            results = [
                await dispatcher.call("shop", name, given, timeout_s=10) for name, given in calls
            ]
    return [result.data for result in results]


async def test_a_locked_tool_passes_the_gate_at_the_stub(tmp_path: Path) -> None:
    folder, problems = generated(tmp_path, price=(PRICE_IN, PRICE_OUT), find=(FIND_IN, FIND_OUT))
    assert problems == ()
    lock = json.loads((folder / "skills.lock").read_text())["tools"]
    assert {name: tool["origin"] for name, tool in lock.items()} == {
        "shop:price": "server",
        "shop:find": "server",
    }
    calls = [("price", {"item": "tea"}), ("price", {"item": "milk"}), ("find", {"item": "tea"})]
    assert await called(folder, *calls) == [3, 5, {"shelf": 4}]


async def test_answers_that_the_server_would_not_give_are_warned_of_and_still_given(
    tmp_path: Path,
) -> None:
    other = {"type": "object", "properties": {"shelf": {"type": "string"}}}
    folder, problems = generated(tmp_path, find=(FIND_IN, other))
    (warning,) = problems
    assert (warning.code, warning.severity) == ("LOCK_CASE_ANSWER", "warning")
    assert warning.file and warning.line
    assert await called(folder, ("find", {})) == [{"shelf": 4}]
