"""Which version of a skill succeeded most at a kind of task, and how sure that is.

The order is that of the Planner's choice: versions of one skill stand as ``dcf.evidence`` has it,
by records that forget what no longer holds, each in the light of the others.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dcf.evidence import Counts, Record, Standing, best_probabilities, standings
from dcf.knowledge.asking.looking import look, look_fast
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.naming import edge_uuid
from dcf.knowledge.records import narrowing, read_records
from dcf.skills import version_order

SHOWN_RUNS = 5
"""So many runs are named as evidence, the newest of those that its facts name."""
_WHAT = "the ranking of versions"
_SUMS = """MATCH (t:TaskType)<-[k:STAT]-(s:SkillVersion) WHERE %s
RETURN t.name, s.name, t.uuid, s.uuid, k.n, k.ok, k.duration_ms, k.cost_usd, k.tries, k.last_at"""
_DAYS = """MATCH (t:TaskType)<-[k:STAT_DAY]-(s:SkillVersion) WHERE %s
RETURN t.name, s.name, t.uuid, s.uuid, sum(k.n), sum(k.ok), sum(k.duration_ms), sum(k.cost_usd),
  sum(k.tries), max(k.last_at)"""
_RUNS = """UNWIND $facts AS f MATCH (s)-[x:RELATES_TO {uuid: f}]->() UNWIND x.episodes AS u
MATCH (e:Episodic {uuid: u}) RETURN s.uuid, endNode(x).uuid, e.ended_at, e.workflow_id"""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One version at one kind of task: ``counts`` of all its outcomes, the success rate
    ``expected`` now, the probability ``best`` that no other version measured for this task has a
    higher one, means over its outcomes, when the last one ended (ms), and the ids of ``runs``, the
    newest. ``changed_at`` (ms) lies in the first UTC day after its rate changed, as far as that
    shows: what came before is counted, and says nothing of what is expected."""

    task_type: str
    version: str
    counts: Counts
    expected: float
    best: float
    mean_ms: float
    mean_cost_usd: float
    mean_tries: float
    last_at: int
    changed_at: int | None
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
            "expected": round(self.expected, 4),
            "best": round(self.best, 4),
            "mean_ms": round(self.mean_ms, 1),
            "mean_cost_usd": round(self.mean_cost_usd, 6),
            "mean_tries": round(self.mean_tries, 3),
            "last_at": self.last_at,
            "changed_at": self.changed_at,
            "runs": list(self.runs),
        }


async def ranking(
    graph: GraphConnection,
    *,
    task_type: str | None = None,
    skill: str | None = None,
    since: int | None = None,
    now: int | None = None,
) -> list[Ranked]:
    """Versions by kind of task, in each the one with the highest expected rate first; of one
    ``task_type`` and one ``skill`` (a name, or a manifest id) if given. ``since`` (ms) means the
    whole UTC day that it falls into; ``now`` (ms) is when the ranking holds, at present if None.
    Raises GraphAway, GraphRefused, QuestionTooWide."""
    where, given = narrowing(task_type, skill, since)
    rows = await look(graph, _WHAT, (_SUMS if since is None else _DAYS) % where, **given)
    if not rows:
        return []
    records = await read_records(
        partial(look_fast, graph, _WHAT),
        task_type=task_type,
        skill=skill,
        since=since,
        now=time.time_ns() // 1_000_000 if now is None else now,
    )
    runs = await _runs(graph, rows)
    by_task: dict[str, list[list[Any]]] = defaultdict(list)
    for row in rows:
        by_task[row[0]].append(row)
    return [
        ranked
        for name in sorted(by_task)
        for ranked in _ranked(by_task[name], records.get(name, {}), runs)
    ]


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
    for version, task, at, run in await look_fast(graph, _WHAT, _RUNS, facts=facts):
        found[version, task].append((at, run))
    return {
        pair: tuple(dict.fromkeys(run for _, run in sorted(told, reverse=True)))[:SHOWN_RUNS]
        for pair, told in found.items()
    }


def _ranked(
    rows: Sequence[Sequence[Any]],
    records: Mapping[str, Record],
    runs: Mapping[tuple[str, str], tuple[str, ...]],
) -> list[Ranked]:
    by_version = {row[1]: row for row in rows}
    return [
        _one(by_version[standing.version], standing, best, runs)
        for standing, best in _standing(by_version, records)
    ]


def _standing(
    versions: Iterable[str], records: Mapping[str, Record]
) -> list[tuple[Standing, float]]:
    """The versions in order, each with the probability that it is the best of all of them."""
    by_skill: dict[str, list[str]] = defaultdict(list)
    # Among equals the newest, as the Planner has it.
    for version in sorted(versions, key=_newness, reverse=True):
        by_skill[version.partition("@")[0]].append(version)
    found = [row for same in by_skill.values() for row in standings(same, records)]
    shares: Sequence[float] = [row.best for row in found]
    if len(by_skill) > 1:
        shares = best_probabilities([row.belief for row in found])
    return sorted(zip(found, shares, strict=True), key=lambda pair: -pair[0].expected)


def _newness(manifest_id: str) -> tuple[Any, ...]:
    """A sort key; a reference without a version that can be read is the oldest."""
    name, _, version = manifest_id.partition("@")
    try:
        return True, version_order(version), name
    except ValueError:
        return False, name


def _one(
    row: Sequence[Any],
    standing: Standing,
    best: float,
    runs: Mapping[tuple[str, str], tuple[str, ...]],
) -> Ranked:
    _, version, task_id, version_id, n, ok, duration_ms, cost_usd, tries, last_at = row
    counts = Counts(int(ok), int(n) - int(ok))
    return Ranked(
        task_type=row[0],
        version=version,
        counts=counts,
        expected=standing.expected,
        best=best,
        mean_ms=duration_ms / counts.n,
        mean_cost_usd=cost_usd / counts.n,
        mean_tries=tries / counts.n,
        last_at=last_at,
        changed_at=standing.record.changed_at,
        runs=runs.get((version_id, task_id), ()),
    )
