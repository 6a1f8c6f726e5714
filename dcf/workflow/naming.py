"""Who an execution says it is, in the context object."""

from __future__ import annotations

from typing import Any, Final, Protocol

TASK_WORKFLOW: Final = "task:"
"""The name of a workflow that is one delegated task begins with it; the type of the task follows.
No other workflow may be called so: what the tasks of sessions showed is told by these names."""
SESSION_PIN: Final = "session"
"""What the pins of a run call the session that it was delegated in."""


class Naming(Protocol):
    """Names runs as somebody wants to see them named, for instance by ARNs."""

    def identify(self, workflow_id: str, context: dict[str, Any]) -> dict[str, Any]:
        """``context`` {Execution, StateMachine} of a run with the names it is to have."""
        ...


class PlainNames:
    """A run is called by its id, a machine by the name of its workflow."""

    def identify(self, workflow_id: str, context: dict[str, Any]) -> dict[str, Any]:
        return context
