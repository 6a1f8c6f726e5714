"""Tasks that wait for somebody before any work: ``AgentBinding.approval``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dcf.workflow.asking import standing_grants
from dcf.workflow.task import AwaitingApproval, Task

if TYPE_CHECKING:
    from dcf.tools import Approver

NamedApprover = Callable[[str], "Approver"]
"""The approver of this name: one of the policy, or the person who is called so."""

OPERATOR = "operator"


def named_approver(name: str) -> Approver:
    """The person ``name``, who has a day to answer."""
    from dcf.tools import Approver

    return Approver(name, (name,))


def unapproved(task: Task, approver: NamedApprover) -> AwaitingApproval | None:
    """The question whether the work of ``task`` may begin, with its input; None where nobody wants
    to be asked, or it was approved in this try."""
    binding = task.state.binding or {}
    wanted = binding.get("approval") or {}
    if not wanted.get("required"):
        return None
    from dcf.tools import ApprovalRequest, call_digest

    name, arguments = task.state.name, {"input": task.arguments}
    digest = call_digest("", name, arguments)
    granted = standing_grants(task.lease)
    if any(grant["digest"] == digest for grant in granted):
        return None
    first, *chain = [approver(who) for who in wanted.get("approvers") or (OPERATOR,)]
    request = ApprovalRequest(
        server_id="",
        tool_name=name,
        arguments=arguments,
        digest=digest,
        skills=tuple(binding.get("skills", ())),
        risk="high",
        reason="the workflow asks for approval before this Task",
        approver=first.name,
        people=first.people,
        timeout_s=first.timeout_s,
        chain=tuple(chain),
    )
    return AwaitingApproval(request, kind="task", granted=granted)
