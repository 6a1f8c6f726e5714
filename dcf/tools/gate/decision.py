"""What the gate says to a call, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from dcf.tools.gate.approval import ApprovalRequest, Approver
from dcf.tools.gate.grant import Risk

__all__ = ["ApprovalRequest", "Approver", "Decision", "Verdict"]

Verdict = Literal["allow", "deny", "ask"]


@dataclass(frozen=True, slots=True)
class Decision:
    """One ruling, as it goes into the history. ``rule`` is a stable code, ``digest`` is taken of
    server, tool and arguments; ``details`` are lines for people (what differs in a schema).

    ``skills`` is the skill that decides where the call may pass, else all that declare the tool.
    """

    verdict: Verdict
    rule: str
    reason: str
    server_id: str
    tool_name: str
    digest: str = ""
    skills: tuple[str, ...] = ()
    risk: Risk = "low"
    details: tuple[str, ...] = ()
    approval: ApprovalRequest | None = None

    @property
    def allowed(self) -> bool:
        return self.verdict == "allow"

    def to_event(self) -> dict[str, Any]:
        """``{type: ToolDecision, tool, verdict, rule, reason, skills, risk, arguments}``;
        ``arguments`` is the digest, never the values."""
        event: dict[str, Any] = {
            "type": "ToolDecision",
            "tool": f"{self.server_id}:{self.tool_name}",
            "verdict": self.verdict,
            "rule": self.rule,
            "reason": self.reason,
            "skills": list(self.skills),
            "risk": self.risk,
            "arguments": self.digest,
        }
        if self.details:
            event["details"] = list(self.details)
        return event
