"""Companions that are served from outside, by MCP clients: they ask for their task, tell of it, and
report its result.

Nothing is kept between the calls but the documents. The token of a lease follows from the task and
its attempt, so that who asks again, from whatever process, has the same task under the same lease.
Until it reports, or its lease ends, nobody else gets the task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from control_plane import JSON, Refusal, claims, encode_name, keys, payload, timers
from dcf.agents import RESULT_STATUS
from dcf.sessions.companion import Companion
from dcf.sessions.errors import BadValue, SessionProblem
from dcf.sessions.finding import unknown_companion
from dcf.sessions.seat import SEAT_MS, agent_of, inbox_of, seat_of
from dcf.sessions.session import Session
from dcf.sessions.sessions import Sessions
from dcf.sessions.task import SessionTask
from dcf.sessions.tick import settle
from dcf.workflow import External, Failed, Outcome, RunCache, Succeeded, iso

ResultStatus = Literal["succeeded", "failed", "partial"]

LEASE_MS = 300_000
"""How long a task is leased by default; a report of progress renews it."""
_LOOK_S = 0.1
_OVER = frozenset({"run_over", "unknown_run", "unknown_state"})


class TaskNotYours(SessionProblem):
    """Task {task_id} is not {companion_id}'s any more: {why}."""

    code = "task_not_yours"
    hint = "`receive_task` tells what to do now"


class ReportedOtherwise(SessionProblem):
    """Task {task_id} was reported before, with another result."""

    code = "reported_otherwise"
    hint = "what was reported first holds"


class ServedByProcess(SessionProblem):
    """Companion {companion_id} is served by companion processes."""

    code = "companion_not_external"
    hint = "create one that is external"


@dataclass(frozen=True, slots=True)
class Received:
    """A task and the ``lease_token`` to report it with. ``lease_ms`` is how long the lease lasts
    without a report."""

    task: SessionTask
    lease_token: str
    lease_ms: int
    work: dict[str, JSON]

    def to_json(self) -> dict[str, JSON]:
        """The document ``task_delegation``, with deadline (ISO 8601), lease and skills."""
        task = self.task
        return {
            "type": "task_delegation",
            "task_id": task.task_id,
            "from_conductor": task.by,
            "timestamp": iso(task.delegated_at),
            "task": {
                "description": task.description,
                "required_skills": list(task.skills),
                "input": task.input,
                "priority": task.priority,
                "timeout_seconds": round((task.deadline_at - task.delegated_at) / 1000, 3),
            },
            "instructions": self.work.get("instructions"),
            "deadline": iso(task.deadline_at),
            "lease_token": self.lease_token,
            "lease_seconds": self.lease_ms / 1000,
            "skills": list(task.skills),
            "idempotency_key": self.work.get("idempotency_key"),
            "fence": self.work.get("fence"),
        }


async def receive(
    sessions: Sessions,
    session_id: str,
    companion_id: str,
    *,
    wait_s: float = 0.0,
    lease_ms: int = LEASE_MS,
) -> Received | None:
    """The task that the companion has, leased; waits up to ``wait_s`` seconds for one, else None.
    The companion is served for as long, and while it has its lease. Raises UnknownSession,
    UnknownCompanion, ServedByProcess."""
    session = await sessions.get(session_id)
    _companion(session, companion_id)
    await _sit(sessions, session_id, companion_id, round(wait_s * 1000))
    await sessions.take_seat(session_id, companion_id)
    loop = asyncio.get_running_loop()
    until = loop.time() + wait_s
    while True:
        session = await sessions.get(session_id)
        companion = _companion(session, companion_id)
        task = session.tasks.get(companion.task_id or "")
        if task is not None:
            found = await _lease(sessions, session_id, companion, task, lease_ms)
            if found is not None:
                await _sit(sessions, session_id, companion_id, lease_ms)
                return found
        left = until - loop.time()
        if left <= 0:
            return None
        await asyncio.sleep(min(_LOOK_S, left))


async def report_progress(
    sessions: Sessions,
    session_id: str,
    companion_id: str,
    task_id: str,
    lease_token: str,
    *,
    progress_pct: float | None = None,
    message: str | None = None,
) -> int:
    """Renew the lease, and tell the session how far the task is; for how many milliseconds it lasts
    now. Raises TaskNotYours, BadValue, UnknownSession, UnknownTask, UnknownCompanion."""
    if progress_pct is not None and not 0 <= progress_pct <= 100:
        raise BadValue(what="progress_pct", value=progress_pct, wanted="0 to 100", how="say 50")
    _companion(await sessions.get(session_id), companion_id)
    task = await sessions.task(session_id, task_id)
    lease = await _external(sessions, session_id, companion_id).renew(
        task_id, encode_name(task.state), lease_token
    )
    if isinstance(lease, Refusal):
        await settle(sessions, session_id, task_id)
        raise await _refused(sessions, session_id, companion_id, task_id, lease)
    await _sit(sessions, session_id, companion_id, lease.ttl_ms)
    told: dict[str, JSON] = {"progress_pct": progress_pct, "message": message and message[:500]}
    told = {name: value for name, value in told.items() if value is not None}
    await sessions.say_progress(session_id, task_id, companion_id=companion_id, **told)
    return lease.ttl_ms


