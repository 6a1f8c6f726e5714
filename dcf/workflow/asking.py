"""The wait for an approval: what is committed when work stops for a person, or nobody answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from control_plane import JSON, Commit, Lease, Question, Wait, payload
from dcf import asl
from dcf.workflow.task import AwaitingApproval

if TYPE_CHECKING:
    from dcf.tools import ApprovalRequest

REJECTED = "DCF.ApprovalRejected"
"""The error of a Task whose call, or whose beginning, was not approved."""
TIMED_OUT = "States.Timeout"
MANUAL: Final = "manual"
"""The kind of the question of a Task that a person does."""
DONE, FAILED = "done", "failed"
"""What that person says of it."""


def approval_wait(lease: Lease, waiting: AwaitingApproval) -> Commit:
    """The commit with which ``lease`` ends and the state waits for a decision. The try stays the
    same, so that its calls keep their numbers and keys. Raises BadDocument for a journal that
    cannot be stored."""
    request = waiting.request
    type_ = "ManualTaskRequested" if waiting.kind == MANUAL else "ApprovalRequested"
    event = {
        **_event(lease, type_, request),
        "kind": waiting.kind,
        "risk": request.risk,
        "reason": request.reason,
        "skills": list(request.skills),
        "calls_made": len(waiting.journal),
    }
    arguments = payload.encode(request.arguments)
    journal = payload.encode(waiting.journal)
    record = {
        "kind": waiting.kind,
        "request": {**request.to_document(), "arguments": json.loads(arguments.stored)},
        "asked": [],
        "granted": [*waiting.granted],
        "journal": json.loads(journal.stored),
    }
    return _wait(event, request, Question(record, (arguments, journal)), waiting.metrics)


def escalation(lease: Lease) -> Commit | None:
    """What is committed when the time of who was asked has passed: the next of the chain is asked,
    with the same journal. None when nobody is left: then it is rejected."""
    record = lease.approval
    if record is None or lease.event != "timer":
        return None
    from dcf.tools import ApprovalRequest

    request = ApprovalRequest.from_document(record["request"])
    following = request.escalated()
    if following is None:
        return None
    until = _end(lease, request)
    asked = [*record["asked"], {"approver": request.approver, "at": lease.asked_at, "until": until}]
    event = {**_event(lease, "ApprovalEscalated", following), "from": request.approver}
    # Arguments and journal are referred to as they are stored.
    kept = {**record, "request": following.to_document(), "asked": asked}
    return _wait(event, following, Question(kept), {})


def rejection(lease: Lease, state: asl.State) -> asl.TaskFailed | None:
    """The failure of a ``state`` that was not approved, or that its person could not do; None while
    that is open, and where all is well.
    Silence is a rejection, and a passed limit where the state is nothing but an approval."""
    record = lease.approval
    if record is None:
        return None
    if record["kind"] == MANUAL:
        return _undone(lease, record)
    if lease.event == "timer":
        names = [entry["approver"] for entry in record["asked"]]
        names.append(record["request"]["approver"])
        error = TIMED_OUT if is_only_asked(state) else REJECTED
        return asl.TaskFailed(error, f"{_what(record)}: nobody answered in time ({_list(names)})")
    decision = lease.decision if lease.event is None else None
    if decision is None or decision["decision"] == "approve":
        return None
    told = f": {decision['reason']}" if decision.get("reason") else ""
    return asl.TaskFailed(REJECTED, f"{_what(record)}: rejected by {decision['by']}{told}")


def _undone(lease: Lease, record: dict[str, Any]) -> asl.TaskFailed | None:
    """The failure of a manual task with this ``record``, that could not be done or was not done in
    time; None for one that is open, or done."""
    if lease.event == "timer":
        who = record["request"]["approver"]
        return asl.TaskFailed(TIMED_OUT, f"nobody did it in time (asked: {who})")
    decision = lease.decision if lease.event is None else None
    if decision is None or decision["decision"] != FAILED:
        return None
    return asl.TaskFailed(asl.MANUAL_TASK_FAILED, f"{decision['by']}: {decision['reason']}")


def is_only_asked(state: asl.State) -> bool:
    """Whether ``state`` is an approval that no work follows: ``AgentBinding.approval.only``."""
    binding = state.binding if isinstance(state, asl.TaskState) else None
    wanted = (binding or {}).get("approval") or {}
    return bool(wanted.get("required") and wanted.get("only"))


def standing_grants(lease: Lease) -> list[dict[str, JSON]]:
    """The approvals of this try, ``[{digest, skills, ask, by, reason, at}]``: those that came
    before and were not used for a call that was answered, and the last decision. Each is for one
    call; ``ask`` is the number of the question, under which the use of it is kept."""
    if lease.approval is None:
        return []
    granted = list(lease.approval["granted"])
    decision = lease.decision
    if decision is not None and decision["decision"] == "approve":
        given = {name: decision[name] for name in ("digest", "by", "reason", "at", "ask")}
        granted.append({**given, "skills": lease.approval["request"]["skills"]})
    return granted


def _wait(
    event: dict[str, Any], request: ApprovalRequest, question: Question, metrics: dict[str, Any]
) -> Commit:
    delay_ms = None if request.timeout_s is None else round(request.timeout_s * 1000)
    wait = Wait("approval", delay_ms=delay_ms)
    return Commit("wait", event, wait=wait, question=question, metrics=metrics or None)


def _event(lease: Lease, kind: str, request: ApprovalRequest) -> dict[str, Any]:
    return {
        "type": kind,
        "path": lease.path,
        "visit": lease.visit,
        "try": lease.try_,
        "owner": lease.owner,
        "tool": _tool(request.server_id, request.tool_name),
        "digest": request.digest,
        "approver": request.approver,
        "people": list(request.people),
        "chain": [approver.name for approver in request.chain],
        "timeout_s": request.timeout_s,
    }


def _end(lease: Lease, request: ApprovalRequest) -> int | None:
    if lease.asked_at is None or request.timeout_s is None:
        return None
    return lease.asked_at + round(request.timeout_s * 1000)


def _what(record: dict[str, Any]) -> str:
    if record["kind"] == "task":
        return "the Task"
    request = record["request"]
    return _tool(request["server_id"], request["tool_name"])


def _tool(server_id: str, tool_name: str) -> str:
    """``server:tool``; of a Task as a whole its name alone."""
    return f"{server_id}:{tool_name}" if server_id else tool_name


def _list(names: Sequence[str]) -> str:
    return "asked: " + ", then ".join(names)
