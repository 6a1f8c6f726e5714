"""What an agent hands back when its task succeeded."""

from __future__ import annotations

from dataclasses import dataclass, field

from dcf.agents.assignment import JSON

RESULT_STATUS = "result_status"
"""The metric of an output that says ``partial``, where not all was done that was asked."""


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of one assignment.

    ``data`` is the task's result, ``summary`` one sentence for people, ``artifacts`` references
    (paths or URLs) to what was made besides, ``missing`` what of the task is not done, where only a
    part of it is. ``metrics`` holds ``llm_calls``, ``tool_calls``,
    ``prompt_tokens``, ``completion_tokens``, ``total_tokens`` (counts), ``duration_ms`` and
    ``estimated_cost_usd`` (None when the price is not known). ``model`` is ``rehearsal`` or the
    name of the model that worked.
    """

    data: JSON
    summary: str
    artifacts: list[str] = field(default_factory=list)
    metrics: dict[str, int | float | None] = field(default_factory=dict)
    model: str = "rehearsal"
    missing: str = ""
