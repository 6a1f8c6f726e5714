"""Tasks that a person does: what is asked, and what comes of the answer.

The wait is that of an approval: a question that is decided once, while it is asked. So it outlives
workers and restarts, and an answer to an earlier try, or to a run that ended, changes nothing.
"""

from __future__ import annotations

from typing import Any

from dcf import asl
from dcf.workflow.asking import MANUAL
from dcf.workflow.task import AwaitingApproval, Succeeded, Task
from dcf.workflow.task_approval import OPERATOR, NamedApprover


def manual_outcome(
    task: Task, manual: asl.ManualTask, approver: NamedApprover
) -> AwaitingApproval | Succeeded:
    """What those who may are asked to do; when one of them has done it the result, ``{answer?, by,
    note, at}`` (ms) with what was reported."""
    decision = task.lease.decision
    if decision is not None:
        chosen = {} if decision["answer"] is None else {"answer": decision["answer"]}
        said = {"by": decision["by"], "note": decision["reason"], "at": decision["at"]}
        return Succeeded({**decision["result"], **chosen, **said})
    from dcf.tools import ApprovalRequest, call_digest

    name = task.state.name
    by = manual.by or (OPERATOR,)
    arguments: dict[str, Any] = {
        "instruction": task.state.comment,
        "by": list(by),
        "choices": list(manual.choices),
        "result": manual.result,
        "input": task.arguments,
    }
    request = ApprovalRequest(
        server_id="",
        tool_name=name,
        arguments=arguments,
        digest=call_digest("", name, arguments),
        skills=(),
        risk="low",
        reason="a person does this Task",
        approver=" or ".join(by),
        people=tuple(dict.fromkeys(one for who in by for one in approver(who).people)),
        timeout_s=task.timeout_s,
    )
    return AwaitingApproval(request, kind=MANUAL)
