"""The model chosen for a Task, as its state and its output tell of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from dcf.agents import (
    RESULT_STATUS,
    ModelSelection,
    Report,
    amsp_metrics,
    choose_model,
    execution_metrics,
)
from dcf.skills import Manifest
from dcf.workflow import Failed, Succeeded


@dataclass(frozen=True, slots=True)
class Selection:
    """``chosen`` is what the state's document says of it."""

    selection: ModelSelection

    @classmethod
    def of(
        cls, skills: Sequence[Manifest], environment: Mapping[str, str], binding: Mapping[str, Any]
    ) -> Self:
        """The choice for a Task with these ``skills``."""
        return cls(
            choose_model(
                skills,
                environment,
                override=binding.get("model"),
                least_tier=binding.get("tier", 0),
            )
        )

    @property
    def chosen(self) -> dict[str, Any]:
        return self.selection.to_json()

    def succeeded(self, outcome: Succeeded, report: Report, made: int) -> Succeeded:
        """``outcome`` with what the work used, and what is missing of it; ``made`` are its tool
        calls, without those that were answered from the journal."""
        partial = {RESULT_STATUS: "partial"} if report.missing else {}
        missing = f"(missing: {report.missing})" if report.missing else None
        return replace(
            outcome,
            summary=" ".join(filter(None, (outcome.summary, missing))) or None,
            metrics={
                **execution_metrics(report.metrics),
                **partial,
                "tool_calls": made,
                "model": report.model,
            },
            model_selection=self.chosen,
            amsp=amsp_metrics(self.selection, succeeded=True, model_used=report.model),
        )

    def failed(self, error: str, cause: str, metrics: Mapping[str, Any]) -> Failed:
        """A failure, and what the work had used by then."""
        return Failed(
            error,
            cause,
            execution_metrics(metrics),
            model_selection=self.chosen,
            amsp=amsp_metrics(self.selection, succeeded=False),
        )
