"""``explain``: why a run is not moving, and what would unstick it."""

from __future__ import annotations

import shlex
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from control_plane import (
    Holder,
    Refused,
    RunDocument,
    StateDocument,
    Store,
    keys,
    refused_now,
    run_lists,
    signs_of_life,
)
from dcf.workflow.aliveness import is_alive
from dcf.workflow.approval import is_manual, question_of
from dcf.workflow.tally import is_earlier, is_tolerated

_LATE_MS = 1_000
_LIVES_MS = 10_000
"""Whoever reads a queue says so more often."""
_REFUSED = "it waits until Redis takes writes"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one state stands where it stands; ``command`` would help, when something would."""

    path: str
    status: str
    why: str
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer in one sentence, then each open state. ``refused``: how Redis refuses writes;
    ``workers`` are how many read the pool, None then: they can give no sign of life."""

    workflow_id: str
    status: str
    summary: str
    reasons: Sequence[Reason]
    workers: int | None
    refused: Refused | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"refused": self.refused.to_json() if self.refused else None}


@dataclass(frozen=True, slots=True)
class _Pool:
    """A pool and its workers, each with how many milliseconds ago it read the queue. To say so is a
    write: while Redis has ``refused`` them, nobody knows who reads it."""

    name: str
    signs: Mapping[str, int]
    refused: Refused | None

    @property
    def workers(self) -> int | None:
        """How many of them read it, None where nobody knows."""
        if self.refused is not None:
            return None
        return sum(idle_ms <= _LIVES_MS for idle_ms in self.signs.values())

    @property
    def start(self) -> str:
        """The command that starts a worker of it."""
        return f"dcf worker --pool {self.name}"


async def explain(store: Store, workflow_id: str) -> Explanation:
    """Why the run stands where it stands. Raises UnknownRun."""
    run = await store.run(workflow_id)
    now = await store.now_ms()
    refused = await refused_now(store.backend)
    pool = _Pool(run.pool, await signs_of_life(store.backend, run.pool), refused)
    workers = pool.workers
    paths = [path for path in await store.paths(workflow_id) if not is_earlier(path)]
    documents = await store.states(workflow_id, paths)
    if run.is_over:
        summary = f"the run is over: {run.status}"
        if run.error is not None:
            where = f" at {run.exit}" if run.exit else ""
            summary += f"{where} ({run.error})"
        broken = [] if run.status == "succeeded" else _broken(workflow_id, documents)
        return Explanation(workflow_id, run.status, summary, broken, workers, refused)
    if run.status == "pending":
        reason = "its submission was interrupted; submit it again with the same id"
        return Explanation(workflow_id, run.status, reason, [], workers, refused)
    reasons = [
        _reason(workflow_id, document, documents, run.raw["deps"], now, pool)
        for document in documents.values()
        if document.is_open and is_alive(document, documents)
    ]
    moving = [reason for reason in reasons if reason.status in ("ready", "running", "waiting")]
    moving.sort(key=lambda reason: ("ready", "running", "waiting").index(reason.status))
    waiting_for_others = [reason for reason in reasons if reason.status == "pending"]
    summary = (
        moving[0].why if moving else "no state is open: a step was committed just now; look again"
    )
    if moving:
        summary = f"{moving[0].path} is {moving[0].status}: {summary}"
    found = moving + waiting_for_others
    return Explanation(workflow_id, run.status, summary, found, workers, refused)


async def live_workers(
    store: Store,
    pool: str | None = None,
    *,
    within_ms: int = _LIVES_MS,
    but: Container[str] = (),
) -> int:
    """How many consumers read the queue of ``pool`` (without one: the store's) within the last
    ``within_ms``, without those named in ``but``."""
    signs = await signs_of_life(store.backend, pool or store.pool)
    return sum(idle_ms <= within_ms for name, idle_ms in signs.items() if name not in but)


async def pools_under_way(store: Store, *, within: int = 20) -> list[str]:
    """The pools of the newest ``within`` runs that are under way, by name. Raises RefusedForNow
    where Redis refuses what finds all of them."""
    return sorted({run.pool for run in await _under_way(store, within)})


