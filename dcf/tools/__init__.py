"""Tools over MCP: the server registry, calls with deadlines, permissions, the stub server.

Importing this room is cheap: the MCP SDK is loaded by the first call (`Toolbox`), and by
`dcf.tools.stub`, which is a room of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.tools.dispatch import Dispatcher
    from dcf.tools.errors import (
        ApprovalRejected,
        ApprovalRequired,
        BudgetExhausted,
        CommandInterrupted,
        InvalidDocument,
        PermissionDenied,
        ToolResultTooLarge,
        ToolsError,
        ToolTimeout,
        ToolUnavailable,
        UnknownServer,
    )
    from dcf.tools.gate import (
        ApprovalRequest,
        Approver,
        Budget,
        Call,
        Decision,
        Egress,
        EgressRules,
        Gate,
        Grant,
        Ledger,
        Policy,
        Risk,
        SchemaPin,
        Untrusted,
        call_digest,
        denied_by_budget,
        read_pins,
        spent_words,
    )
    from dcf.tools.large_result import Keep, ResultLimits
    from dcf.tools.redaction import Redactor
    from dcf.tools.registry import NO_STUB, Registry
    from dcf.tools.result import JSON, ToolDescription, ToolResult
    from dcf.tools.server_config import ServerConfig
    from dcf.tools.toolbox import Backoff, Toolbox
else:
    export_late(__name__)

__all__ = [
    "JSON",
    "NO_STUB",
    "ApprovalRejected",
    "ApprovalRequest",
    "ApprovalRequired",
    "Approver",
    "Backoff",
    "Budget",
    "BudgetExhausted",
    "Call",
    "CommandInterrupted",
    "Decision",
    "Dispatcher",
    "Egress",
    "EgressRules",
    "Gate",
    "Grant",
    "InvalidDocument",
    "Keep",
    "Ledger",
    "PermissionDenied",
    "Policy",
    "Redactor",
    "Registry",
    "ResultLimits",
    "Risk",
    "SchemaPin",
    "ServerConfig",
    "ToolDescription",
    "ToolResult",
    "ToolResultTooLarge",
    "ToolTimeout",
    "ToolUnavailable",
    "Toolbox",
    "ToolsError",
    "UnknownServer",
    "Untrusted",
    "call_digest",
    "denied_by_budget",
    "read_pins",
    "spent_words",
]
