"""Small workflows and a worker for them: enough of a language to drive every transition.

A flow is ``{"start": name, "states": {name: state}}``; a state has ``next`` or ends its frame, and
one of: nothing (its input passes), ``task`` (a name), ``wait`` (ms), ``callback``, ``choice`` (a
function of the input), ``fail`` (an error), ``map`` (a flow, once for each item of the input),
``parallel`` (flows). ``catch`` names the state that follows a failure; ``retry`` is how often a
failure is tried again, ``delay`` ms later; ``asks`` are calls that a task makes only once each was
approved, ``patience`` (ms) is how long it waits for that; ``assign`` are variables that its frame
has afterwards; ``tolerate`` is how many frames may fail.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

from control_plane import (
    Commit,
    Enter,
    Failure,
    Fan,
    FirstState,
    Lease,
    Limits,
    Output,
    Question,
    Store,
    Wait,
    encode_name,
    inside,
    payload,
    sibling,
    split_path,
)

Flow = dict[str, Any]
Work = Callable[[Lease], Awaitable[Any]]
RUN = "run-1"
DEFINITION = payload.Payload("{}", payload.digest("{}"), 2, blob="{}")
"""What the document of a run refers to, and ``seed`` does not store: the worker of this module is
given the flow itself."""


class TaskFailed(Exception):
    """The task failed with an error of this name."""


async def echo(lease: Lease) -> Any:
    """Work that gives back its input."""
    return lease.input


def locate(flow: Flow, path: str) -> tuple[Flow, dict[str, Any]]:
    """The flow that a path stands in, and the state there ({} for a frame ticket)."""
    state: dict[str, Any] = {}
    for step in split_path(path):
        if isinstance(step, str):
            state = flow["states"][step]
        else:
            flow = state["map"] if "map" in state else state["parallel"][step]
            state = {}
    return flow, state


def kind_of(state: dict[str, Any]) -> str:
    """The name of a state's type."""
    for kind in ("task", "wait", "callback", "choice", "fail", "map", "parallel"):
        if kind in state:
            return kind.capitalize()
    return "Pass"


def linear(*names: str, **members: Any) -> Flow:
    """Tasks one after another; ``members`` go into each."""
    states: dict[str, dict[str, Any]] = {name: {"task": name, **members} for name in names}
    for name, following in pairwise(names):
        states[name]["next"] = following
    return {"start": names[0], "states": states}


async def seed(
    store: Store,
    flow: Flow,
    value: Any = None,
    *,
    run: str = RUN,
    digest: str = "d1",
    timeout_ms: int | None = None,
    protocol: int = 1,
    deaths: int | None = None,
) -> bool:
    """Start a run of ``flow``."""
    first = flow["states"][flow["start"]]
    return await store.seed(
        run,
        digest=digest,
        meta=meta(flow, value),
        states=[(encode_name(name), kind_of(state)) for name, state in flow["states"].items()],
        start=FirstState(
            encode_name(flow["start"]),
            kind_of(first),
            payload.encode(value),
            limits_of(first),
            "callback" in first,
        ),
        timeout_ms=timeout_ms,
        protocol=protocol,
        deaths=deaths,
    )


def limits_of(state: dict[str, Any]) -> Limits:
    """The limits of time of a state."""
    return Limits(state.get("timeout_ms"), state.get("heartbeat_ms"))


def meta(flow: Flow, value: Any) -> dict[str, Any]:
    """The public part of a run's document, as a submission writes it."""
    return {
        "workflow_name": "test",
        "schema_version": "1.2.0",
        "definition": DEFINITION.digest,
        "start_at": flow["start"],
        "states": list(flow["states"]),
        "terminal_states": [name for name, s in flow["states"].items() if "next" not in s],
        "deps": {},
        "agents": {},
        "skills": {},
        "pins": {},
        "input": value,
    }


async def step(store: Store, flow: Flow, lease: Lease, work: Work = echo) -> Commit:
    """What the holder of ``lease`` commits."""
    scope, state = locate(flow, lease.path)
    if lease.kind == "frame":
        return await _open_frame(store, scope, lease)
    failure: Failure | None = None
    value = lease.input
    if lease.event in ("timeout", "heartbeat", "worker_lost"):
        failure = Failure(f"E.{lease.event}", "")
    elif lease.event == "child_failed":
        failure = Failure(lease.event_payload["error"], "")
    elif lease.event == "joined":
        results = await store.results(
            lease.workflow_id, lease.path, lease.join_n, lease.join_failed
        )
        lost = {number: failure.error for number, failure in results.failures.items()}
        value = [lost.get(number, value) for number, value in enumerate(results.values)]
    elif lease.event in ("callback", "approval"):
        value = lease.event_payload
    elif "fail" in state:
        failure = Failure(state["fail"], "")
    elif "wait" in state and lease.event is None:
        return _wait(lease, Wait("timer", delay_ms=state["wait"]))
    elif "callback" in state:
        return _wait(lease, Wait("callback"))
    elif "map" in state or "parallel" in state:
        return _fan(lease, state)
    elif lease.decision is not None and lease.decision["decision"] == "reject":
        failure = Failure("E.rejected", "")
    elif lease.event == "timer" and lease.approval is not None:
        failure = Failure("E.nobody", "")
    elif unasked := [ask for ask in state.get("asks", ()) if ask not in approved(lease)]:
        return _ask(lease, unasked[0], state.get("patience"))
    elif "task" in state:
        try:
            value = await work(lease)
        except TaskFailed as error:
            failure = Failure(str(error), "")
    return end(flow, lease, value, failure)


