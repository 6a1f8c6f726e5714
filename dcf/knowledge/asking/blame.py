"""Why a run or a state failed: who else failed like that, and what helped afterwards."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dcf.evidence import Comparison, Counts, compare
from dcf.knowledge.asking.account import Account, account_of
from dcf.knowledge.asking.errors import UnknownThing
from dcf.knowledge.asking.looking import look_fast
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.outcome import Outcome

MOST = 5_000
"""So many outcomes of the same kind of task are looked at, the newest."""
SHOWN_RUNS = 5
_BETWEEN = "\n"
_TASK = """MATCH (e:StateOutcome) WHERE e.task_type = $task
RETURN e.ended_at, e.run, e.workflow_id, e.path, e.visit, e.tries, e.status, e.error, e.cause,
  string.join(e.skills, $between) ORDER BY e.ended_at DESC LIMIT $most"""
_ELSEWHERE = """MATCH (e:StateOutcome) WHERE e.error = $error AND e.task_type <> $task
RETURN e.task_type, count(e) AS n,
  string.join(collect(DISTINCT e.workflow_id)[0..$shown], $between)
ORDER BY n DESC LIMIT 5"""
_VARIABLE = re.compile(r"0x[0-9a-f]+|[0-9a-f]{8}-[0-9a-f-]{27}|\d+", re.IGNORECASE)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


@dataclass(frozen=True, slots=True)
class Helped:
    """What was done after such a failure, or else, and how often it then went well. ``how`` is
    ``retry`` (more tries within the visit), ``again`` (a later visit with the same versions) or
    ``version`` (another version of the skill, named in ``what``). ``against`` holds a version
    against the one that failed; ``runs`` are those where it went well."""

    how: str
    what: str
    counts: Counts
    runs: tuple[str, ...]
    against: Comparison | None = None

    def to_json(self) -> dict[str, Any]:
        low, high = self.counts.interval()
        compared = self.against
        return {
            "how": self.how,
            "what": self.what,
            "n": self.counts.n,
            "ok": self.counts.successes,
            "low": round(low, 4),
            "high": round(high, 4),
            "runs": list(self.runs),
            **(
                {
                    "difference": compared.difference,
                    "p_value": compared.p_value,
                    "verdict": compared.verdict,
                }
                if compared
                else {}
            ),
        }


@dataclass(frozen=True, slots=True)
class Failure:
    """One state that failed. ``cluster`` counts the failures of the same kind of task with the same
    error and a cause that differs in numbers and quoted names at most, out of ``failed`` in all, of
    ``looked_at`` outcomes; ``runs`` are others of the cluster. ``elsewhere``: other kinds of task
    with this error, how often, and in which runs."""

    outcome: Outcome
    pattern: str
    cluster: int
    failed: int
    looked_at: int
    runs: tuple[str, ...]
    elsewhere: tuple[tuple[str, int, tuple[str, ...]], ...]
    helped: tuple[Helped, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "state": self.outcome.path,
            "task_type": self.outcome.task_type,
            "skills": list(self.outcome.skills),
            "error": self.outcome.error,
            "cause": self.outcome.cause,
            "pattern": self.pattern,
            "cluster": self.cluster,
            "failed": self.failed,
            "looked_at": self.looked_at,
            "runs": list(self.runs),
            "elsewhere": [
                {"task_type": task, "n": n, "runs": list(runs)} for task, n, runs in self.elsewhere
            ],
            "helped": [one.to_json() for one in self.helped],
        }


@dataclass(frozen=True, slots=True)
class Why:
    """Why a run failed; no ``failures`` where no Task did."""

    account: Account
    failures: tuple[Failure, ...]

    def to_json(self) -> dict[str, Any]:
        end = self.account.end
        return {
            "run": self.account.workflow_id,
            "workflow": end.workflow_name if end else None,
            "run_status": end.status if end else None,
            "run_error": end.error if end else None,
            "run_cause": end.cause if end else None,
            "failures": [failure.to_json() for failure in self.failures],
        }


@dataclass(frozen=True, slots=True)
class Told:
    """An outcome of the same kind of task."""

    at: int
    run: str
    workflow_id: str
    path: str
    visit: int
    tries: int
    ok: bool
    error: str | None
    cause: str | None
    skills: tuple[str, ...]

    @property
    def pattern(self) -> tuple[str, str]:
        return self.error or "", pattern_of(self.cause)


def pattern_of(cause: str | None) -> str:
    """``cause`` without what differs from one failure to the next: numbers, ids, quoted names."""
    return " ".join(_VARIABLE.sub("#", _QUOTED.sub("'…'", cause or "")).split())


async def why(graph: GraphConnection, workflow_id: str, state: str | None = None) -> Why:
    """Why the run, or its ``state`` (a path, or a name in the definition), failed. Raises
    UnknownThing, GraphAway, GraphRefused, QuestionTooWide."""
    account = await account_of(graph, workflow_id)
    failures = account.failures
    if state is not None:
        named = [one for one in account.outcomes if state in (one.path, one.state)]
        if not named:
            known = ", ".join(dict.fromkeys(one.path for one in account.outcomes))
            raise UnknownThing(
                kind="task of this run named", name=state, hint=f"it has {known}" if known else ""
            )
        failures = tuple(one for one in failures if one in named)
    return Why(account, tuple([await _failure(graph, outcome) for outcome in failures]))


async def _failure(graph: GraphConnection, outcome: Outcome) -> Failure:
    what = f"failures of {outcome.task_type}"
    rows = await look_fast(graph, what, _TASK, task=outcome.task_type, between=_BETWEEN, most=MOST)
    told = [_told(row) for row in rows]
    elsewhere = await look_fast(
        graph, what, _ELSEWHERE,
        error=outcome.error or "", task=outcome.task_type, shown=SHOWN_RUNS, between=_BETWEEN,
    )  # fmt: skip
    pattern = outcome.error or "", pattern_of(outcome.cause)
    cluster = [one for one in told if not one.ok and one.pattern == pattern]
    others = [one.workflow_id for one in cluster if one.workflow_id != outcome.workflow_id]
    return Failure(
        outcome=outcome,
        pattern=pattern[1],
        cluster=len(cluster),
        failed=sum(not one.ok for one in told),
        looked_at=len(told),
        runs=tuple(dict.fromkeys(others))[:SHOWN_RUNS],
        elsewhere=tuple((task, n, tuple(runs.split(_BETWEEN))) for task, n, runs in elsewhere),
        helped=tuple(helped_after(outcome, told)),
    )


def helped_after(outcome: Outcome, told: Sequence[Told]) -> list[Helped]:
    """What went well where ``outcome`` did not, of outcomes of the same kind of task."""
    own = outcome.skills
    found = []
    retried = [one for one in told if one.tries > 1 and one.skills == own]
    if retried:
        found.append(_helped("retry", "more than one try", retried))
    visits: dict[tuple[str, str], list[Told]] = defaultdict(list)
    for one in sorted(told, key=lambda one: one.visit):
        visits[one.run, one.path].append(one)
    later = [
        second
        for all_ in visits.values()
        for first, second in pairwise(all_)
        if first.error == outcome.error and not first.ok
    ]
    again = [one for one in later if one.skills == own]
    if again:
        found.append(_helped("again", "a later visit with the same versions", again))
    failed = _counts([one for one in told if one.skills == own])
    for skills in sorted({one.skills for one in told if one.skills != own}):
        with_it = [one for one in told if one.skills == skills]
        what = ", ".join(skills) or "no skill"
        found.append(_helped("version", what, with_it, compare(_counts(with_it), failed)))
    return sorted(found, key=lambda one: -(one.counts.interval()[0]))


def _helped(how: str, what: str, told: Sequence[Told], against: Comparison | None = None) -> Helped:
    runs = dict.fromkeys(one.workflow_id for one in told if one.ok)
    return Helped(how, what, _counts(told), tuple(runs)[:SHOWN_RUNS], against)


def _counts(told: Sequence[Told]) -> Counts:
    won = sum(one.ok for one in told)
    return Counts(won, len(told) - won)


def _told(row: Sequence[Any]) -> Told:
    at, run, workflow_id, path, visit, tries, status, error, cause, skills = row
    parts = tuple(part for part in (skills or "").split(_BETWEEN) if part)
    ok = status == "done"
    return Told(at, run, workflow_id, path, visit, tries, ok, error, cause, parts)
