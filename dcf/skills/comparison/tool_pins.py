"""``tools.lock.json``: what servers said of their tools, brought up to date."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dcf.digest import tool_digest
from dcf.skills.comparison.change import Bump, Change, highest
from dcf.skills.comparison.schema_changes import schema_changes

PinStatus = Literal["added", "changed", "gone", "dropped"]


@dataclass(frozen=True, slots=True)
class PinChange:
    """``gone``: sources have the tool, its server does not list it. ``dropped``: no source has it
    any more. ``changes`` are those of the schemas of a changed tool."""

    tool: str
    status: PinStatus
    changes: tuple[Change, ...] = ()

    @property
    def bump(self) -> Bump:
        """What the changes would ask for, were they those of a skill."""
        return highest(change.bump for change in self.changes)

    def to_json(self) -> dict[str, Any]:
        """``{tool, status, changes}``."""
        changes = [change.to_json() for change in self.changes]
        return {"tool": self.tool, "status": self.status, "changes": changes}


@dataclass(frozen=True, slots=True)
class RenewedPins:
    """``document`` is the new tools.lock.json; ``unknown`` are tools that servers have and no
    source."""

    document: dict[str, Any]
    changes: tuple[PinChange, ...]
    unknown: tuple[str, ...]


def tool_pin(
    input_schema: Mapping[str, Any], output_schema: Mapping[str, Any] | None
) -> dict[str, Any]:
    """An entry of tools.lock.json."""
    given = dict(input_schema)
    answer = None if output_schema is None else dict(output_schema)
    return {"inputSchema": given, "outputSchema": answer, "digest": tool_digest(given, answer)}


def renew_pins(
    before: Mapping[str, Any] | None,
    seen: Mapping[str, Mapping[str, dict[str, Any]]],
    sources: Collection[str],
) -> RenewedPins:
    """``before`` (a tools.lock.json, or None) with what servers said: ``seen`` has for each server
    that answered its tools with their pins. ``sources`` are the tools of the tools files as
    ``server:tool``. Entries of servers that did not answer stay."""
    old: Mapping[str, Any] = (before or {}).get("tools", {})
    live = {
        f"{server}:{name}": pin for server, tools in seen.items() for name, pin in tools.items()
    }
    pins = {ref: pin for ref, pin in old.items() if ref.partition(":")[0] not in seen}
    pins.update({ref: pin for ref, pin in live.items() if ref in sources})
    asked = {ref for ref in {*old, *sources} if ref.partition(":")[0] in seen}
    changes = [
        change
        for ref in sorted(asked)
        if (change := _change(ref, old.get(ref), pins.get(ref), ref in sources)) is not None
    ]
    document = {"lockVersion": 1, "tools": dict(sorted(pins.items()))}
    unknown = tuple(sorted(set(live) - set(sources)))
    return RenewedPins(document, tuple(changes), unknown)


def _change(
    ref: str, old: dict[str, Any] | None, new: dict[str, Any] | None, in_sources: bool
) -> PinChange | None:
    if new is None:
        if in_sources:
            return PinChange(ref, "gone")
        return PinChange(ref, "dropped") if old is not None else None
    if old is None:
        return PinChange(ref, "added")
    if old["digest"] == new["digest"]:
        return None
    changes = (
        *schema_changes(old["inputSchema"], new["inputSchema"], "arguments", "arguments"),
        *schema_changes(old["outputSchema"], new["outputSchema"], "answer", "answer"),
    )
    return PinChange(ref, "changed", changes)
