"""Who decided on approvals, what, when, how long that was waited for, and how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from dcf.knowledge.asking.crossing import SHOWN_RUNS, Narrowed, Order
from dcf.knowledge.asking.looking import look
from dcf.knowledge.connection import GraphConnection

SHOWN = 20
_ORDERED: Mapping[Order | None, str] = {
    None: "at DESC", "last": "at DESC", "first": "at", "slow": "waited DESC", "fast": "waited",
}  # fmt: skip
DeciderDimension = Literal["approver", "workflow", "day"]
_DAY_MS = 24 * 60 * 60 * 1000
_COLUMNS: Mapping[DeciderDimension, str] = {
    "approver": "by",
    "workflow": "e.workflow_name",
    "day": f"toInteger(at / {_DAY_MS})",
}
_EACH = """MATCH (e:StateOutcome) %s AND e.approvers IS NOT NULL
UNWIND range(0, size(e.approvers) - 1) AS i
WITH e, e.approvers[i] AS by, e.decisions[i] AS decision, e.decided_at[i] AS at,
  e.decision_ms[i] AS waited
WHERE ($by IS NULL OR by = $by) AND ($decision IS NULL OR decision = $decision)
  AND at >= $since AND ($before IS NULL OR at < $before)
"""
_TEXT = f"""{_EACH}RETURN e.workflow_id, e.workflow_name, e.path, by, decision, at, waited
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


@dataclass(frozen=True, slots=True)
class Decided:
    """How often was decided with the same ``values`` in the dimensions asked for; ``mean_ms`` is
    what was waited for a decision, ``last_at`` (ms) when the last one was made, ``runs`` are some
    in which was decided as it was asked for."""

    values: Mapping[str, Any]
    approved: int
    rejected: int
    mean_ms: float
    last_at: int
    runs: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "values": dict(self.values), "runs": list(self.runs)}


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
    where, given = _which(narrowed or Narrowed(), run, approver)
    given |= {"decision": decision}
    text = _TEXT % (where, _ORDERED[order])
    rows = await look(graph, "the approvals", text, **given, limit=limit)
    return [Approved(*row) for row in rows]


async def approvals_counted(
    graph: GraphConnection,
    by: Sequence[DeciderDimension],
    narrowed: Narrowed | None = None,
    *,
    run: str | None = None,
    approver: str | None = None,
    decision: str = "approve",
    limit: int = 100,
) -> list[Decided]:
    """Decisions counted for each combination of ``by``; those with the most of ``decision`` come
    first, those without any are left out. Times as for ``approvals_listed``. Raises GraphAway,
    GraphRefused, QuestionTooWide."""
    by = list(dict.fromkeys(by))
    where, given = _which(narrowed or Narrowed(), run, approver)
    columns = "".join(f"{_COLUMNS[name]} AS d{at}, " for at, name in enumerate(by))
    counted = "approved" if decision == "approve" else "rejected"
    text = (
        f"{_EACH % where}WITH {columns}"
        "sum(CASE decision WHEN 'approve' THEN 1 ELSE 0 END) AS approved, "
        "sum(CASE decision WHEN 'reject' THEN 1 ELSE 0 END) AS rejected, "
        "avg(waited) AS ms, max(at) AS last, "
        "collect(DISTINCT CASE decision WHEN $counted THEN e.workflow_id END)[0..$shown] AS some "
        f"WHERE {counted} > 0 "
        f"RETURN {''.join(f'd{at}, ' for at in range(len(by)))}approved, rejected, ms, last, some "
        f"ORDER BY {counted} DESC, last DESC LIMIT $limit"
    )
    given |= {"decision": None, "counted": decision, "shown": SHOWN_RUNS, "limit": limit}
    rows = await look(graph, "counting approvals", text, **given)
    return [_counted(by, row) for row in rows]


def _which(narrowed: Narrowed, run: str | None, approver: str | None) -> tuple[str, dict[str, Any]]:
    """A WHERE for outcomes that were decided on, and the parameters of the decisions."""
    # A state may end long after it was approved.
    where, given = replace(narrowed, until=None).terms()
    given |= {"by": approver, "before": narrowed.until}
    if run is not None:
        where += " AND e.workflow_id = $run_id"
        given["run_id"] = run
    return where, given


def _counted(by: Sequence[str], row: Sequence[Any]) -> Decided:
    values = dict(zip(by, row, strict=False))
    if "day" in values:
        values["day"] = f"{datetime.fromtimestamp(values['day'] * _DAY_MS / 1000, UTC):%Y-%m-%d}"
    approved, rejected, ms, last, some = row[len(by) :]
    return Decided(values, int(approved), int(rejected), ms or 0.0, last, tuple(some))
