"""How outcomes fall out across skill version, agent, task, error, workflow and time: one pass over
outcomes, each of which carries all of that itself. Nothing is joined: two things that a hundred
thousand outcomes have in common are connected by as many parallel paths.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, Literal, get_args

from dcf.evidence import Counts
from dcf.knowledge.asking.looking import look
from dcf.knowledge.connection import GraphConnection

Dimension = Literal[
    "skill", "agent", "task_type", "error", "workflow", "tier", "model", "status", "day"
]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
Order = Literal[
    "failures", "unreliable", "reliable", "slow", "fast", "dear", "cheap", "first", "last"
]
SHOWN_RUNS = 3
_Z2 = NormalDist().inv_cdf(0.975) ** 2


def _surely(won: str) -> str:
    """The lower bound of the 95 % interval of the share ``won`` of ``n`` (``dcf.evidence.wilson``),
    as Cypher: one failure of one is no more than fifty of a hundred."""
    spread = f"sqrt({_Z2} * toFloat({won}) * (n - ({won})) / n + {_Z2**2 / 4})"
    return f"(toFloat({won}) + {_Z2 / 2} - {spread}) / (n + {_Z2})"


ORDERED: Mapping[Order | None, str] = {
    None: "n DESC",
    "failures": "n - ok DESC, n",
    "unreliable": f"{_surely('n - ok')} DESC, n DESC",
    "reliable": f"{_surely('ok')} DESC, n DESC",
    "slow": "ms DESC",
    "fast": "ms",
    "dear": "cost DESC",
    "cheap": "cost",
    "first": "last",
    "last": "last DESC",
}
"""What comes first, in terms of a row's ``n``, ``ok``, ``ms`` and ``cost``."""
DIMENSION_COLUMNS: Mapping[str, str] = {
    "skill": "v",
    "agent": "e.agent",
    "task_type": "e.task_type",
    "error": "e.error",
    "workflow": "e.workflow_name",
    "tier": "e.tier",
    "model": "e.model",
    "status": "e.status",
    "day": "e.day",
}


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Which outcomes count; None is all. ``skill`` is a name or a manifest id, times are ms since
    the epoch, ``since`` included, ``until`` not."""

    task_type: str | None = None
    skill: str | None = None
    agent: str | None = None
    error: str | None = None
    workflow: str | None = None
    tool: str | None = None
    since: int | None = None
    until: int | None = None

    def terms(self) -> tuple[str, dict[str, Any]]:
        """A WHERE for a node ``e``, and its parameters. There is a time in it always: what was not
        measured has none to compare, whoever wrote it."""
        found: dict[str, tuple[str, Any]] = {
            "task_type": ("e.task_type = $task_type", self.task_type),
            "agent": ("e.agent = $agent", self.agent),
            "error": ("e.error = $error", self.error),
            "workflow": ("e.workflow_name = $workflow", self.workflow),
            "tool": ("$tool IN e.tools", self.tool),
            "since": ("e.ended_at >= $since", self.since or 0),
            "until": ("e.ended_at < $until", self.until),
        }
        terms = [term for term, value in found.values() if value is not None]
        given = {name: value for name, (_, value) in found.items() if value is not None}
        if self.skill is not None:
            whole = "@" in self.skill
            terms.append(f"any(v IN e.skills WHERE v {'=' if whole else 'STARTS WITH'} $skill)")
            given["skill"] = self.skill if whole else f"{self.skill}@"
        return f"WHERE {' AND '.join(terms)}", given


@dataclass(frozen=True, slots=True)
class Crossed:
    """Outcomes, or runs, that have the same ``values`` in the dimensions asked for. ``cost_usd`` is
    the sum over the ``priced`` of them whose cost is known."""

    values: Mapping[str, Any]
    counts: Counts
    mean_ms: float
    cost_usd: float
    last_at: int
    priced: int = 0
    failed_runs: tuple[str, ...] = field(default=())
    runs: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        low, high = self.counts.interval()
        return {
            **self.values,
            "n": self.counts.n,
            "ok": self.counts.successes,
            "rate": self.counts.rate,
            "low": round(low, 4),
            "high": round(high, 4),
            "mean_ms": round(self.mean_ms, 1),
            "cost_usd": round(self.cost_usd, 6),
            "priced": self.priced,
            "last_at": self.last_at,
            "failed_runs": list(self.failed_runs),
            "runs": list(self.runs),
        }


@dataclass(frozen=True, slots=True)
class Counted:
    """What is counted: nodes with ``label``, of which those with the status ``done`` went well; its
    dimensions as ``columns`` of a node ``e``, or of one ``v`` of its skills, and how they are
    called in an error."""

    label: str
    done: str
    columns: Mapping[str, str]
    run: str
    called: str


_OUTCOMES = Counted("StateOutcome", "done", DIMENSION_COLUMNS, "e.workflow_id", "outcomes")


async def crossing(
    graph: GraphConnection,
    by: Sequence[Dimension],
    narrowed: Narrowed | None = None,
    *,
    order: Order | None = None,
    limit: int = 100,
) -> list[Crossed]:
    """Outcomes counted for each combination of ``by``, in ``order``, the most frequent first
    without one. An outcome with several skills counts for each of them where ``skill`` is asked
    for. Raises GraphAway, GraphRefused, QuestionTooWide."""
    where, given = (narrowed or Narrowed()).terms()
    skill = narrowed.skill if narrowed is not None else None
    return await counted(graph, _OUTCOMES, by, where, given, skill=skill, order=order, limit=limit)


async def counted(
    graph: GraphConnection,
    what: Counted,
    by: Sequence[str],
    where: str,
    given: Mapping[str, Any],
    *,
    skill: str | None,
    order: Order | None,
    limit: int,
) -> list[Crossed]:
    """``what`` counted for each combination of ``by``, of nodes ``where``; of one ``skill`` alone
    if it is given. Raises GraphAway, GraphRefused, QuestionTooWide."""
    by = list(dict.fromkeys(by))
    unwound = "UNWIND e.skills AS v" if "skill" in by else ""
    if "skill" in by and skill is not None:
        sign = "=" if "@" in skill else "STARTS WITH"
        unwound += f" WITH e, v WHERE v {sign} $skill"
    columns = [f"{what.columns[name]} AS d{at}" for at, name in enumerate(by)]
    # The same id twice makes no difference, and the newest do not matter: any of them will do.
    text = (
        f"MATCH (e:{what.label}) {where} {unwound} RETURN {''.join(c + ', ' for c in columns)}"
        f"count(e) AS n, sum(CASE e.status WHEN '{what.done}' THEN 1 ELSE 0 END) AS ok, "
        "avg(e.duration_ms) AS ms, sum(coalesce(e.cost_usd, 0.0)) AS cost, "
        "count(e.cost_usd) AS priced, max(e.ended_at) AS last, "
        f"collect(DISTINCT CASE WHEN e.status <> '{what.done}' THEN {what.run} END)[0..$shown] "
        f"AS bad, collect(DISTINCT {what.run})[0..$shown] AS some "
        f"ORDER BY {ORDERED[order]} LIMIT $limit"
    )
    asked = f"counting {what.called} by " + (", ".join(by) or "nothing")
    rows = await look(graph, asked, text, **given, shown=SHOWN_RUNS, limit=limit)
    size = len(by)
    return [
        Crossed(
            values=dict(zip(by, row[:size], strict=True)),
            counts=Counts(int(row[size + 1]), row[size] - int(row[size + 1])),
            mean_ms=row[size + 2] or 0.0,
            cost_usd=row[size + 3],
            priced=row[size + 4],
            last_at=row[size + 5],
            failed_runs=tuple(row[size + 6]),
            runs=tuple(row[size + 7]),
        )
        for row in rows
        if row[size]
    ]