async def blocked_workers(
    store: Store, signs: Mapping[str, int], *, within: int = 20
) -> dict[str, list[str]]:
    """The workers that renew leases and do nothing else, each with the states that it holds, as
    ``PATH of RUN``, in the newest ``within`` runs that are under way. ``signs`` says how many
    milliseconds ago each worker read a queue. Raises as ``pools_under_way``."""
    found: dict[str, list[str]] = {}
    if all(silent_ms <= _LIVES_MS for silent_ms in signs.values()):
        return found
    now = await store.now_ms()
    for run in await _under_way(store, within):
        documents = await store.states(run.workflow_id, await store.paths(run.workflow_id))
        for path, document in documents.items():
            holder = document.holder
            if document.status == "running" and holder and _is_blocked(holder, now, signs):
                found.setdefault(holder.owner, []).append(f"{path} of {run.workflow_id}")
    return found


async def _under_way(store: Store, within: int) -> Sequence[RunDocument]:
    page = await run_lists.list_runs(store, within, status="running")
    if page.refused is not None:
        # Runs may be missing from it.
        raise page.refused
    return page.runs


def _broken(workflow_id: str, documents: dict[str, StateDocument]) -> list[Reason]:
    """What a redrive would do again: what failed, and what was cut off while it was under way."""
    command = f"dcf redrive {workflow_id}"
    reasons = []
    for document in documents.values():
        if is_tolerated(document.path, documents):
            continue
        if document.status == "failed" and document.error is not None:
            why = f"{document.error}{_killed(document)}"
        elif document.status in ("cancelled", "ready", "running", "waiting"):
            why = "cut off when the run ended"
        else:
            continue
        reasons.append(Reason(document.path, document.status, why, command))
    return reasons


def _reason(
    workflow_id: str,
    document: StateDocument,
    documents: dict[str, StateDocument],
    deps: dict[str, Any],
    now: int,
    pool: _Pool,
) -> Reason:
    path, status = document.path, document.status
    if status == "pending":
        upstream = deps.get(str(keys.split_path(path)[-1]), {}).get("upstream", [])
        names = [f"{name} ({_status(documents, name)})" for name in upstream]
        return Reason(path, status, "not entered yet; after " + (", ".join(names) or "nothing"))
    if status == "ready":
        age = _seconds(now - (document.ready_at or now))
        event = f" to handle its {document.event}" if document.event else ""
        if pool.refused is not None:
            return Reason(path, status, f"ready{event} for {age}; {_REFUSED}{_killed(document)}")
        if pool.workers == 0:
            why = f"ready{event} for {age}, and no worker reads pool {pool.name!r}"
            return Reason(path, status, why, pool.start)
        takes = "a worker will take it" + (", and nothing beside it" if document.deaths else "")
        return Reason(path, status, f"ready{event} for {age}; {takes}{_killed(document)}")
    if status == "running" and document.holder is not None:
        return _held(document, document.holder, now, pool)
    why = _waits(document, now)
    if document.wait == "approval":
        return Reason(path, status, why, _deciding(workflow_id, document))
    if pool.refused is not None and document.wait in ("timer", "retry"):
        return Reason(path, status, f"{why}; not before Redis takes writes")
    if pool.workers == 0 and document.wait in ("timer", "retry"):
        why += f", but no worker reads pool {pool.name!r} to take it up then"
        return Reason(path, status, why, pool.start)
    return Reason(path, status, why)


def _killed(document: StateDocument) -> str:
    """What is known of the processes that died over it: workers, and those that a worker started
    for it alone; "" where none did."""
    if not document.deaths:
        return ""
    if document.how is None:
        died = "a worker process" if document.deaths == 1 else f"{document.deaths} worker processes"
        return f"; {died} died or vanished while it was in work"
    if document.deaths == 1:
        return f"; killed a worker process: {document.how}"
    return f"; killed {document.deaths} worker processes, the last one: {document.how}"


def _deciding(workflow_id: str, document: StateDocument) -> str:
    """The command that decides what is asked, or shows what is to be done."""
    if is_manual(document):
        return f"dcf tasks show {workflow_id} {shlex.quote(document.path)}"
    people = document.approval["request"]["people"] if document.approval else []
    as_whom = f" --as {shlex.quote(people[0])}" if people else ""
    seen = ""
    if document.approval:
        digest = document.approval["request"]["digest"]
        seen = f" --digest {digest} --question {question_of(document)}"
    return f"dcf approve {workflow_id} {shlex.quote(document.path)}{as_whom}{seen}"


