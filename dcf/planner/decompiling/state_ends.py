"""How long a state waits and how it fails, in the terms of a step."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dcf.planner.decompiling.jsonata_condition import NotPlain
from dcf.planner.decompiling.jsonpath_condition import dotted
from dcf.sop import Name, StepKind, Stop, Wait

State = Mapping[str, Any]
_PART = re.compile(
    r"""(?:\$string\(\$(?P<name>[A-Za-z]\w*(?:\.\w+)*)\)"""
    r"""|(?P<text>'[^'\\]*'|"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"))"""
    r"(?:\s*&\s*(?=\S)|$)"
)


def wait_of(state: State) -> Wait:
    for field in ("Seconds", "SecondsPath"):
        value = state.get(field)
        if isinstance(value, int):
            return Wait(seconds=value)
        if isinstance(value, str):
            return Wait(seconds=name_or(value, "pause_seconds"))
    value = state.get("Timestamp", state.get("TimestampPath"))
    if isinstance(value, str) and value[:1].isdigit():
        return Wait(until=value)
    return Wait(until=name_or(str(value), "due_at"))


def name_or(expression: str, otherwise: str) -> Name:
    try:
        return Name(dotted(expression.strip().removeprefix("{%").removesuffix("%}").strip()))
    except NotPlain:
        return Name(otherwise)


def deadline_of(state: State, binding: Mapping[str, Any], kind: StepKind) -> int | None:
    limit = state.get("TimeoutSeconds")
    approval = binding.get("approval")
    if kind == "approval" and isinstance(approval, Mapping):
        limit = approval.get("timeout_s", limit)
    return int(limit) if isinstance(limit, int | float) and limit >= 1 else None


def stop_of(state: State) -> Stop:
    error, cause = state.get("Error"), state.get("Cause")
    return Stop(
        error_name(error) if isinstance(error, str) and not error.startswith("{%") else "",
        cause_of(cause) if isinstance(cause, str) else "",
    )


def error_name(error: str) -> str:
    """``error`` as a procedure can name it: letters, digits and dots."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", error).strip("_.-")
    return name if name[:1].isalpha() else f"Error_{name}".rstrip("_")


def cause_of(cause: str) -> str:
    """A cause in words, its values as names in backticks; empty where it computes anything else."""
    if not cause.startswith("{%"):
        return cause.replace("`", "'")  # no value is meant
    told, at = [], 0
    text = cause.removeprefix("{%").removesuffix("%}").strip()
    while at < len(text):
        found = _PART.match(text, at)
        if found is None:
            return ""
        told.append(f"`{found['name']}`" if found["name"] else literal_of(found["text"]))
        at = found.end()
    return "".join(told)


def literal_of(text: str) -> str:
    return str(json.loads(text)) if text.startswith('"') else text[1:-1]


def objects(found: Any) -> Sequence[Mapping[str, Any]]:
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
