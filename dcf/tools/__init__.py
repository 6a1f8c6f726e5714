"""Tools over MCP: the server registry, calls with deadlines, permissions, the stub server.

Importing this room is cheap: the MCP SDK is loaded by the first call (`Toolbox`), and by
`dcf.tools.stub`, which is a room of its own.
"""

from dcf.tools.dispatch import Dispatcher
from dcf.tools.errors import (
    ApprovalRejected,
    ApprovalRequired,
    BudgetExhausted,
    InvalidDocument,
    PermissionDenied,
    ToolResultTooLarge,
    ToolsError,
    ToolTimeout,
    ToolUnavailable,
    UnknownServer,
)
from dcf.tools.gate.approval import ApprovalRequest, Approver
from dcf.tools.gate.budget import Budget, denied_by_budget
from dcf.tools.gate.call import Call, call_digest
from dcf.tools.gate.decision import Decision
from dcf.tools.gate.egress import EgressRules
from dcf.tools.gate.gate import Gate
from dcf.tools.gate.grant import Grant
from dcf.tools.gate.ledger import Ledger
from dcf.tools.gate.pins import SchemaPin, read_pins, tool_digest
from dcf.tools.gate.policy import Policy
from dcf.tools.large_result import Keep, ResultLimits
from dcf.tools.registry import Registry
from dcf.tools.result import JSON, ToolDescription, ToolResult
from dcf.tools.server_config import ServerConfig
from dcf.tools.toolbox import Backoff, Toolbox

__all__ = [
    "JSON",
    "ApprovalRejected",
    "ApprovalRequest",
    "ApprovalRequired",
    "Approver",
    "Backoff",
    "Budget",
    "BudgetExhausted",
    "Call",
    "Decision",
    "Dispatcher",
    "EgressRules",
    "Gate",
    "Grant",
    "InvalidDocument",
    "Keep",
    "Ledger",
    "PermissionDenied",
    "Policy",
    "Registry",
    "ResultLimits",
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
    "call_digest",
    "denied_by_budget",
    "read_pins",
    "tool_digest",
]
