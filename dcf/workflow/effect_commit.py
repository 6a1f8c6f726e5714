"""What ``asl.step`` wants, as the commit that the control plane takes."""

from __future__ import annotations

from typing import Any

from control_plane import (
    Commit,
    Enter,
    Failure,
    Fan,
    Lease,
    Output,
    Payload,
    Wait,
    payload,
    sibling,
    split_path,
)
from control_plane.payload import JSON
from dcf import asl
from dcf.workflow.limits import state_limits
from dcf.workflow.run import Run
from dcf.workflow.task import Outcome, Succeeded

# Frames in flight at once, whatever MaxConcurrency allows: each is a document and a hint.
MAX_WINDOW = 256
_NOTHING = payload.encode(None)


def commit_of(
    run: Run,
    lease: Lease,
    effect: asl.Effect,
    outcome: Outcome | None,
    metrics: dict[str, Any] | None,
    trouble: Failure | None = None,
) -> Commit:
    """The commit of ``effect``.

    ``outcome`` is that of the work, if there was any, ``metrics`` what the state has cost so far,
    ``trouble`` what it was told had failed: going on means that it was caught. Raises BadDocument
    for values that cannot be stored.
    """
    event: dict[str, Any] = {"path": lease.path, "visit": lease.visit, "try": lease.try_}
    # A state taken in place has no LeaseAcquired: only here does the history say who did it.
    event["owner"] = lease.owner
    if isinstance(effect, asl.Transition):
        content = payload.encode(effect.output)
        target = sibling(lease.path, effect.next)
        state = run.machine.locate([*split_path(lease.path)[:-1], effect.next])
        event |= {"type": "StateDone", "output": content.digest, "next": target}
        if trouble is not None:
            event["caught"] = trouble.error
        return Commit(
            "done",
            event,
            output=_output(content, outcome, trouble),
            enter=enter(target, state, content, effect.output),
            failure=trouble,
            metrics=metrics,
        )
    if isinstance(effect, asl.Finish):
        content = payload.encode(effect.output)
        event |= {"type": "StateDone", "output": content.digest}
        output = _output(content, outcome, None)
        return Commit("done", event, output=output, ends="done", metrics=metrics)
    if isinstance(effect, asl.Failure):
        failure = Failure(effect.error, effect.cause)
        event |= {"type": "StateFailed", "error": effect.error}
        spent = dict(outcome.metrics) if outcome is not None else {}
        output = Output(False, _NOTHING, failure=failure, metrics=spent)
        return Commit(
            "failed", event, output=output, ends="failed", failure=failure, metrics=metrics
        )
    if isinstance(effect, asl.RetryAfter):
        retries = {**lease.retries, effect.retrier: lease.retries.get(effect.retrier, 0) + 1}
        event |= {"type": "RetryScheduled", "error": effect.error, "seconds": effect.seconds}
        return Commit(
            "wait",
            event,
            wait=Wait("retry", delay_ms=round(effect.seconds * 1000), retries=retries),
            failure=Failure(effect.error, effect.cause),
            metrics=metrics,
        )
    if isinstance(effect, asl.WaitFor):
        event |= {"type": "WaitStarted", "seconds": effect.seconds}
        return Commit("wait", event, wait=Wait("timer", delay_ms=round(effect.seconds * 1000)))
    if isinstance(effect, asl.WaitUntil):
        event |= {"type": "WaitStarted", "until": effect.at}
        return Commit("wait", event, wait=Wait("timer", until_ms=round(effect.at * 1000)))
    if isinstance(effect, asl.FanOut):
        shared = {"input": effect.input} if effect.items is None else {"items": effect.items}
        event |= {"type": "FannedOut", "n": effect.count}
        window = min(effect.max_concurrency or MAX_WINDOW, MAX_WINDOW)
        return Commit("wait", event, fan=Fan(effect.count, window, payload.encode(shared)))
    raise TypeError(f"a task asked for a task again: {effect}")


def enter(path: str, state: asl.State, content: Payload, value: JSON) -> Enter:
    """Entering ``state`` at ``path`` with ``value``, encoded as ``content``."""
    timeout_ms, heartbeat_ms = state_limits(state)
    return Enter(path, state.type, content, value, timeout_ms, heartbeat_ms)


def _output(content: Payload, outcome: Outcome | None, trouble: Failure | None) -> Output:
    if isinstance(outcome, Succeeded):
        return Output(True, content, outcome.summary, outcome.artifacts, outcome.metrics)
    summary = f"caught {trouble.error}: {trouble.cause}" if trouble is not None else None
    return Output(True, content, summary, metrics=outcome.metrics if outcome is not None else {})
