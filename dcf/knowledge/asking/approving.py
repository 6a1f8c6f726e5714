"""Who decided on approvals, what, when, and how long that was waited for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from dcf.knowledge.asking.crossing import Narrowed, Order
from dcf.knowledge.asking.looking import look
from dcf.knowledge.connection import GraphConnection

SHOWN = 20
_ORDERED: Mapping[Order | None, str] = {
    None: "at DESC", "last": "at DESC", "first": "at", "slow": "waited DESC", "fast": "waited",
}  # fmt: skip
_TEXT = """MATCH (e:StateOutcome) %s AND e.approvers IS NOT NULL
UNWIND range(0, size(e.approvers) - 1) AS i
WITH e, e.approvers[i] AS by, e.decisions[i] AS decision, e.decided_at[i] AS at,
  e.decision_ms[i] AS waited
WHERE ($by IS NULL OR by = $by) AND ($decision IS NULL OR decision = $decision)
  AND at >= $since AND ($before IS NULL OR at < $before)
RETURN e.workflow_id, e.workflow_name, e.path, by, decision, at, waited
ORDER BY %s LIMIT $limit"""


@dataclass(frozen=True, slots=True)
class Approved:
    """A ``decision`` (``approve`` or ``reject``) of ``by`` on a state of a run, at ``at`` (ms),
    ``waited_ms`` after it was asked for."""

    run: str
    workflow: str
    state: str
    by: str
    decision: str
    at: int
    waited_ms: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


async def approvals_listed(
    graph: GraphConnection,
    narrowed: Narrowed | None = None,
    *,
    run: str | None = None,
    approver: str | None = None,
    decision: str | None = None,
    order: Order | None = None,
    limit: int = SHOWN,
) -> list[Approved]:
    """At most ``limit`` decisions, the newest first without an ``order``; the times of
    ``narrowed`` are those of the decisions. Raises GraphAway, GraphRefused, QuestionTooWide."""
    narrowed = narrowed or Narrowed()
    # A state may end long after it was approved.
    where, given = replace(narrowed, until=None).terms()
    given |= {"by": approver, "decision": decision, "before": narrowed.until}
    if run is not None:
        where += " AND e.workflow_id = $run_id"
        given["run_id"] = run
    text = _TEXT % (where, _ORDERED[order])
    rows = await look(graph, "the approvals", text, **given, limit=limit)
    return [Approved(*row) for row in rows]
