"""The one way from an agent to a tool: gate, record, call, record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dcf.tools.errors import (
    ApprovalRejected,
    ApprovalRequired,
    CommandInterrupted,
    PermissionDenied,
    ToolResultTooLarge,
    ToolTimeout,
    ToolUnavailable,
)
from dcf.tools.gate.call import Call
from dcf.tools.gate.decision import Decision
from dcf.tools.gate.gate import Gate
from dcf.tools.gate.ledger import Ledger
from dcf.tools.large_result import USUAL_LIMITS, Keep, ResultLimits, limited
from dcf.tools.result import ToolResult
from dcf.tools.toolbox import Toolbox

_TOOL_ERROR = "DCF.ToolError"


class Dispatcher:
    """Makes the calls of one piece of work, those that the gate lets pass.

    ``ledger`` is the record behind the work; ``keep`` stores results that are too large to hand
    on. Only calls that pass have a number, so that a refusal does not change the idempotency keys
    of those after it. Tools are told the ``node`` of the memory that the work goes on in.
    """

    def __init__(
        self,
        gate: Gate,
        toolbox: Toolbox,
        ledger: Ledger,
        *,
        limits: ResultLimits = USUAL_LIMITS,
        keep: Keep | None = None,
        node: str | None = None,
    ) -> None:
        self._gate = gate
        self._toolbox = toolbox
        self._ledger = ledger
        self._limits = limits
        self._keep = keep
        self._told: dict[str, Any] = {} if node is None else {"node": node}
        self._made = 0

    @property
    def made(self) -> int:
        """How many calls this dispatcher has made; answers from the journal do not count."""
        return self._made

    async def call(
        self, server_id: str, tool_name: str, arguments: Mapping[str, Any], *, timeout_s: float
    ) -> ToolResult:
        """The tool's answer; an error that the tool reports is a result with ``is_error``.

        Raises PermissionDenied, ApprovalRejected, BudgetExhausted, ApprovalRequired (control flow:
        stop the work), CommandInterrupted, ToolTimeout, ToolUnavailable, ToolResultTooLarge, and
        whatever the ledger raises when the authority over the work is lost. ``timeout_s`` is in
        seconds.
        """
        call = Call(server_id, tool_name, arguments)
        recalled = await self._ledger.recall(call.digest)
        if recalled is not None:
            return recalled
        decision = await self._decide(call, timeout_s)
        programs = self._gate.programs(decision) if decision.allowed else None
        if programs is not None and self._ledger.begun(call.digest):
            raise CommandInterrupted(server_id, tool_name)
        number = await self._ledger.note(decision)
        self._raise_unless_allowed(decision)
        if number is None:
            raise RuntimeError(f"the ledger gave {call.tool} no number")
        self._made += 1
        try:
            result = await self._toolbox.call(
                server_id,
                tool_name,
                dict(arguments),
                idempotency_key=self._ledger.idempotency_key(number),
                fence=self._ledger.fence,
                timeout_s=timeout_s,
                idempotent=self._gate.idempotent(call.tool),
                **self._told,
                **({} if programs is None else {"programs": programs}),  # type: ignore[arg-type]
            )
            result = await limited(result, self._limits, self._keep, server_id, tool_name)
        except (ToolTimeout, ToolUnavailable, ToolResultTooLarge) as error:
            await self._ledger.failed(decision, error.code)
            raise
        await self._ledger.settle(number, decision, result)
        if result.is_error:
            await self._ledger.failed(decision, result.error or _TOOL_ERROR)
        return result

    async def _decide(self, call: Call, timeout_s: float) -> Decision:
        decision = self._gate.decide(call)
        if decision.verdict != "deny" and self._gate.pinned(call.tool):
            # Only now is the server asked: a call that is refused anyway reaches nobody.
            live = await self._toolbox.describe(call.server_id, call.tool_name, timeout_s=timeout_s)
            decision = self._gate.decide(replace(call, live=live, gone=live is None))
        approval = self._ledger.approved(decision) if decision.verdict == "ask" else None
        if approval is None:
            return decision
        return replace(
            decision, verdict="allow", rule="approval.granted", reason=approval, approval=None
        )

    def _raise_unless_allowed(self, decision: Decision) -> None:
        server, tool = decision.server_id, decision.tool_name
        if decision.approval is not None:
            raise ApprovalRequired(decision.approval)
        if decision.rule == "approval.rejected":
            raise ApprovalRejected(server, tool, decision.reason)
        if not decision.allowed:
            raise PermissionDenied(
                server,
                tool,
                decision.reason,
                self._gate.allowed(),
                rule=decision.rule,
                details=decision.details,
            )
