"""The memory of an experiment for callers in other processes: MCP tools, and JSON over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.mcp.experiment.calls import CALLS, Call, answer
    from dcf.mcp.experiment.desk import ExperimentDesk
    from dcf.mcp.experiment.http_app import create_experiment_app
    from dcf.mcp.experiment.protocol import create_experiment_protocol, serve_experiment_stdio
else:
    export_late(__name__)

__all__ = [
    "CALLS",
    "Call",
    "ExperimentDesk",
    "answer",
    "create_experiment_app",
    "create_experiment_protocol",
    "serve_experiment_stdio",
]
