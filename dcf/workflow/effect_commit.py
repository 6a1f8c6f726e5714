"""What ``asl.step`` wants, as the commit that the control plane takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from control_plane import (
    JSON,
    BadDocument,
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
from dcf import asl
from dcf.workflow.identity import FAN_RUN, is_distributed
from dcf.workflow.limits import state_limits
from dcf.workflow.run import Run
from dcf.workflow.task import AwaitingApproval, Outcome, Succeeded

# Frames in flight at once, whatever MaxConcurrency allows: each is a document and a hint.
MAX_WINDOW = 256
_NOTHING = payload.encode(None)


@dataclass(frozen=True, slots=True)
class Step:
    """A step that was taken: under which lease, what the state saw, what came of its work.

    ``outcome`` is that of the work, if there was any, ``metrics`` what the state has cost so far,
    ``trouble`` what it was told had failed: going on means that it was caught.
    """

    run: Run
    lease: Lease
    visit: asl.Visit
    outcome: Outcome | None = None
    metrics: dict[str, Any] | None = None
    trouble: Failure | None = None


def commit_of(step: Step, effect: asl.Effect) -> Commit:
    """The commit of ``effect``. Raises BadDocument for values that cannot be stored."""
    lease, outcome, metrics, trouble = step.lease, step.outcome, step.metrics, step.trouble
    event = _event(lease)
    if isinstance(effect, asl.Transition):
        content = payload.encode(effect.output)
        entry = _enter_sibling(step, effect, content)
        event |= {"type": "StateDone", "output": content.digest, "next": entry.path}
        if effect.assign and entry.variables is not None:
            event |= {"assigned": sorted(effect.assign), "variables": entry.variables.digest}
        if trouble is not None:
            event["caught"] = trouble.error
        return Commit(
            "done",
            event,
            output=_output(content, outcome, trouble),
            enter=entry,
            failure=trouble,
            metrics=metrics,
        )
    if isinstance(effect, asl.Finish):
        content = payload.encode(effect.output)
        event |= {"type": "StateDone", "output": content.digest}
        output = _output(content, outcome, None)
        return Commit("done", event, output=output, ends="done", metrics=metrics)
    if isinstance(effect, asl.Failure):
        return failed_state(lease, effect, outcome, metrics)
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
        return _fan_out(step, effect, event)
    if isinstance(effect, asl.RunTask) and effect.waits_for_token:
        event |= {"type": "WaitStarted", "wait": "callback"}
        return Commit("wait", event, wait=Wait("callback"), metrics=metrics)
    raise TypeError(f"nothing can be committed of {effect}")


def failed_state(
    lease: Lease,
    effect: asl.Failure,
    outcome: Outcome | None = None,
    metrics: dict[str, Any] | None = None,
) -> Commit:
    """The end of a state that failed, and of its frame or run."""
    failure = Failure(effect.error, effect.cause)
    event = _event(lease) | {"type": "StateFailed", "error": effect.error}
    output = Output(False, _NOTHING, failure=failure, metrics=_spent(outcome))
    return Commit("failed", event, output=output, ends="failed", failure=failure, metrics=metrics)


def _event(lease: Lease) -> dict[str, Any]:
    """What every event of a step says. A state taken in place has no LeaseAcquired: only here does
    the history say who did it."""
    return {"path": lease.path, "visit": lease.visit, "try": lease.try_, "owner": lease.owner}


def _fan_out(step: Step, effect: asl.FanOut, event: dict[str, Any]) -> Commit:
    shared: dict[str, JSON]
    shared = {"input": effect.input} if effect.items is None else {"items": effect.items}
    if effect.keyed:
        shared["keyed"] = True
    if is_distributed(step.run.machine.locate(list(split_path(step.lease.path)))):
        shared[FAN_RUN] = step.visit.identity
    if step.visit.variables:
        shared["variables"] = dict(step.visit.variables)
    event |= {"type": "FannedOut", "n": effect.count}
    if effect.fail_limit:
        event["fail_limit"] = effect.fail_limit
    window = min(effect.max_concurrency or MAX_WINDOW, MAX_WINDOW)
    fan = Fan(effect.count, window, payload.encode(shared), effect.fail_limit)
    return Commit("wait", event, fan=fan)


def _enter_sibling(step: Step, effect: asl.Transition, content: Payload) -> Enter:
    lease, visit = step.lease, step.visit
    target = sibling(lease.path, effect.next)
    state = step.run.machine.locate([*split_path(lease.path)[:-1], effect.next])
    own, visible, stored = lease.variables, visit.variables, lease.stored_variables
    if effect.assign:
        own, visible, stored = {**own, **effect.assign}, {**visible, **effect.assign}, None
    # Its time limits may ask for anything but when it is entered, which only the server knows.
    seen = {**visit.context, "State": {"Name": state.name, "RetryCount": 0}}
    following = asl.Visit(effect.output, seen, visible)
    return enter(target, state, content, following, own, stored)


def enter(
    path: str,
    state: asl.State,
    content: Payload,
    visit: asl.Visit,
    own: dict[str, JSON],
    stored: Payload | None = None,
) -> Enter:
    """Entering ``state`` at ``path``: ``visit`` is what it will see, its input encoded as
    ``content``; ``own`` are the variables of its frame, ``stored`` where they are encoded already.
    """
    return Enter(
        path,
        state.type,
        content,
        visit.input,
        state_limits(state, visit),
        takes_callback(state),
        stored or (payload.encode(own) if own else None),
        own,
    )


def error_name(error: BadDocument) -> str:
    """The error of a state whose result cannot be stored."""
    return str(asl.refused(error).error)


def takes_callback(state: asl.State) -> bool:
    """Whether somebody outside may answer ``state``."""
    return isinstance(state, asl.TaskState) and state.waits_for_token


def _output(content: Payload, outcome: Outcome | None, trouble: Failure | None) -> Output:
    if isinstance(outcome, Succeeded):
        return Output(True, content, outcome.summary, outcome.artifacts, _spent(outcome))
    summary = f"caught {trouble}" if trouble is not None else None
    return Output(True, content, summary, metrics=_spent(outcome))


def _spent(outcome: Outcome | None) -> dict[str, Any]:
    """What an output says of the work: what it used, and how its model was chosen."""
    if outcome is None or isinstance(outcome, AwaitingApproval):
        return {}
    return {**outcome.metrics, "amsp": outcome.amsp} if outcome.amsp else outcome.metrics
