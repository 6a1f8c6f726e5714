"""What can go wrong between a worker and a tool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from dcf.problem import Problem

if TYPE_CHECKING:
    from dcf.tools.gate.approval import ApprovalRequest
    from dcf.tools.gate.decision import Decision

_UNDECLARED = ("", "tool.undeclared", "tool.not_loaded")


class ToolsError(Exception):
    """A tool could not be called. ``code`` is the error name a Task fails with."""

    code: ClassVar[str] = "DCF.ToolError"


class ToolUnavailable(ToolsError):
    """A tool server cannot be reached, or went away before it answered. ``sent`` is false where the
    call surely did not arrive."""

    code: ClassVar[str] = "DCF.ToolUnavailable"

    def __init__(self, server: str, url: str, cause: str, *, sent: bool = True) -> None:
        super().__init__(f"tool server {server!r} at {url} is unavailable: {cause}")
        self.sent = sent
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


class ToolResultTooLarge(ToolsError):
    """A tool answered with more than can be taken; asking again would not help.

    ``size`` (bytes) is None where reading stopped at the limit.
    """

    code: ClassVar[str] = "DCF.ToolResultTooLarge"

    def __init__(self, server: str, tool: str, size: int | None, limit: int) -> None:
        much = f"more than {limit}" if size is None else f"{size}"
        super().__init__(f"tool {server}:{tool} answered with {much} bytes; the limit is {limit}")
        self.server = server
        self.tool = tool
        self.size = size
        self.limit = limit


class CommandInterrupted(ToolsError):
    """A command was begun by a worker that went away before its end was known. It is not run a
    second time unasked."""

    code: ClassVar[str] = "DCF.CommandInterrupted"

    def __init__(self, server: str, tool: str) -> None:
        super().__init__(
            f"{server}:{tool} began this command in a worker that went away, and nobody knows how "
            "it ended; see what it did, then redrive the run: somebody is asked again"
        )


class PermissionDenied(ToolsError):
    """The gate refused a call. ``rule`` is the code of the refusal, ``details`` are lines that
    explain it, ``allowed`` is what the loaded skills do declare."""

    code: ClassVar[str] = "DCF.PermissionDenied"

    def __init__(
        self,
        server: str,
        tool: str,
        reason: str,
        allowed: Sequence[str],
        *,
        rule: str = "",
        details: Sequence[str] = (),
    ) -> None:
        listing = f"; allowed: {', '.join(allowed) or 'nothing'}" if rule in _UNDECLARED else ""
        lines = "".join(f"\n  {line}" for line in details)
        super().__init__(f"{server}:{tool} is denied: {reason}{listing}{lines}")
        self.server = server
        self.tool = tool
        self.reason = reason
        self.allowed = tuple(allowed)
        self.rule = rule
        self.details = tuple(details)


class BudgetExhausted(ToolsError):
    """A budget has nothing left for another call; ``decision`` is the denial on record."""

    code: ClassVar[str] = "DCF.BudgetExhausted"

    def __init__(self, decision: Decision) -> None:
        tool = f"{decision.server_id}:{decision.tool_name}"
        super().__init__(f"{tool} is denied: {decision.reason}")
        self.decision = decision


class ApprovalRejected(ToolsError):
    """A person, a rule of the policy, or the end of the approvers' time rejected a call."""

    code: ClassVar[str] = "DCF.ApprovalRejected"

    def __init__(self, server: str, tool: str, reason: str) -> None:
        super().__init__(f"{server}:{tool} is rejected: {reason}")
        self.server = server
        self.tool = tool
        self.reason = reason


class ApprovalRequired(BaseException):
    """A call waits for a person. This is control flow: what an agent's code catches as an error
    must not catch it, since the work has to stop here."""

    code: ClassVar[str] = "DCF.ApprovalRequired"

    def __init__(self, request: ApprovalRequest) -> None:
        super().__init__(f"{request.server_id}:{request.tool_name} waits for {request.approver}")
        self.request = request


class UnknownServer(ToolsError):
    """The registry has no server of this id. ``closest`` are ids that look alike."""

    def __init__(self, server: str, closest: Sequence[str]) -> None:
        hint = f"; did you mean {' or '.join(closest)}?" if closest else ""
        super().__init__(f"no tool server {server!r} in the registry{hint}")
        self.server = server
        self.closest = tuple(closest)


class InvalidDocument(ToolsError):
    """A file of this room (registry, policy, stub configuration) is wrong. ``problems`` has all."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))
