"""The shape of ``generated/stub/stub_config.json``, ours and the earlier generator's.

What is optional may be null, as the earlier generator wrote it.
"""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

from dcf.tools.stub.matching import STRATEGIES
from dcf.tools.stub.tool import ERROR_MODES

_MAYBE_NUMBER = {"type": ["number", "null"], "minimum": 0}
_REPLY: dict[str, Any] = {
    "latencyMsOverride": _MAYBE_NUMBER,
    "errorMode": {"enum": [None, *ERROR_MODES]},
    "flakyRate": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
    "seed": {"type": ["integer", "null"]},
    "errorCode": {"type": ["string", "null"]},
}
_SEQUENCE = {
    "type": ["object", "null"],
    "required": ["steps"],
    "properties": {
        "steps": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "properties": _REPLY},
        },
        "then": {"enum": [None, "repeat_last", "cycle"]},
    },
}
_CASE = {
    "type": "object",
    "required": ["caseId", "match"],
    "properties": {
        "caseId": {"type": "string", "minLength": 1},
        "match": {
            "type": "object",
            "required": ["strategy"],
            "properties": {
                "strategy": {"enum": list(STRATEGIES)},
                "expr": {"type": ["string", "null"]},
            },
        },
        **_REPLY,
        "weight": {"type": ["number", "null"]},
        "sequence": _SEQUENCE,
        "arguments": {"type": ["object", "null"]},
    },
}
_TOOL = {
    "type": "object",
    "properties": {
        "description": {"type": ["string", "null"]},
        "paramsSchema": {"type": ["object", "null"]},
        "resultSchema": {"type": ["object", "null"]},
        "rateLimit": {"type": ["object", "null"], "properties": {"rps": _MAYBE_NUMBER}},
        "latencyMs": {"type": ["object", "null"], "properties": {"default": _MAYBE_NUMBER}},
        "idempotent": {"type": ["boolean", "null"]},
        "cases": {"type": ["array", "null"], "items": _CASE},
        "meta": {
            "type": ["object", "null"],
            "properties": {"originalToolName": {"type": ["string", "null"]}},
        },
    },
}
SHAPE = Draft202012Validator(
    {
        "type": "object",
        "required": ["servers"],
        "properties": {
            "seed": {"type": "integer"},
            "servers": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "required": ["tools"],
                    "properties": {"tools": {"type": "object", "additionalProperties": _TOOL}},
                },
            },
        },
    }
)
