"""Tasks performed in this process, by default with the rehearsal model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from dcf.agents.assignment import Assignment
from dcf.agents.library_lock import LOADING
from dcf.agents.models import Models
from dcf.agents.performer import Observer, ToolCaller
from dcf.agents.report import Report
from dcf.agents.usage_limits import UsageLimits

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from dcf.agents.turn_loop import TurnLoop


class LocalRuntime:
    """A TaskPerformer on the turn loop of pydantic-ai.

    ``model`` does all the work when it is given: a pydantic-ai model, or the name of one
    (``openai:gpt-5``, ``rehearsal``). Without it each assignment names its own, and the rehearsal
    does what names none. ``models`` are those that can be named; ``clock`` counts seconds and never
    goes back. The library is loaded by ``prepare`` or the first ``perform``.
    """

    def __init__(
        self,
        model: Model | str | None = None,
        *,
        models: Models | None = None,
        limits: UsageLimits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._models = models or Models()
        self._limits = limits or UsageLimits()
        self._clock = clock
        self._loop: TurnLoop | None = None

    async def perform(
        self, assignment: Assignment, call_tool: ToolCaller, observe: Observer
    ) -> Report:
        """As TaskPerformer.perform says."""
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
        with LOADING:
            from dcf.agents.turn_loop import TurnLoop

        return TurnLoop(self._model, self._models, self._limits, self._clock)
