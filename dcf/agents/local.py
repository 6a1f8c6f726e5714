"""The runtime that works in this process, by default with the rehearsal model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from dcf.agents.assignment import Assignment
from dcf.agents.report import Report
from dcf.agents.runtime import Observer, ToolCaller
from dcf.agents.usage_limits import UsageLimits

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from dcf.agents.turn_loop import TurnLoop


class LocalRuntime:
    """An AgentRuntime on the turn loop of pydantic-ai.

    ``model`` is a pydantic-ai model, its name (``openai:gpt-5``), or None or ``rehearsal`` for
    the rehearsal. ``clock`` counts seconds and never goes back. The library is loaded by
    ``prepare`` or the first ``perform``.
    """

    def __init__(
        self,
        model: Model | str | None = None,
        *,
        limits: UsageLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._limits = limits or UsageLimits()
        self._clock = clock
        self._loop: TurnLoop | None = None

    async def perform(
        self, assignment: Assignment, call_tool: ToolCaller, observe: Observer
    ) -> Report:
        """As AgentRuntime.perform says."""
        loop = await self.prepare()
        return await loop.perform(assignment, call_tool, observe)

    async def prepare(self) -> TurnLoop:
        """Load the library now, so that the first task does not wait for it (1 to 3 s)."""
        if self._loop is None:
            # In a thread: leases are renewed meanwhile.
            loaded = await asyncio.to_thread(self._load)
            # Two first tasks at once load twice and share the first loop that is there.
            self._loop = self._loop or loaded
        return self._loop

    def _load(self) -> TurnLoop:
        from dcf.agents.turn_loop import TurnLoop

        return TurnLoop(self._model, self._limits, self._clock)
