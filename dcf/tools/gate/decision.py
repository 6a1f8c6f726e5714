"""What the gate says to a call, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from dcf.tools.gate.grant import Risk

Verdict = Literal["allow", "deny", "ask"]


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What somebody is asked to approve: exactly this call, by the digest of its arguments.

    ``approver`` is the approver of the policy who is asked now, ``chain`` those after it;
    ``timeout_s`` is how long (seconds) it is waited for before the next of the chain is asked, or,
    after the last, the call is rejected.
    """

    server_id: str
    tool_name: str
    arguments: dict[str, Any] = field(hash=False)
    digest: str
    skills: tuple[str, ...]
    risk: Risk
    reason: str
    approver: str
    chain: tuple[str, ...] = ()
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """One ruling, as it goes into the history. ``rule`` is a stable code, ``digest`` is taken of
    server, tool and arguments; ``details`` are lines for people (what differs in a schema)."""

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
