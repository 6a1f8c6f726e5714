"""How runs fall out across workflow, error and day, or one by one: the last end of each counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from dcf.evidence import Counts
from dcf.knowledge.asking.crossing import ORDERED, SHOWN_RUNS, Crossed, Narrowed, Order
from dcf.knowledge.asking.looking import look
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.session_fact import TASK_WORKFLOW

RunDimension = Literal["workflow", "error", "day", "run"]
_DAY_MS = 24 * 60 * 60 * 1000
_COLUMNS: Mapping[RunDimension, str] = {
    "workflow": "e.workflow_name",
    "error": "e.error",
    "day": f"toInteger(e.ended_at / {_DAY_MS})",
    "run": "e.workflow_id",
}


async def runs_counted(
    graph: GraphConnection,
    by: Sequence[RunDimension],
    narrowed: Narrowed | None = None,
    *,
    order: Order | None = None,
    limit: int = 100,
) -> list[Crossed]:
    """Runs counted for each combination of ``by`` in ``order``, the most frequent first without
    one. A run that ended in another way than ``succeeded`` counts as failed; one that is a
    delegated task counts as a delegation, and not here. Of ``narrowed`` only
    workflow, error and times. Raises GraphAway, GraphRefused, QuestionTooWide."""
    by = list(dict.fromkeys(by))
    where, given = (narrowed or Narrowed()).terms()
    columns = [f"{_COLUMNS[name]} AS d{at}" for at, name in enumerate(by)]
    text = (
        f"MATCH (e:WorkflowRun) {where} AND e.invalid_at IS NULL "
        "AND NOT e.workflow_name STARTS WITH $prefix "
        f"RETURN {''.join(c + ', ' for c in columns)}"
        "count(e) AS n, sum(CASE e.status WHEN 'succeeded' THEN 1 ELSE 0 END) AS ok, "
        "avg(e.duration_ms) AS ms, sum(coalesce(e.cost_usd, 0.0)) AS cost, "
        "count(e.cost_usd) AS priced, max(e.ended_at) AS last, "
        "collect(CASE WHEN e.status <> 'succeeded' THEN e.workflow_id END)[0..$shown] AS bad, "
        "collect(e.workflow_id)[0..$shown] AS some "
        f"ORDER BY {ORDERED[order]} LIMIT $limit"
    )
    what = "counting runs by " + (", ".join(by) or "nothing")
    given |= {"prefix": TASK_WORKFLOW, "shown": SHOWN_RUNS, "limit": limit}
    rows = await look(graph, what, text, **given)
    return [_row(by, row) for row in rows if row[len(by)]]


def _row(by: Sequence[RunDimension], row: Sequence[Any]) -> Crossed:
    size = len(by)
    values = dict(zip(by, row[:size], strict=True))
    if "day" in values:
        values["day"] = f"{datetime.fromtimestamp(values['day'] * _DAY_MS / 1000, UTC):%Y-%m-%d}"
    n, ok, ms, cost, priced, last, bad, some = row[size:]
    return Crossed(
        values, Counts(int(ok), n - int(ok)), ms or 0.0, cost, last, priced, tuple(bad), tuple(some)
    )
