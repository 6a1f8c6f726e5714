"""From the tools sources to the stub's configuration (schemas/stub_config.schema.json)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from dcf.skills.authoring.answer import all_answers_fit
from dcf.skills.authoring.case_answer import ANSWER_MEMBERS
from dcf.skills.authoring.case_path import case_path, parse_case_path
from dcf.skills.authoring.case_value import case_value
from dcf.skills.authoring.locked_tool import locked_tool
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.tool_index import ToolIndex, ToolSource


def stub_document(
    tools: ToolIndex, seed: int, pins: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What the stub serves. Tools keep the names they have on their servers, and the schemas, where
    ``pins`` (``tools`` of tools.lock.json) has them."""
    seen = pins or {}
    servers = {
        server_id: {
            "description": description,
            "tools": {
                tool.name: _tool(locked_tool(tool, seen), seed) for tool in tools.on(server_id)
            },
        }
        for server_id, description in tools.servers.items()
    }
    return {"seed": seed, "servers": servers}


def _tool(tool: ToolSource, seed: int) -> dict[str, Any]:
    authored = tool.place.value
    defaults = authored.get("defaults", {})
    return {
        "version": authored.get("version", "0.1.0"),
        "description": tool.description,
        "paramsSchema": tool.params,
        "resultSchema": announced_result(tool),
        "idempotent": tool.idempotent,
        "defaultResponse": _default_response(tool),
        "rateLimit": {"rps": defaults.get("rateLimit", {}).get("rps", 0)},
        "latencyMs": {"default": defaults.get("latencyMs", 100)},
        "cases": [_case(case, tool, seed) for case in tool.cases()],
    }


def _default_response(tool: ToolSource) -> Any:
    return tool.place.value.get("defaults", {}).get("response")


def announced_result(tool: ToolSource) -> dict[str, Any]:
    """The schema of the tool's answers; ``{}`` when one of them does not fit it (a warning said
    so), because clients refuse an answer that breaks its own schema."""
    return tool.result if all_answers_fit(tool) else {}


def _case(case: Place, tool: ToolSource, seed: int) -> dict[str, Any]:
    authored = case.value
    document = {
        "caseId": authored["id"],
        "match": _match(authored["match"], case_path(case.value["match"]), tool),
        "weight": authored.get("weight", 0),
    }
    if "arguments" in authored:
        document["arguments"] = authored["arguments"]
    key = f"{tool.ref}:{authored['id']}"
    if "sequence" not in authored:
        return {**document, **_answer(authored, tool, seed, key)}
    if "latencyMsOverride" in authored:
        document["latencyMsOverride"] = authored["latencyMsOverride"]
    steps = [
        _answer(step, tool, seed, f"{key}:{number}")
        for number, step in enumerate(authored["sequence"]["steps"])
    ]
    then = authored["sequence"].get("then", "repeat_last")
    return {**document, "sequence": {"steps": steps, "then": then}}


def _answer(authored: dict[str, Any], tool: ToolSource, seed: int, key: str) -> dict[str, Any]:
    """What a case or step answers; ``key`` tells its draws from those of others."""
    document = {name: authored[name] for name in ANSWER_MEMBERS if name in authored}
    if "response" in document:
        document.pop("responseTemplate", None)
    succeeds = authored.get("errorMode") in (None, "flaky")
    if succeeds and not {"response", "responseTemplate"} & authored.keys():
        document["response"] = _default_response(tool)
    if document.get("errorMode") == "flaky":
        document.setdefault("flakyRate", 0.1)
        document.setdefault("seed", _derived_seed(seed, key))
    return document


def _match(match: dict[str, Any], path_text: str | None, tool: ToolSource) -> dict[str, Any]:
    strategy = match["strategy"]
    if strategy == "always":
        return {"strategy": strategy, "expr": None, "value": None}
    path = parse_case_path(path_text) if path_text else None
    compared = case_value(strategy, path, match.get("value"), tool.params)
    return {
        "strategy": strategy,
        "expr": path.expr if path else None,
        "value": compared.value,
    }


def _derived_seed(seed: int, key: str) -> int:
    """A seed of 32 bits for a flaky case that has none of its own: other cases do not move it."""
    digest = hashlib.sha256(f"{seed}:{key}".encode()).digest()
    return int.from_bytes(digest[:4])
