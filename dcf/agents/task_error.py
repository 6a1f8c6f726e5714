"""How a task fails: an error name that Retry and Catch can match, and a cause for people."""

from __future__ import annotations

TOOL_ERROR = "DCF.ToolError"
TOOL_TIMEOUT = "DCF.ToolTimeout"
TOOL_UNAVAILABLE = "DCF.ToolUnavailable"
PERMISSION_DENIED = "DCF.PermissionDenied"
UNBOUND_ARGUMENT = "DCF.UnboundArgument"
LIMIT_EXCEEDED = "DCF.LimitExceeded"
MODEL_ERROR = "DCF.ModelError"


class TaskError(Exception):
    """The task failed; ``error`` is its name in the workflow language, ``cause`` says why."""

    def __init__(self, error: str, cause: str) -> None:
        super().__init__(f"{error}: {cause}")
        self.error = error
        self.cause = cause

    def __reduce__(self) -> tuple[type[TaskError], tuple[str, str]]:
        return type(self), (self.error, self.cause)
