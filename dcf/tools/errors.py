"""What can go wrong between a worker and a tool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from dcf.problem import Problem


class ToolsError(Exception):
    """A tool could not be called. ``code`` is the error name a Task fails with."""

    code: ClassVar[str] = "DCF.ToolError"


class ToolUnavailable(ToolsError):
    """A tool server cannot be reached, or went away before it answered."""

    code: ClassVar[str] = "DCF.ToolUnavailable"

    def __init__(self, server: str, url: str, cause: str) -> None:
        super().__init__(f"tool server {server!r} at {url} is unavailable: {cause}")
        self.server = server
        self.url = url
        self.cause = cause


class ToolTimeout(ToolsError):
    """A tool did not answer before the deadline of the call."""

    code: ClassVar[str] = "DCF.ToolTimeout"

    def __init__(self, server: str, tool: str, seconds: float) -> None:
        super().__init__(f"tool {server}:{tool} did not answer within {seconds:g} s")
        self.server = server
        self.tool = tool
        self.seconds = seconds


class PermissionDenied(ToolsError):
    """No loaded skill declares the tool. ``allowed`` is what they do declare."""

    code: ClassVar[str] = "DCF.PermissionDenied"

    def __init__(self, server: str, tool: str, reason: str, allowed: Sequence[str]) -> None:
        listing = ", ".join(allowed) if allowed else "nothing"
        super().__init__(f"{server}:{tool} is denied: {reason}; allowed: {listing}")
        self.server = server
        self.tool = tool
        self.reason = reason
        self.allowed = tuple(allowed)


class UnknownServer(ToolsError):
    """The registry has no server of this id. ``closest`` are ids that look alike."""

    def __init__(self, server: str, closest: Sequence[str]) -> None:
        hint = f"; did you mean {' or '.join(closest)}?" if closest else ""
        super().__init__(f"no tool server {server!r} in the registry{hint}")
        self.server = server
        self.closest = tuple(closest)


class InvalidDocument(ToolsError):
    """A file of this room (registry, stub configuration) is wrong. ``problems`` has them all."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))
