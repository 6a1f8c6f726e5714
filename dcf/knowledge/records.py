"""What was measured of versions of skills, from the sums that the graph keeps."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dcf.knowledge.episode import iso
from dcf.knowledge.rollup import watch_of

if TYPE_CHECKING:
    from dcf.evidence import Record

Rows = Callable[..., Awaitable[list[list[Any]]]]
"""Runs a query with its parameters, as ``GraphConnection.rows``."""

# One row for each version and not one for each day: as text, lists of integers are JSON.
_DAYS = """MATCH (t:TaskType)<-[k:STAT_DAY]-(s:SkillVersion) WHERE %s
WITH t, s, collect([k.last_at, k.ok, k.n]) AS days MATCH (t)<-[x:STAT]-(s)
RETURN t.name, s.name, days, x.recent, x.duration_ms / x.n"""


def narrowing(
    task_type: str | None, skill: str | None, since: int | None
) -> tuple[str, dict[str, Any]]:
    """What follows WHERE for the sums ``k`` of a version ``s`` at a kind of task ``t``, and its
    parameters: sums of something, of one ``task_type``, of one ``skill`` (a name, or a manifest
    id), of the days from that of ``since`` (ms) on."""
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
    return " AND ".join(terms), given


async def read_records(
    rows: Rows,
    *,
    task_type: str | None = None,
    skill: str | None = None,
    since: int | None = None,
    now: int,
) -> dict[str, dict[str, Record]]:
    """Task type -> manifest id -> what was measured of it there, as it counts at ``now`` (ms)."""
    from dcf.evidence import record_from

    where, given = narrowing(task_type, skill, since)
    found: dict[str, dict[str, Record]] = defaultdict(dict)
    for task, version, days, recent, mean_ms in await rows(_DAYS % where, **given):
        sums = [(int(at), int(ok), int(n)) for at, ok, n in json.loads(days)]
        newest = json.loads(recent) if recent else []
        record = record_from(watch_of(sums, newest), now=now)
        failed_at = _last_failure(sums, newest)
        found[task][version] = replace(record, failed_at=failed_at, mean_ms=mean_ms)
    return found


def _last_failure(days: Iterable[tuple[int, int, int]], recent: Iterable[int]) -> int | None:
    """When the last failure ended (ms); of one that is older than ``recent``, when the last outcome
    of its UTC day did. None without a failure."""
    ends = [code >> 1 for code in recent if not code & 1]
    return max(ends or (at for at, ok, n in days if ok < n), default=None)
