"""The gate: what every tool call passes before it is made, and the words it decides with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.tools.gate.approval import ApprovalRequest, Approver
    from dcf.tools.gate.budget import Budget, denied_by_budget, spent_words
    from dcf.tools.gate.call import Call, call_digest
    from dcf.tools.gate.decision import Decision
    from dcf.tools.gate.egress import EgressRules
    from dcf.tools.gate.gate import Gate
    from dcf.tools.gate.grant import Egress, Grant, Risk
    from dcf.tools.gate.ledger import Ledger
    from dcf.tools.gate.pins import SchemaPin, read_pins
    from dcf.tools.gate.policy import Policy, Untrusted
else:
    export_late(__name__)

__all__ = [
    "ApprovalRequest",
    "Approver",
    "Budget",
    "Call",
    "Decision",
    "Egress",
    "EgressRules",
    "Gate",
    "Grant",
    "Ledger",
    "Policy",
    "Risk",
    "SchemaPin",
    "Untrusted",
    "call_digest",
    "denied_by_budget",
    "read_pins",
    "spent_words",
]
