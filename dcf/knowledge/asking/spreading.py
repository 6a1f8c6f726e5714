"""How durations and tries are spread over outcomes, or durations over runs, across dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dcf.knowledge.asking.crossing import DIMENSION_COLUMNS, Dimension, Narrowed
from dcf.knowledge.asking.looking import look
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.session_fact import TASK_WORKFLOW

Measure = Literal["duration_ms", "tries"]


@dataclass(frozen=True, slots=True)
class Spread:
    """``measure`` (ms, or tries with the first one) of ``n`` outcomes, or runs, that have the same
    ``values`` in the dimensions asked for: the median, the mean, the 90th percentile and the
    largest, and one run that has it."""

    measure: Measure
    values: Mapping[str, Any]
    n: int
    median: float
    mean: float
    p90: float
    most: float
    run: str

    def to_json(self) -> dict[str, Any]:
        return {
            **self.values,
            "measure": self.measure,
            "n": self.n,
            "median": round(self.median, 1),
            "mean": round(self.mean, 3),
            "p90": round(self.p90, 1),
            "most": self.most,
            "run": self.run,
        }


async def spreads(
    graph: GraphConnection,
    measure: Measure,
    by: Sequence[Dimension] = (),
    narrowed: Narrowed | None = None,
    *,
    smallest_first: bool = False,
    limit: int = 100,
) -> list[Spread]:
    """``measure`` of ``narrowed`` for each combination of ``by``, that with the largest mean first.
    Of durations that nothing but a workflow and times is said of, those of whole runs. Raises
    GraphAway, GraphRefused, QuestionTooWide."""
    narrowed = narrowed or Narrowed()
    by = list(dict.fromkeys(by))
    where, given = narrowed.terms()
    whole = measure == "duration_ms" and _of_runs(by, narrowed)
    if whole:
        where += " AND e.invalid_at IS NULL AND NOT e.workflow_name STARTS WITH $prefix"
        given |= {"prefix": TASK_WORKFLOW}
    unwound = "UNWIND e.skills AS v" if "skill" in by else ""
    columns = "".join(f"{DIMENSION_COLUMNS[name]} AS d{at}, " for at, name in enumerate(by))
    value = f"e.{measure}"
    text = (
        f"MATCH (e:{'WorkflowRun' if whole else 'StateOutcome'}) {where} {unwound} "
        f"WITH e{', v' if unwound else ''} ORDER BY {value} DESC "
        f"RETURN {columns}count({value}) AS n, percentileCont({value}, 0.5), avg({value}) AS mean, "
        f"percentileCont({value}, 0.9), max({value}), collect(e.workflow_id)[0] "
        f"ORDER BY mean {'ASC' if smallest_first else 'DESC'} LIMIT $limit"
    )
    rows = await look(graph, f"the spread of {measure}", text, **given, limit=limit)
    size = len(by)
    return [
        Spread(measure, dict(zip(by, row[:size], strict=True)), *row[size:])
        for row in rows
        if row[size]
    ]


def _of_runs(by: Sequence[Dimension], narrowed: Narrowed) -> bool:
    of_tasks = narrowed.task_type or narrowed.skill or narrowed.agent or narrowed.error
    named = narrowed.workflow is not None or "workflow" in by
    return not of_tasks and set(by) <= {"workflow"} and (named or not by)
