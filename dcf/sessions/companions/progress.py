"""What a companion is doing, told to its session while it does it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from control_plane import ControlPlaneError
from dcf.agents import Assignment, Observer, Report, TaskPerformer, ToolCaller, TurnEvent
from dcf.sessions.sessions import Sessions
from dcf.stopping import stop

log = logging.getLogger(__name__)

EVERY_S = 1.0
"""A task tells of its progress at most so often; one that is over sooner does not."""


@dataclass(frozen=True, slots=True)
class Telling:
    """Performs as ``performer`` does, and tells the session of its tool calls."""

    performer: TaskPerformer
    sessions: Sessions
    session_id: str
    companion_id: str
    task_id: str

    async def perform(
        self, assignment: Assignment, call_tool: ToolCaller, observe: Observer
    ) -> Report:
        calls = 0
        tool: str | None = None

        def watch(event: TurnEvent) -> None:
            nonlocal calls, tool
            observe(event)
            if event.kind == "tool_call":
                calls, tool = calls + 1, event.tool

        async def tell() -> None:
            told = 0
            while True:
                await asyncio.sleep(EVERY_S)
                if calls > told and await self._say(tool, calls):
                    told = calls

        telling = asyncio.create_task(tell())
        try:
            return await self.performer.perform(assignment, call_tool, watch)
        finally:
            await stop(telling)

    async def _say(self, tool: str | None, calls: int) -> bool:
        try:
            return await self.sessions.say_progress(
                self.session_id,
                self.task_id,
                companion_id=self.companion_id,
                tool=tool,
                calls=calls,
            )
        except ControlPlaneError as error:
            # The work goes on; who looks sees less of it.
            log.warning("progress of %s is not told: %s", self.task_id, error)
            return False
