"""The seam between a worker and whatever does the thinking."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from dcf.agents.assignment import JSON, Assignment
from dcf.agents.report import Report
from dcf.agents.turn_event import TurnEvent

if TYPE_CHECKING:
    from dcf.skills import SkillTool
    from dcf.tools import ToolResult

ToolCaller: TypeAlias = "Callable[[SkillTool, dict[str, JSON]], Awaitable[ToolResult]]"
"""Supplied by the worker: checks permission, adds idempotency key and fence, keeps the deadline."""

Observer: TypeAlias = Callable[[TurnEvent], None]


class TaskPerformer(Protocol):
    """Performs assignments. Implementations keep no state of a task between two calls."""

    async def perform(
        self, assignment: Assignment, call_tool: ToolCaller, observe: Observer
    ) -> Report:
        """Work on ``assignment`` until it is done.

        Tools are called one after another, only through ``call_tool``; every step is told to
        ``observe``. Raises TaskError when the task failed; cancellation and any exception of
        the worker's own (a lost lease, say) pass through unchanged.
        """
        ...
