"""What ``run_command`` takes and answers: for its server, and for drafts that are to call it.

A file of its own, so that whoever writes a draft does not load an MCP server.
"""

from __future__ import annotations

from typing import Any

TOOL = "run_command"
USUAL_S, LONGEST_S = 60.0, 3600.0
MOST_ARGUMENTS, LONGEST_ARGUMENT = 256, 32 * 1024

PARAMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "argv": {
            "description": "The program and its arguments, one item each; no shell reads them.",
            "type": "array",
            "items": {"type": "string", "maxLength": LONGEST_ARGUMENT},
            "minItems": 1,
            "maxItems": MOST_ARGUMENTS,
        },
        "timeout_s": {
            "description": "Seconds after which the program is ended.",
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": LONGEST_S,
            "default": USUAL_S,
        },
    },
    "required": ["argv"],
    "additionalProperties": False,
}
RESULT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "exit_code": {"type": "integer"},
        "stdout": {"type": "string"},
        "stderr": {"type": "string"},
        "truncated": {"type": "boolean"},
    },
    "required": ["exit_code", "stdout"],
}