def end(flow: Flow, lease: Lease, value: Any, failure: Failure | None = None) -> Commit:
    """The commit that finishes a state with ``value``, or with ``failure``."""
    scope, state = locate(flow, lease.path)
    used = lease.retries.get(0, 0)
    if failure is not None and used < state.get("retry", 0):
        return Commit(
            "wait",
            {"type": "RetryScheduled", "path": lease.path},
            wait=Wait("retry", delay_ms=state.get("delay", 1000), retries={0: used + 1}),
            failure=failure,
        )
    if failure is not None and "catch" not in state:
        output = Output(False, payload.encode(None), failure=failure)
        event = {"type": "StateFailed", "path": lease.path, "error": failure.error}
        return Commit("failed", event, output=output, ends="failed", failure=failure)
    following = state.get("next") if failure is None else state["catch"]
    if failure is not None:
        value = failure.error
    elif "choice" in state:
        following = state["choice"](value)
    content = payload.encode(value)
    event = {"type": "StateDone", "path": lease.path, "visit": lease.visit}
    event |= {"output": content.digest}
    output = Output(True, content, summary=lease.path)
    if following is None:
        return Commit("done", event, output=output, ends="done")
    own = {**lease.variables, **state.get("assign", {})}
    entry = enter(scope, lease.path, following, value, own)
    return Commit("done", event, output=output, enter=entry)


def enter(
    scope: Flow, path: str, name: str, value: Any, own: dict[str, Any] | None = None
) -> Enter:
    """Entering sibling ``name`` of ``path`` with ``value``; ``own`` are its frame's variables."""
    return _entry(scope, sibling(path, name), name, value, own)


def _entry(
    scope: Flow, path: str, name: str, value: Any, own: dict[str, Any] | None = None
) -> Enter:
    state = scope["states"][name]
    return Enter(
        path,
        kind_of(state),
        payload.encode(value),
        value,
        limits_of(state),
        "callback" in state,
        payload.encode(own) if own else None,
        own or {},
    )


def approved(lease: Lease) -> list[str]:
    """What was approved in this try."""
    granted = [grant["digest"] for grant in (lease.approval or {}).get("granted", ())]
    if lease.decision is not None and lease.decision["decision"] == "approve":
        granted.append(lease.decision["digest"])
    return granted


def _ask(lease: Lease, digest: str, patience: int | None) -> Commit:
    """The wait for somebody to approve the call with this digest."""
    journal = payload.encode([{"digest": done} for done in approved(lease)])
    grants = [{"digest": done, "by": "ada", "reason": "", "at": 0} for done in approved(lease)]
    request = {
        "server_id": "bank",
        "tool_name": "pay",
        "arguments": {"amount": 1},
        "digest": digest,
        "skills": ["skill.pay@1.0.0"],
        "risk": "high",
        "reason": "high risk",
        "approver": "operator",
        "people": ["ada"],
        "timeout_s": None,
        "chain": [],
    }
    record = {
        "kind": "tool",
        "request": request,
        "asked": [],
        "granted": grants,
        "journal": json.loads(journal.stored),
    }
    return Commit(
        "wait",
        {"type": "ApprovalRequested", "path": lease.path, "digest": digest},
        wait=Wait("approval", delay_ms=patience),
        question=Question(record, (journal,)),
    )


def _wait(lease: Lease, wait: Wait) -> Commit:
    return Commit("wait", {"type": "WaitStarted", "path": lease.path}, wait=wait)


def _fan(lease: Lease, state: dict[str, Any]) -> Commit:
    n = len(lease.input) if "map" in state else len(state["parallel"])
    record = payload.encode(lease.input)
    fan = Fan(n, state.get("window", 256), record, fail_limit=state.get("tolerate", 0))
    return Commit("wait", {"type": "FannedOut", "path": lease.path, "n": n}, fan=fan)


async def _open_frame(store: Store, scope: Flow, lease: Lease) -> Commit:
    parent, _, number = lease.path.rpartition("[")
    document = (await store.states(lease.workflow_id, [parent]))[parent]
    shared = await store.value(lease.workflow_id, document.fan)
    value = shared[int(number[:-1])] if document.type == "Map" else shared
    first = scope["start"]
    return Commit(
        "open",
        {"type": "FrameOpened", "path": lease.path},
        enter=_entry(scope, inside(lease.path, first), first, value),
    )
