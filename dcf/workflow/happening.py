"""What happened to a state that is leased again: the control plane's event as one of ASL."""

from __future__ import annotations

from control_plane import Lease, Store
from dcf import asl

WORKER_LOST = ("DCF.WorkerLost", "four workers in a row died or vanished with this state")
_ERRORS = {
    "timeout": ("States.Timeout", "the task did not finish within its TimeoutSeconds"),
    "heartbeat": ("States.HeartbeatTimeout", "the task did not report within its HeartbeatSeconds"),
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
        return asl.Joined(await store.results(lease.workflow_id, lease.path, lease.join_n))
    if lease.event == "child_failed":
        failure = lease.event_payload or {}
        return asl.ChildFailed(failure.get("error", ""), failure.get("cause", ""))
    if lease.event in _ERRORS:
        error, cause = _ERRORS[lease.event]
        if isinstance(state, asl.TaskState):
            return asl.TaskFailed(error, cause)
        if isinstance(state, (asl.MapState, asl.ParallelState)):
            return asl.ChildFailed(error, cause)
        return asl.Failure(error, cause)
    answer = lease.event_payload or {}
    if "error" in answer:
        return asl.TaskFailed(answer["error"], answer.get("cause", ""))
    return asl.TaskSucceeded(answer.get("result"))