async def report_result(
    sessions: Sessions,
    session_id: str,
    companion_id: str,
    task_id: str,
    lease_token: str,
    *,
    status: str,
    summary: str,
    output_data: JSON = None,
    artifacts: list[JSON] | None = None,
    error_code: str | None = None,
    error_message: str | None = None,
    metrics: Mapping[str, Any] | None = None,
) -> SessionTask:
    """End the task; as it is then. The same report again has the same answer. Raises TaskNotYours,
    ReportedOtherwise, BadValue, UnknownSession, UnknownTask, UnknownCompanion."""
    outcome = _outcome(
        status, summary, output_data, artifacts, error_code, error_message, metrics or {}
    )
    session = await sessions.get(session_id)
    _companion(session, companion_id)
    task = await sessions.task(session_id, task_id)
    if task.is_open and await sessions.store.now_ms() > task.deadline_at:
        await _demand_in_time(sessions, session_id, companion_id, task_id)
    answer = await _external(sessions, session_id, companion_id).finish(
        task_id, encode_name(task.state), lease_token, outcome
    )
    await settle(sessions, session_id, task_id)
    if isinstance(answer, Refusal) and answer.code != "already_finished":
        raise await _refused(sessions, session_id, companion_id, task_id, answer)
    if not session.is_over:
        await _sit(sessions, session_id, companion_id, 0)
    return await sessions.task(session_id, task_id)


async def _demand_in_time(
    sessions: Sessions, session_id: str, companion_id: str, task_id: str
) -> None:
    """The deadline passed: only what was committed before counts. Raises TaskNotYours."""
    # Nobody may have let its time pass yet.
    await timers.tick(sessions.store, task_id)
    await settle(sessions, session_id, task_id)
    if (await sessions.task(session_id, task_id)).is_open:
        late = Refusal("timed_out")
        raise await _refused(sessions, session_id, companion_id, task_id, late)


def _outcome(
    status: str,
    summary: str,
    output_data: JSON,
    artifacts: list[JSON] | None,
    error_code: str | None,
    error_message: str | None,
    metrics: Mapping[str, Any],
) -> Outcome:
    """What a report says. Raises BadValue."""
    if status == "failed":
        return Failed(error_code or "unknown_error", error_message or summary, dict(metrics))
    if status not in ("succeeded", "partial"):
        wanted = "succeeded, failed or partial"
        raise BadValue(what="status", value=status, wanted=wanted, how="say succeeded")
    if error_code is not None or error_message is not None:
        wanted = "failed, since there is an error"
        raise BadValue(what="status", value=status, wanted=wanted, how="say failed")
    # What is counted does not overrule what is said.
    metrics = {name: value for name, value in metrics.items() if name != RESULT_STATUS}
    partly = {RESULT_STATUS: "partial"} if status == "partial" else {}
    return Succeeded(output_data, summary, list(artifacts or ()), {**metrics, **partly})


async def _lease(
    sessions: Sessions, session_id: str, companion: Companion, task: SessionTask, lease_ms: int
) -> Received | None:
    """The task under its lease; None while it has none that can be had."""
    token = await _token(sessions, session_id, companion, task)
    taken = await _external(sessions, session_id, companion.companion_id).take(
        task.task_id,
        encode_name(task.state),
        owner=agent_of(session_id, companion.companion_id),
        ttl_ms=lease_ms,
        token=token,
    )
    if isinstance(taken, Refusal):
        # Its run is not there yet, in another pool still, or over: the tick mends each of them.
        if taken.code in _OVER or taken.code == "wrong_pool":
            await sessions.tick(session_id)
        return None
    lease, assignment = taken
    return Received(task, token, lease.ttl_ms, assignment.to_json())


async def _token(
    sessions: Sessions, session_id: str, companion: Companion, task: SessionTask
) -> str:
    """The same for the same attempt, whoever asks in the companion's name. The id of the call that
    made the session is shown to nobody, so nobody else can work it out."""
    document = await sessions.records.read(session_id, ())
    parts = (document.incarnation, companion.companion_id, companion.created_at, task.task_id)
    return payload.digest("/".join(map(str, (*parts, len(task.attempts)))))


def _external(sessions: Sessions, session_id: str, companion_id: str) -> External:
    store = sessions.store_of(inbox_of(session_id, companion_id))
    return External(store, RunCache(store))


async def _sit(sessions: Sessions, session_id: str, companion_id: str, ms: int) -> None:
    """The companion is served for ``ms`` from now, and a while longer."""
    until = await sessions.store.now_ms() + ms + SEAT_MS
    member = seat_of(session_id, companion_id)
    await claims.put(sessions.backend, keys.EXTERNAL_COMPANIONS, member, until)


def _companion(session: Session, companion_id: str) -> Companion:
    """Raises UnknownCompanion, ServedByProcess."""
    found = session.companions.get(companion_id)
    if found is None:
        raise unknown_companion(session, companion_id)
    if not found.external:
        raise ServedByProcess(companion_id=companion_id)
    return found


async def _refused(
    sessions: Sessions, session_id: str, companion_id: str, task_id: str, refusal: Refusal
) -> SessionProblem:
    if refusal.code == "finished_otherwise":
        return ReportedOtherwise(task_id=task_id)
    task = await sessions.task(session_id, task_id)
    why = f"its lease was lost ({refusal.code})"
    if not task.is_open:
        code = f", {task.error['code']}" if task.error else ""
        why = f"it is {task.status}{code}"
    elif task.companion_id not in (None, companion_id):
        why = f"{task.companion_id} has it now"
    elif refusal.code == "timed_out":
        why = "its deadline passed"
    return TaskNotYours(task_id=task_id, companion_id=companion_id, why=why)
