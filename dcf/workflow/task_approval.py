"""Tasks that wait for somebody before any work: ``AgentBinding.approval``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dcf.workflow.asking import is_only_asked, standing_grants
from dcf.workflow.task import AwaitingApproval, Succeeded, Task

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
    first, *chain = _asked(
        [approver(who) for who in wanted.get("approvers") or (OPERATOR,)], wanted
    )
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


def approved(task: Task) -> Succeeded | None:
    """The outcome of an approved Task that is nothing but the approval, which nobody has to work
    on: ``{by, reason, at}`` (ms). None for others."""
    if not is_only_asked(task.state):
        return None
    last = standing_grants(task.lease)[-1]
    return Succeeded({name: last[name] for name in ("by", "reason", "at")})


def _asked(approvers: list[Approver], wanted: Mapping[str, Any]) -> list[Approver]:
    """Who is asked, one after another: with ``any_of`` all at once, each for ``timeout_s``."""
    from dcf.tools import Approver

    times = [one.timeout_s for one in approvers]
    if wanted.get("any_of") and len(approvers) > 1:
        people = dict.fromkeys(person for one in approvers for person in one.people)
        longest = None if None in times else max(time for time in times if time is not None)
        name = " or ".join(one.name for one in approvers)
        approvers = [Approver(name, tuple(people), longest)]
    if "timeout_s" in wanted:
        return [Approver(one.name, one.people, float(wanted["timeout_s"])) for one in approvers]
    return approvers
