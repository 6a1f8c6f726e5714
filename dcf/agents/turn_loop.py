"""Assignments on the turn loop of pydantic-ai. Importing this module loads that library."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic_ai import Agent, TextContent, ToolOutput
from pydantic_ai.exceptions import AgentRunError, UsageLimitExceeded, UserError
from pydantic_ai.models import Model
from pydantic_ai.run import AgentRun
from pydantic_ai.usage import UsageLimits as LoopLimits

from dcf.agents.answer import Answer, Failure, Result
from dcf.agents.assignment import Assignment
from dcf.agents.briefing import system_prompt, task_prompt, worker_prompt
from dcf.agents.models import REHEARSAL, Models, Tally
from dcf.agents.note_tools import NoteTools
from dcf.agents.offer import REPORT_FAILURE, REPORT_RESULT, Offer, offer_tools
from dcf.agents.outcome import metrics_of, report_of
from dcf.agents.performer import Observer, ToolCaller
from dcf.agents.report import Report
from dcf.agents.task_error import LIMIT_EXCEEDED, MODEL_ERROR, TaskError
from dcf.agents.toolset import DeclaredTools
from dcf.agents.turn import Turn
from dcf.agents.usage_limits import UsageLimits

_AGENTS_KEPT = 64
_ANSWERS_REJECTED = 2


class TurnLoop:
    """Runs assignments on ``model``, or else on the one of ``models`` that each names; agents are
    kept by the digests of their skills."""

    def __init__(
        self,
        model: Model | str | None,
        models: Models,
        limits: UsageLimits,
        clock: Callable[[], float],
    ) -> None:
        self._model = model
        self._models = models
        self._limits = limits
        self._clock = clock
        self._orders = worker_prompt()
        self._agents: dict[tuple[str | None, ...], Agent[Turn, Answer]] = {}

    async def perform(
        self, assignment: Assignment, call_tool: ToolCaller, observe: Observer
    ) -> Report:
        """As TaskPerformer.perform says."""
        tally = Tally(assignment.allowance)
        turn = Turn(call_tool, observe, self._clock, began=self._clock(), tally=tally)
        words, task_input = task_prompt(assignment)
        limits = LoopLimits(
            request_limit=self._limits.max_requests,
            tool_calls_limit=self._limits.max_tool_calls,
        )
        try:
            agent = self._agent(assignment)
            async with agent.iter(
                [words, TextContent(task_input)],
                model=self._asked(assignment, tally),
                deps=turn,
                usage_limits=limits,
                toolsets=self._notes(assignment),
            ) as run:
                await _drive(run, turn)
        except UsageLimitExceeded as error:
            raise TaskError(LIMIT_EXCEEDED, self._limit_cause(turn)) from error
        except (AgentRunError, UserError) as error:
            raise TaskError(MODEL_ERROR, str(error)) from error
        try:
            return report_of(run, turn)
        except TaskError:
            turn.tell_stopped(metrics_of(run.usage, turn))
            raise

    def _agent(self, assignment: Assignment) -> Agent[Turn, Answer]:
        skills, needed = assignment.skills, assignment.needed
        key = (
            assignment.tool_name,
            *(skill.digest for skill in skills),
            None,
            *(skill.digest for skill in needed),
        )
        agent = self._agents.get(key)
        if agent is None:
            offer = offer_tools(skills, assignment.tool_name, needed)
            instructions = system_prompt(self._orders, (*skills, *needed))
            agent = _build(instructions, offer)
            if len(self._agents) >= _AGENTS_KEPT:
                del self._agents[next(iter(self._agents))]
            self._agents[key] = agent
        return agent

    def _notes(self, assignment: Assignment) -> list[NoteTools]:
        if assignment.notes is None:
            return []
        given = assignment
        offer = offer_tools(given.skills, given.tool_name, given.needed)
        return [NoteTools(assignment.notes, [one.wire_name for one in offer.tools])]

    def _asked(self, assignment: Assignment, tally: Tally) -> Model:
        """The model for one assignment, which counts what it costs."""
        asked = self._model or assignment.model or REHEARSAL
        if isinstance(asked, str):
            return self._models.of(asked, tally, timeout_s=assignment.timeout_s)
        name = asked.model_id
        return self._models.metered(asked, name, tally, timeout_s=assignment.timeout_s)

    def _limit_cause(self, turn: Turn) -> str:
        return (
            f"the task was not done within {self._limits.max_requests} model requests and "
            f"{self._limits.max_tool_calls} tool calls ({turn.tool_calls} tool calls were made)"
        )


def _build(instructions: str, offer: Offer) -> Agent[Turn, Answer]:
    outputs: Sequence[ToolOutput[Result] | ToolOutput[Failure] | type[str]] = [
        ToolOutput(Result, name=REPORT_RESULT),
        ToolOutput(Failure, name=REPORT_FAILURE),
        str,
    ]
    return Agent(
        name="worker",
        deps_type=Turn,
        output_type=outputs,
        instructions=instructions,
        toolsets=[DeclaredTools(offer)],
        retries={"output": _ANSWERS_REJECTED},
    )


async def _drive(run: AgentRun[Turn, Answer], turn: Turn) -> None:
    try:
        async for node in run:
            if Agent.is_model_request_node(node):
                turn.tell("model_request")
            elif Agent.is_call_tools_node(node):
                turn.tell("model_response")
    except BaseException:
        # Also where a call waits for an approval, or the lease was lost: it has cost what it cost.
        turn.tell_stopped(metrics_of(run.usage, turn))
        raise
