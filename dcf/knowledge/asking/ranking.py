"""Which version of a skill succeeded most at a kind of task, and how sure that is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dcf.evidence import Beta, Counts, best_probabilities
from dcf.knowledge.asking.looking import look
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.episode import iso
from dcf.knowledge.naming import edge_uuid

SHOWN_RUNS = 5
"""So many runs are named as evidence, the newest of those that its facts name."""
_WHAT = "the ranking of versions"
_SUMS = """MATCH (t:TaskType)<-[k:STAT]-(s:SkillVersion) %s RETURN t.name, s.name, t.uuid, s.uuid,
  k.n, k.ok, k.duration_ms, k.cost_usd, k.tokens, k.tries, k.last_at"""
_DAYS = """MATCH (t:TaskType)<-[k:STAT_DAY]-(s:SkillVersion) %s
RETURN t.name, s.name, t.uuid, s.uuid, sum(k.n), sum(k.ok), sum(k.duration_ms), sum(k.cost_usd),
  sum(k.tokens), sum(k.tries), max(k.last_at)"""
_RUNS = """UNWIND $facts AS f MATCH (s)-[x:RELATES_TO {uuid: f}]->() UNWIND x.episodes AS u
MATCH (e:Episodic {uuid: u}) RETURN s.uuid, endNode(x).uuid, e.ended_at, e.workflow_id"""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One version at one kind of task: ``counts`` of outcomes, the probability ``best`` that no
    other version measured for this task has a higher success rate, means over its outcomes, when
    the last one ended (ms), and the ids of ``runs``, the newest."""

    task_type: str
    version: str
    counts: Counts
    best: float
    mean_ms: float
    mean_cost_usd: float
    mean_tries: float
    last_at: int
    runs: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        low, high = self.counts.interval()
        return {
            "task_type": self.task_type,
            "version": self.version,
            "n": self.counts.n,
            "ok": self.counts.successes,
            "rate": self.counts.rate,
            "low": round(low, 4),
            "high": round(high, 4),
            "best": round(self.best, 4),
            "mean_ms": round(self.mean_ms, 1),
            "mean_cost_usd": round(self.mean_cost_usd, 6),
            "mean_tries": round(self.mean_tries, 3),
            "last_at": self.last_at,
            "runs": list(self.runs),
        }


async def ranking(
    graph: GraphConnection,
    *,
    task_type: str | None = None,
    skill: str | None = None,
    since: int | None = None,
) -> list[Ranked]:
    """Versions by kind of task, in each the one with the highest expected rate first; of one
    ``task_type`` and one ``skill`` (a name, or a manifest id) if given. ``since`` (ms) means the
    whole UTC day that it falls into. Raises GraphAway, GraphRefused, QuestionTooWide."""
    terms = ["k.n > 0"]
    given: dict[str, Any] = {}
    if task_type is not None:
        terms.append("t.name = $task_type")
        given["task_type"] = task_type
    if skill is not None:
        terms.append("s.name = $skill" if "@" in skill else "s.skill = $skill")
        given["skill"] = skill
    if since is not None:
        terms.append("k.day >= $day")
        given["day"] = iso(since)[:10]
    text = (_SUMS if since is None else _DAYS) % f"WHERE {' AND '.join(terms)}"
    rows = [row for row in await look(graph, _WHAT, text, **given) if row[4] > 0]
    runs = await _runs(graph, rows)
    by_task: dict[str, list[list[Any]]] = defaultdict(list)
    for row in rows:
        by_task[row[0]].append(row)
    return [
        ranked for name in sorted(by_task) for ranked in _ranked(by_task[name], runs)
    ]  # fmt: skip


async def _runs(
    graph: GraphConnection, rows: Sequence[Sequence[Any]]
) -> dict[tuple[str, str], tuple[str, ...]]:
    """(version, task type), both as ids -> the newest runs that its facts name."""
    facts = [
        edge_uuid(name, version, task)
        for _, _, task, version, *_ in rows
        for name in ("SUCCEEDED_AT", "FAILED_AT")
    ]
    if not facts:
        return {}
    found: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for version, task, at, run in await look(graph, _WHAT, _RUNS, facts=facts):
        found[version, task].append((at, run))
    return {
        pair: tuple(dict.fromkeys(run for _, run in sorted(told, reverse=True)))[:SHOWN_RUNS]
        for pair, told in found.items()
    }


def _ranked(
    rows: Sequence[Sequence[Any]], runs: dict[tuple[str, str], tuple[str, ...]]
) -> list[Ranked]:
    counts = [Counts(int(row[5]), int(row[4]) - int(row[5])) for row in rows]
    beliefs = [Beta(1 + one.successes, 1 + one.failures) for one in counts]
    shares = best_probabilities(beliefs)
    made = [
        (
            belief.mean,
            Ranked(
                task_type=row[0],
                version=row[1],
                counts=one,
                best=share,
                mean_ms=row[6] / one.n,
                mean_cost_usd=row[7] / one.n,
                mean_tries=row[9] / one.n,
                last_at=row[10],
                runs=runs.get((row[3], row[2]), ()),
            ),
        )
        for row, one, belief, share in zip(rows, counts, beliefs, shares, strict=True)
    ]
    return [ranked for _, ranked in sorted(made, key=lambda pair: (-pair[0], pair[1].version))]
