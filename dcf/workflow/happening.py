"""What happened to a state that is leased again: the control plane's event as one of ASL."""

from __future__ import annotations

from control_plane import JSON, Lease, Store, UnknownState
from dcf import asl
from dcf.workflow.asking import rejection

WORKER_LOST = (
    "DCF.WorkerLost",
    "as many worker processes as its limit allows died or vanished with this state",
)
# As on AWS, a limit that has passed has no cause beyond its name.
TIMED_OUT = ("States.Timeout", None)
HEARTBEAT_MISSED = ("States.HeartbeatTimeout", None)
_TICKETS_A_READ = 500
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
    if rejected := rejection(lease, state):
        return rejected
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
            # No child failed: what the Map tolerates of its children is another matter.
            return asl.ResultRefused(error, cause)
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
    inputs = None
    if isinstance(state, asl.MapState) and (state.writer is not None or failures):
        inputs = await _inputs(store, lease, state)
    return asl.Joined(found.values, failures, inputs)


async def _inputs(store: Store, lease: Lease, state: asl.MapState) -> list[JSON]:
    """What each iteration started with, as its ticket keeps it: ItemSelector may make something
    else of the same item the next time. The item of one that could not start."""
    inputs = list((await store.value(lease.workflow_id, lease.fan)).get("items") or ())
    if not state.is_distributed:
        return inputs
    for start in range(0, len(inputs), _TICKETS_A_READ):
        numbers = range(start, min(start + _TICKETS_A_READ, len(inputs)))
        paths = {number: f"{lease.path}[{number}]" for number in numbers}
        tickets = await store.states(lease.workflow_id, list(paths.values()))
        for number, path in paths.items():
            if path not in tickets:  # the run was removed, or forgotten
                raise UnknownState(workflow_id=lease.workflow_id, path=path)
            stored = tickets[path].raw.get("effective_input")
            if stored is not None or tickets[path].status == "done":
                inputs[number] = await store.value(lease.workflow_id, stored)
    return inputs
