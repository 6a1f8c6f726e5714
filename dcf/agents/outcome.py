"""From the last answer of a run to the report of its task."""

from __future__ import annotations

from pydantic_ai.messages import ModelResponse
from pydantic_ai.run import AgentRun
from pydantic_ai.usage import RunUsage

from dcf.agents.answer import Answer, Failure, answer_in
from dcf.agents.rehearsal import REHEARSED
from dcf.agents.report import Report
from dcf.agents.task_error import MODEL_ERROR, TaskError
from dcf.agents.turn import Turn


def report_of(run: AgentRun[Turn, Answer], turn: Turn) -> Report:
    """The report of a finished run; TaskError when its model reported a failure."""
    if run.result is None:
        raise TaskError(MODEL_ERROR, "the turn loop ended without an answer")
    answer = run.result.output
    if isinstance(answer, Failure):
        raise TaskError(answer.error, answer.cause)
    if isinstance(answer, str):
        answer = answer_in(answer)
    return Report(
        data=answer.data,
        summary=answer.summary,
        artifacts=list(answer.artifacts),
        metrics=metrics_of(run.usage, turn),
        model=_model_name(run),
        missing=answer.missing,
    )


def metrics_of(usage: RunUsage, turn: Turn) -> dict[str, int | float | None]:
    """What a run has used so far; see Report."""
    rehearsed = usage.details.get(REHEARSED, 0)
    return {
        "llm_calls": usage.requests - rehearsed,
        "tool_calls": turn.tool_calls,
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "duration_ms": turn.elapsed_ms(),
        "estimated_cost_usd": turn.tally.cost_usd,
    }


def _model_name(run: AgentRun[Turn, Answer]) -> str:
    responses = [item for item in run.all_messages() if isinstance(item, ModelResponse)]
    return (responses[-1].model_name if responses else None) or "unnamed"
