"""What happened to a state that is leased again: the control plane's event as one of ASL."""

from __future__ import annotations

from control_plane import Lease, Store
from dcf import asl

WORKER_LOST = ("DCF.WorkerLost", "four workers in a row died or vanished with this state")
# As on AWS, a limit that has passed has no cause beyond its name.
TIMED_OUT = ("States.Timeout", None)
HEARTBEAT_MISSED = ("States.HeartbeatTimeout", None)
_ERRORS: dict[str, tuple[str, str | None]] = {
    "timeout": TIMED_OUT,
    "heartbeat": HEARTBEAT_MISSED,
    "worker_lost": WORKER_LOST,
}


async def happened(store: Store, lease: Lease, state: asl.State) -> asl.Event | asl.Failure:
    """The event in the slot of ``lease``, read as ``state`` can take it.

    A state that nothing but time can happen to (Pass, Choice, …) fails when its workers die one
    after another: that is the Failure.
    """
    if lease.event is None:
        return asl.Entered()
    if lease.event == "timer":
        return asl.TimerFired()
    if lease.event == "joined":
        return await _joined(store, lease, state)
    if lease.event == "child_failed":
        failure = lease.event_payload or {}
        return asl.ChildFailed(failure.get("error"), failure.get("cause"))
    if lease.event in _ERRORS:
        error, cause = _ERRORS[lease.event]
        if isinstance(state, asl.TaskState):
            return asl.TaskFailed(error, cause)
        if isinstance(state, (asl.MapState, asl.ParallelState)):
            return asl.ChildFailed(error, cause)
        return asl.Failure(error, cause)
    answer = lease.event_payload or {}
    if "error" in answer:
        return asl.TaskFailed(answer["error"], answer.get("cause"))
    return asl.TaskSucceeded(answer.get("result"))


async def _joined(store: Store, lease: Lease, state: asl.State) -> asl.Joined:
    found = await store.results(lease.workflow_id, lease.path, lease.join_n, lease.join_failed)
    failures = {
        number: (failure.error, failure.cause) for number, failure in found.failures.items()
    }
    items = None
    if isinstance(state, asl.MapState) and state.writer is not None:
        items = (await store.value(lease.workflow_id, lease.fan)).get("items")
    return asl.Joined(found.values, failures, items)
