"""How often tools were called, by which agents, and how many of the calls failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dcf.evidence import Counts
from dcf.knowledge.asking.crossing import ORDERED, SHOWN_RUNS, Narrowed, Order
from dcf.knowledge.asking.looking import look
from dcf.knowledge.connection import GraphConnection

ToolDimension = Literal["tool", "agent"]
_COLUMNS: Mapping[ToolDimension, str] = {"tool": "tool", "agent": "e.agent"}
# More may have failed than were let pass: a call that is made again has one decision on record.
_TEXT = """MATCH (e:StateOutcome) %s AND e.tools IS NOT NULL
UNWIND range(0, size(e.tools) - 1) AS i
WITH e, e.tools[i] AS tool, e.tool_calls_made[i] AS made, e.tool_failures[i] AS bad %s
WITH e, tool, bad, CASE WHEN bad > made THEN bad ELSE made END AS made
RETURN %s, sum(made) AS n, sum(made - bad) AS ok, count(e) AS tasks, max(e.ended_at) AS last,
  collect(DISTINCT CASE WHEN bad > 0 THEN e.workflow_id END)[0..$shown],
  collect(DISTINCT e.workflow_id)[0..$shown]
ORDER BY %s LIMIT $limit"""


@dataclass(frozen=True, slots=True)
class Called:
    """Calls by ``tasks`` visits of Tasks, of the same ``tool`` and ``agent``, as far as it was
    asked for by these; ``last_at`` (ms) is when the last of the Tasks ended."""

    tool: str | None
    counts: Counts
    tasks: int
    last_at: int
    failed_runs: tuple[str, ...]
    runs: tuple[str, ...]
    agent: str | None = None

    def to_json(self) -> dict[str, Any]:
        low, high = self.counts.interval()
        return {
            "tool": self.tool,
            "agent": self.agent,
            "n": self.counts.n,
            "ok": self.counts.successes,
            "rate": self.counts.rate,
            "low": round(low, 4),
            "high": round(high, 4),
            "tasks": self.tasks,
            "last_at": self.last_at,
            "failed_runs": list(self.failed_runs),
            "runs": list(self.runs),
        }


async def tools_counted(
    graph: GraphConnection,
    narrowed: Narrowed | None = None,
    *,
    run: str | None = None,
    by: Sequence[ToolDimension] = ("tool",),
    order: Order | None = None,
    limit: int = 100,
) -> list[Called]:
    """Calls that were let pass for each combination of ``by``, of all tools, or of that of
    ``narrowed``, in ``order``, the most frequent first without one. Raises GraphAway,
    GraphRefused, QuestionTooWide."""
    narrowed = narrowed or Narrowed()
    where, given = narrowed.terms()
    if run is not None:
        where += " AND e.workflow_id = $run_id"
        given["run_id"] = run
    only = "WHERE e.tools[i] = $tool" if narrowed.tool is not None else ""
    columns = ", ".join(f"{_COLUMNS[name]} AS {name}" for name in by)
    text = _TEXT % (where, only, columns, ORDERED[order])
    rows = await look(graph, "counting tools", text, **given, shown=SHOWN_RUNS, limit=limit)
    return [_called(dict(zip(by, row, strict=False)), row[len(by) :]) for row in rows]


def _called(values: Mapping[str, Any], row: Sequence[Any]) -> Called:
    n, ok, tasks, last, bad, some = row
    counts = Counts(int(ok), int(n - ok))
    tool, agent = values.get("tool"), values.get("agent")
    return Called(tool, counts, tasks, last, tuple(bad), tuple(some), agent)
