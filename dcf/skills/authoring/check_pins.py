"""Rules for tools.lock.json: digests that are right, tools that exist, cases that fit them."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.digest import tool_digest
from dcf.problem import Problem
from dcf.skills.authoring.locked_tool import LockedTool, check_locked
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.tool_index import ToolIndex


def check_pins(pins: Place | None, tools: ToolIndex) -> Iterator[Problem]:
    """Every pinned tool of ``pins``, which may be missing."""
    members = pins.member("tools") if pins else None
    for ref, pin in members.members() if members else ():
        if ref not in tools.tools:
            message = f"no tools file has the tool {ref!r}"
            hint = "write it anew with `dcf skills lock`"
            yield pin.problem("LOCK_TOOL_UNKNOWN", message, hint, "warning")
        given, answers = pin.inside("inputSchema"), pin.inside("outputSchema")
        if given is None or answers is None or not isinstance(given.value, dict):
            continue  # said by the shape check
        if pin.text("digest") != tool_digest(given.value, answers.value):
            message = f"the digest of {ref!r} is not that of its schemas: the file was edited"
            hint = "write it anew with `dcf skills lock`, and review what changed"
            yield pin.problem("LOCK_DIGEST", message, hint)
        elif ref in tools.tools:
            tool = tools.tools[ref]
            locked = LockedTool(tool.server_id, tool.name, tool.place, given.value, answers.value)
            yield from check_locked(locked)
