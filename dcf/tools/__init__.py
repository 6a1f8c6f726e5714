"""Tools over MCP: the server registry, calls with deadlines, permissions, the stub server.

Importing this room is cheap: the MCP SDK is loaded by the first call (`Toolbox`), and by
`dcf.tools.stub`, which is a room of its own.
"""

from dcf.tools.errors import (
    InvalidDocument,
    PermissionDenied,
    ToolsError,
    ToolTimeout,
    ToolUnavailable,
    UnknownServer,
)
from dcf.tools.gate.gate import Decision, Gate, Grant
from dcf.tools.registry import Registry
from dcf.tools.result import JSON, ToolDescription, ToolResult
from dcf.tools.server_config import ServerConfig
from dcf.tools.toolbox import Toolbox

__all__ = [
    "JSON",
    "Decision",
    "Gate",
    "Grant",
    "InvalidDocument",
    "PermissionDenied",
    "Registry",
    "ServerConfig",
    "ToolDescription",
    "ToolResult",
    "ToolTimeout",
    "ToolUnavailable",
    "Toolbox",
    "ToolsError",
    "UnknownServer",
]
