"""The schemas that tools had when they were locked, and what has changed since."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dcf.tools.result import ToolDescription

_LINES = 40


@dataclass(frozen=True, slots=True)
class SchemaPin:
    """The schemas of a tool when it was looked at last.

    ``locked`` is true when the server itself was asked (``dcf skills lock``): then it must still
    take exactly these arguments, and promise no other answers. It may promise none: an answer is
    data, whatever is said of it; only what is sent out must not change unseen. Else the schemas are
    the author's, and the server need only take what the author wrote: no other types, no member
    less, none more that is required.
    """

    input_schema: Mapping[str, Any] = field(hash=False)
    output_schema: Mapping[str, Any] | None = field(default=None, hash=False)
    locked: bool = True

    def changes(self, live: ToolDescription) -> tuple[str, ...]:
        """What stands between the pin and the tool that is live now; empty when it holds. What the
        tool's own description says may change."""
        if not self.locked:
            return tuple(_misfits(self.input_schema, live.input_schema))
        pinned: dict[str, Any] = {"inputSchema": self.input_schema}
        listed: dict[str, Any] = {"inputSchema": live.input_schema}
        if self.output_schema is not None and live.output_schema is not None:
            pinned["outputSchema"] = _inner(self.output_schema)
            listed["outputSchema"] = _inner(live.output_schema)
        return () if _same(pinned, listed) else _diff(pinned, listed)


def read_pins(lock: Mapping[str, Any]) -> dict[str, SchemaPin]:
    """The pins by ``server:tool`` of a lock document (``generated/skills.lock``)."""
    return {
        tool: SchemaPin(
            entry["inputSchema"], entry.get("outputSchema"), entry.get("origin") == "server"
        )
        for tool, entry in lock.get("tools", {}).items()
    }


def _inner(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of ``x`` where answers are ``{"result": x}``, as servers built with the Python SDK
    make them of what is no object: the stub, and what was recorded, have ``x`` alone."""
    members = _members(schema)
    if set(members) != {"result"} or not isinstance(members["result"], Mapping):
        return schema
    return {**{name: schema[name] for name in ("$defs",) if name in schema}, **members["result"]}


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    # Not `==`, for which 1 is true, and no bytes: a server may write what UTF-8 cannot say.
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _diff(pinned: Mapping[str, Any], live: Mapping[str, Any]) -> tuple[str, ...]:
    before, after = _lines(pinned), _lines(live)
    lines = list(difflib.unified_diff(before, after, "pinned", "live", lineterm="", n=2))
    left = len(lines) - _LINES
    return tuple(lines[:_LINES]) + ((f"and {left} more lines",) if left > 0 else ())


def _lines(schema: Mapping[str, Any]) -> list[str]:
    return json.dumps(schema, sort_keys=True, indent=2, ensure_ascii=False).splitlines()


def _misfits(authored: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[str]:
    ours, theirs = _members(authored), _members(live)
    for name in sorted(set(live.get("required", ())) - set(ours)):
        yield f"+ {name}: required by the server, not in the tools file"
    open_ended = live.get("additionalProperties", True) is not False
    for name, schema in sorted(ours.items()):
        if name not in theirs:
            if not open_ended or theirs:
                yield f"- {name}: in the tools file, not taken by the server"
            continue
        before, after = _type(schema), _type(theirs[name])
        if before and after and not before <= after:
            listed = " or ".join(sorted(after))
            yield f"~ {name}: {' or '.join(sorted(before))} in the tools file, {listed} now"


def _members(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    members = schema.get("properties")
    return members if isinstance(members, Mapping) else {}


def _type(schema: Any) -> frozenset[str]:
    """The types that a simple schema names; nothing for one that says it in another way."""
    named = schema.get("type") if isinstance(schema, Mapping) else None
    types = frozenset([named] if isinstance(named, str) else named or ())
    return types | {"integer"} if "number" in types else types
