"""Tasks done by an agent on a Letta server: its model calls the declared tools, and reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from dcf.agents.answer import Answer, Failure, Result, answer_in
from dcf.agents.assignment import JSON, Assignment
from dcf.agents.briefing import system_prompt, task_prompt, worker_prompt
from dcf.agents.envelope import error_envelope
from dcf.agents.local.calling import Answered
from dcf.agents.notes import NOTE_TOOLS, use_notes
from dcf.agents.offer import REPORT_FAILURE, REPORT_RESULT, OfferedTool, offer_tools
from dcf.agents.report import Report
from dcf.agents.task_error import TaskError
from dcf.memory import ToolSpec
from dcf.tools import PermissionDenied, ToolsError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from dcf.agents.performer import ToolCaller
    from dcf.memory import Agent, Usage


@dataclass(slots=True)
class Task:
    """One assignment in progress; ``call_tool`` is the worker's."""

    assignment: Assignment
    call_tool: ToolCaller
    answer: Answer | None = None
    _tools: dict[str, OfferedTool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = self.assignment
        offer = offer_tools(given.skills, given.tool_name, given.needed)
        self._tools = {tool.wire_name: tool for tool in offer.tools}

    def offered(self) -> dict[str, ToolSpec]:
        """The declared tools and those that report, by the name that the model calls."""
        declared = {
            name: ToolSpec(name, one.tool.description, one.tool.input_schema)
            for name, one in self._tools.items()
        }
        notes = NOTE_TOOLS if self.assignment.notes is not None else {}
        return notes | declared | {name: _report_tool(name) for name in _REPORTS}

    def names(self) -> dict[str, str]:
        """What the declared tools are called where they were declared."""
        return {name: one.tool.name for name, one in self._tools.items()}

    def words(self, agent: Agent) -> str:
        """The task as a message: the orders that the agent does not have yet, skills, input."""
        given = self.assignment
        orders = "" if agent.role == "worker" else worker_prompt()
        known = system_prompt(orders, (*given.skills, *given.needed)).strip()
        return "\n\n".join(part for part in (known, *task_prompt(given)) if part)

    async def use(self, name: str, arguments: dict[str, JSON]) -> JSON:
        """Call a declared tool, or hear the report. Raises ToolsError for the model to mend, and
        TaskError where a call cannot be made."""
        if name in _REPORTS:
            self.answer = _adapter(name).validate_python(arguments)
            return "reported"
        if self.assignment.notes is not None and name not in self._tools:
            return await use_notes(self.assignment.notes, name, arguments)
        try:
            result = await self.call_tool(self._tools[name].tool, arguments)
        except ToolsError as error:
            if isinstance(error, PermissionDenied) and error.rule == "arguments.invalid":
                raise
            raise TaskError(error.code, str(error)) from error
        if result.is_error:
            envelope = error_envelope(result)
            return Answered(envelope, envelope["error"]["code"])
        return result.data

    def report(self, text: str, usage: Usage, model: str) -> Report:
        """The report, ``text`` being what the agent said without one. Raises TaskError."""
        answer = text if self.answer is None else self.answer
        if isinstance(answer, Failure):
            raise TaskError(answer.error, answer.cause)
        result = answer_in(answer) if isinstance(answer, str) else answer
        return Report(
            data=result.data,
            summary=result.summary,
            artifacts=list(result.artifacts),
            metrics=metrics_of(usage),
            model=model,
            missing=result.missing,
        )


def metrics_of(usage: Usage) -> dict[str, int | float | None]:
    """What a turn has used, as Report has it."""
    return {
        "llm_calls": usage.requests,
        "tool_calls": usage.tool_calls,
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "duration_ms": usage.duration_ms,
        "estimated_cost_usd": usage.cost_usd,
    }


_REPORTS: dict[str, type[Any]] = {REPORT_RESULT: Result, REPORT_FAILURE: Failure}


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(_REPORTS[name])


def _report_tool(name: str) -> ToolSpec:
    described: Callable[[], dict[str, Any]] = _adapter(name).json_schema
    return ToolSpec(name, str(_REPORTS[name].__doc__), described())
