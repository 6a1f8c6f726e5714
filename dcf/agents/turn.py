"""One assignment in progress: what its tools need, and what is counted and told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dcf.agents.assignment import JSON
from dcf.agents.turn_event import TurnEvent, TurnEventKind

if TYPE_CHECKING:
    from dcf.agents.models import Tally
    from dcf.agents.performer import Observer, ToolCaller
    from dcf.skills import SkillTool
    from dcf.tools import ToolResult


@dataclass(slots=True)
class Turn:
    """The dependencies of one run of the turn loop; ``clock`` counts seconds, monotonic.
    ``malformed`` counts calls in a row whose arguments did not fit, by tool; ``tally`` what models
    were asked."""

    call_tool: ToolCaller
    observe: Observer
    clock: Callable[[], float]
    began: float
    tally: Tally
    tool_calls: int = 0
    malformed: Counter[str] = field(default_factory=Counter)

    def elapsed_ms(self) -> float:
        """Milliseconds since the assignment began, to the microsecond."""
        return round((self.clock() - self.began) * 1000, 3)

    def tell(self, kind: TurnEventKind, tool: str | None = None, error: str | None = None) -> None:
        """Tell the observer that ``kind`` happened now."""
        self.observe(TurnEvent(kind, self.elapsed_ms(), tool, error))

    def tell_stopped(self, metrics: dict[str, int | float | None]) -> None:
        """Tell the observer what was used by the time it ended without a report."""
        self.observe(TurnEvent("stopped", self.elapsed_ms(), metrics=metrics))

    async def use(self, tool: SkillTool, arguments: dict[str, JSON]) -> ToolResult:
        """Call ``tool`` through the worker, telling before and after."""
        self.tool_calls += 1
        self.tell("tool_call", tool.name)
        result = await self.call_tool(tool, arguments)
        self.tell("tool_result", tool.name, result.error if result.is_error else None)
        return result
