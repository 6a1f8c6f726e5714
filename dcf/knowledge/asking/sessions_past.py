"""What other sessions know: how skills, and specializations of companions, did at kinds of task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcf.evidence import Counts, record_of
from dcf.knowledge.asking.looking import look_fast
from dcf.knowledge.connection import GraphConnection

if TYPE_CHECKING:
    from dcf.evidence import Record

MOST = 5_000
"""So many outcomes, and so many delegations, are looked at: the newest."""
_WHAT = "what other sessions know"
_BETWEEN = "\n"
# Ordering whole rows, of which most are then left, would take the longest of all.
_OLDEST = """MATCH (e:%s) WHERE %s
WITH e.ended_at AS at ORDER BY at DESC SKIP $newer LIMIT 1 RETURN at"""
_OUTCOMES = """MATCH (e:StateOutcome) WHERE %s
RETURN e.ended_at, e.task_type, e.status, e.duration_ms, e.cost_usd,
  string.join(e.skills, $between), e.workflow_id"""
_DELEGATIONS = """MATCH (e:Delegation) WHERE %s
RETURN e.ended_at, e.task_type, e.status, e.duration_ms, e.cost_usd, e.specialization"""
# The run of a task that was done in part says that it is done; it ends before the task is closed.
_PARTIAL = """MATCH (e:Delegation) WHERE e.status = 'partial' AND e.ended_at >= $since
RETURN e.workflow_id"""
_OTHER_OUTCOMES = "(e.session IS NULL OR e.session <> $session)"
_OTHER_DELEGATIONS = (
    "e.session_id <> $session AND e.status <> 'cancelled' AND e.specialization IS NOT NULL "
    "AND e.companion_id IS NOT NULL AND e.started_at IS NOT NULL"
)


@dataclass(frozen=True, slots=True)
class PastTrack:
    """How ``subject`` (a manifest id, or a specialization) did at a kind of task: ``counts`` of all
    that was looked at, ``record`` what they are worth now. ``mean_ok_ms`` is the mean duration of
    what succeeded, None where nothing did; ``cost_usd`` the sum over the ``priced`` of them."""

    task_type: str
    subject: str
    counts: Counts
    record: Record
    mean_ok_ms: float | None
    cost_usd: float
    priced: int


@dataclass(frozen=True, slots=True)
class SessionsPast:
    """By kind of task: ``skills`` from all runs, whether delegated or not, ``specializations`` from
    delegated tasks that a companion worked at to their end. What was done in part counts as not
    succeeded, what was cancelled not at all."""

    skills: tuple[PastTrack, ...]
    specializations: tuple[PastTrack, ...]


@dataclass(frozen=True, slots=True)
class _Ended:
    at: int
    task_type: str
    ok: bool
    duration_ms: int
    cost_usd: float | None


async def sessions_past(
    graph: GraphConnection,
    *,
    excluding: str,
    task_types: Collection[str] | None = None,
    since: int = 0,
    until: int | None = None,
    now: int,
) -> SessionsPast:
    """What was learned elsewhere than in the session ``excluding`` (an id; "" excludes none), of
    these kinds of task or of all, ended from ``since`` to before ``until`` (ms), as it counts at
    ``now`` (ms). Raises GraphAway, GraphRefused, QuestionTooWide."""
    terms = ["e.ended_at >= $since"]
    given: dict[str, Any] = {"since": since, "session": excluding}
    if until is not None:
        terms.append("e.ended_at < $until")
        given["until"] = until
    if task_types is not None:
        terms.append("e.task_type IN $tasks")
        given["tasks"] = sorted(task_types)
    outcomes = await _newest(
        graph, "StateOutcome", _OUTCOMES, [*terms, _OTHER_OUTCOMES], {**given, "between": _BETWEEN}
    )
    delegations = await _newest(
        graph, "Delegation", _DELEGATIONS, [*terms, _OTHER_DELEGATIONS], given
    )
    begins = outcomes[0][0] if outcomes else since
    partial = {run for (run,) in await look_fast(graph, _WHAT, _PARTIAL, since=begins)}
    return SessionsPast(
        skills=_tracks(
            (
                (skill, _ended(row, row[2] == "done" and row[6] not in partial))
                for row in outcomes
                for skill in dict.fromkeys((row[5] or "").split(_BETWEEN))
                if skill
            ),
            now,
        ),
        specializations=_tracks(
            ((row[5], _ended(row, row[2] == "succeeded")) for row in delegations), now
        ),
    )


async def _newest(
    graph: GraphConnection, label: str, text: str, terms: Sequence[str], given: dict[str, Any]
) -> list[list[Any]]:
    """The newest ``MOST`` rows in the order of time."""
    where = " AND ".join(terms)
    bound = {name: value for name, value in given.items() if name != "between"}
    oldest = await look_fast(graph, _WHAT, _OLDEST % (label, where), **bound, newer=MOST - 1)
    if oldest:
        given = {**given, "since": oldest[0][0]}
    rows = await look_fast(graph, _WHAT, text % where, **given)
    # Others may write to the graph too: what has no kind of task was not measured.
    told = [row for row in rows if isinstance(row[0], int) and isinstance(row[1], str)]
    return sorted(told, key=_at)[-MOST:]


def _at(row: Sequence[Any]) -> int:
    at: int = row[0]
    return at


def _ended(row: Sequence[Any], ok: bool) -> _Ended:
    cost = row[4]
    return _Ended(row[0], row[1], ok, row[3] or 0, None if cost is None else float(cost))


def _tracks(told: Iterable[tuple[str, _Ended]], now: int) -> tuple[PastTrack, ...]:
    """One for each kind of task and subject; ``told`` is in the order of time."""
    found: dict[tuple[str, str], list[_Ended]] = defaultdict(list)
    for subject, ended in told:
        found[ended.task_type, subject].append(ended)
    return tuple(_track(*pair, found[pair], now) for pair in sorted(found))


def _track(task_type: str, subject: str, told: Sequence[_Ended], now: int) -> PastTrack:
    won = [one.duration_ms for one in told if one.ok]
    priced = [one.cost_usd for one in told if one.cost_usd is not None]
    return PastTrack(
        task_type,
        subject,
        Counts(len(won), len(told) - len(won)),
        record_of(((one.at, int(one.ok), int(not one.ok)) for one in told), now=now),
        sum(won) / len(won) if won else None,
        sum(priced),
        len(priced),
    )