def _held(document: StateDocument, holder: Holder, now: int, pool: _Pool) -> Reason:
    """Why a state is in work, or whose lease of it ended."""
    beat, left, command = _seconds(max(now - holder.since, 0)), holder.ends - now, None
    if left > 0:
        lease = f"its lease ends in {_seconds(left)}"
    else:
        lease = f"its lease ended {_seconds(-left)} ago, "
        if pool.refused is not None:
            lease += f"and {_REFUSED}"
        elif pool.workers == 0:
            lease += f"and no worker reads pool {pool.name!r} to take it over"
            command = pool.start
        else:
            lease += "the next sweep gives it to another worker"
    why = (
        f"held by {holder.owner}, try {document.try_}, last heartbeat {beat} ago; "
        f"{lease}{_limits(document, now)}{_blocked(holder, now, pool)}"
    )
    return Reason(document.path, document.status, why, command)


def _blocked(holder: Holder, now: int, pool: _Pool) -> str:
    """That the worker is blocked; "" where that is not so, or not known."""
    if not _is_blocked(holder, now, pool.signs):
        return ""
    return (
        f"; {holder.owner} is blocked since {_seconds(pool.signs[holder.owner])}: a handler, of "
        "this state or of another that it holds, lets nothing else run in its thread; two SIGTERM "
        "end that worker"
    )


def _is_blocked(holder: Holder, now: int, signs: Mapping[str, int]) -> bool:
    """Whether a worker renews its leases, in a thread of its own, and does nothing else: one that
    died renews nothing after its last sign of life."""
    return signs.get(holder.owner, 0) - (now - holder.since) > _LIVES_MS


def _limits(document: StateDocument, now: int) -> str:
    limits = ""
    if document.deadline is not None:
        limits = f"; it times out in {_seconds(document.deadline - now)}"
    if document.heartbeat_due is not None and document.wait == "callback":
        limits += f"; the next heartbeat is due in {_seconds(document.heartbeat_due - now)}"
    return limits


def _waits(document: StateDocument, now: int) -> str:
    due = document.wait_until
    when = ""
    if due is not None:
        late = now - due
        when = f" (in {_seconds(-late)})" if late < _LATE_MS else f" ({_seconds(late)} ago)"
    if document.wait == "retry":
        return f"try {document.try_} starts at its retry time{when} after {document.error or ''}"
    if document.wait == "timer":
        return f"waits for its time{when}"
    if document.wait == "approval" and document.approval is not None:
        if is_manual(document):
            return _to_be_done(document, document.approval, now)
        return _asked(document, document.approval, when, now)
    if document.wait == "callback":
        return "waits for somebody to answer its task token" + _limits(document, now)
    if document.join is not None:
        join = document.join
        lost = f" ({join.failed} failed, {join.fail_limit} may)" if join.failed else ""
        return f"{join.finished} of {join.n} children are done{lost}, {join.spawned} were started"
    return "its states are running"


def _to_be_done(document: StateDocument, record: dict[str, Any], now: int) -> str:
    since = _seconds(now - (document.asked_at or now))
    due = document.wait_until
    left = "" if due is None else f"; it times out in {_seconds(due - now)}"
    return f"manual task: {record['request']['approver']} was asked {since} ago to do it{left}"


def _asked(document: StateDocument, record: dict[str, Any], when: str, now: int) -> str:
    request = record["request"]
    tool = ":".join(part for part in (request["server_id"], request["tool_name"]) if part)
    people = request["people"]
    who = request["approver"]
    if people != [who]:
        who += f" ({', '.join(people)})"
    since = _seconds(now - (document.asked_at or now))
    then = ", then ".join(approver["approver"] for approver in request["chain"])
    ahead = f"; after that {then} is asked" if then else "; without an answer it is rejected"
    end = f", until its time ends{when}{ahead}" if when else ""
    return f"approval pending: {who} was asked {since} ago to decide on {tool}{end}"


def _status(documents: dict[str, StateDocument], name: str) -> str:
    document = documents.get(keys.encode_name(name))
    return document.status if document else "unknown"


def _seconds(milliseconds: int) -> str:
    seconds = milliseconds / 1000
    if abs(seconds) < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if abs(seconds) < 7200 else f"{seconds / 3600:.1f} h"
