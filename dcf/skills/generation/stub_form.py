"""From the tools sources to the stub's configuration (schemas/stub_config.schema.json)."""

from __future__ import annotations

import hashlib
from typing import Any

from dcf.skills.authoring.case_path import parse_case_path
from dcf.skills.authoring.case_value import case_value
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.tool_index import ToolIndex, ToolSource

_COPIED = (
    "response",
    "responseTemplate",
    "latencyMsOverride",
    "errorMode",
    "flakyRate",
    "seed",
    "errorCode",
)


def stub_document(tools: ToolIndex, seed: int) -> dict[str, Any]:
    """What the stub serves. Tools keep the names they have on their servers."""
    servers = {
        server_id: {
            "description": description,
            "tools": {tool.name: _tool(tool, seed) for tool in tools.on(server_id)},
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
        "resultSchema": tool.result,
        "defaultResponse": _default_response(tool),
        "rateLimit": {"rps": defaults.get("rateLimit", {}).get("rps", 0)},
        "latencyMs": {"default": defaults.get("latencyMs", 100)},
        "cases": [_case(case, tool, seed) for case in tool.cases()],
    }


def _default_response(tool: ToolSource) -> Any:
    return tool.place.value.get("defaults", {}).get("response")


def _case(case: Place, tool: ToolSource, seed: int) -> dict[str, Any]:
    authored = case.value
    document = {
        "caseId": authored["id"],
        "match": _match(authored["match"], tool),
        "weight": authored.get("weight", 0),
    }
    document.update({name: authored[name] for name in _COPIED if name in authored})
    answers = authored.get("errorMode") in (None, "flaky")
    if answers and not {"response", "responseTemplate"} & authored.keys():
        document["response"] = _default_response(tool)
    if document.get("errorMode") == "flaky":
        document.setdefault("flakyRate", 0.1)
        document.setdefault("seed", _derived_seed(seed, tool.ref, authored["id"]))
    return document


def _match(match: dict[str, Any], tool: ToolSource) -> dict[str, Any]:
    strategy = match["strategy"]
    if strategy == "always":
        return {"strategy": strategy, "expr": None, "value": None}
    path = parse_case_path(match["path"]) if "path" in match else None
    compared = case_value(strategy, path, match.get("value"), tool.params)
    return {
        "strategy": strategy,
        "expr": path.expr if path else None,
        "value": compared.value,
    }


def _derived_seed(seed: int, ref: str, case_id: str) -> int:
    """A seed of 32 bits for a flaky case that has none of its own: other cases do not move it."""
    digest = hashlib.sha256(f"{seed}:{ref}:{case_id}".encode()).digest()
    return int.from_bytes(digest[:4])
