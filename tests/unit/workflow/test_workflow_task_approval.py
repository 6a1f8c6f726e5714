"""Who is asked before a Task begins, and for how long."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from dcf import asl
from dcf.tools import Approver
from dcf.workflow.asking import rejection
from dcf.workflow.task import AwaitingApproval, Succeeded, Task
from dcf.workflow.task_approval import approved, named_approver, unapproved


def asked(**approval: Any) -> AwaitingApproval:
    """The question of a Task with this ``approval`` that nobody has answered."""
    state = SimpleNamespace(name="Pay", binding={"approval": {"required": True, **approval}})
    lease = SimpleNamespace(approval=None, decision=None)
    task = cast(Task, SimpleNamespace(state=state, lease=lease, arguments={"n": 1}))
    found = unapproved(task, named_approver)
    assert found is not None
    return found


def test_one_after_another_each_for_a_day() -> None:
    request = asked(approvers=["ana", "bo"]).request

    assert (request.approver, request.people, request.timeout_s) == ("ana", ("ana",), 86_400.0)
    assert request.chain == (Approver("bo", ("bo",)),)


def test_any_of_them_at_once() -> None:
    request = asked(approvers=["ana", "bo"], any_of=True, timeout_s=60).request

    assert (request.approver, request.people) == ("ana or bo", ("ana", "bo"))
    assert (request.timeout_s, request.chain) == (60.0, ())


def test_a_time_of_its_own_for_each() -> None:
    request = asked(approvers=["ana", "bo"], timeout_s=5).request

    assert request.timeout_s == 5.0
    assert [one.timeout_s for one in request.chain] == [5.0]


def test_without_names_the_operator() -> None:
    assert asked(timeout_s=5).request.people == ("operator",)


def leased(event: str | None, decision: str | None) -> Any:
    """A lease of a Task whose question was decided, or whose time has passed."""
    record = {"kind": "task", "request": {"approver": "ana", "skills": []}, "asked": []}
    said = {"digest": "d", "by": "ana", "reason": "fine", "at": 5, "ask": 1, "decision": decision}
    return SimpleNamespace(
        event=event,
        approval={**record, "granted": []},
        decision=said if decision else None,
    )


def approving(**approval: Any) -> Any:
    binding = {"approval": {"required": True, **approval}}
    return read_machine({"Type": "Task", "AgentBinding": binding, "End": True})


def read_machine(state: dict[str, Any]) -> Any:
    return asl.parse({"StartAt": "S", "States": {"S": state}}).states["S"]


def test_nothing_is_left_to_do_after_an_approval_that_is_only_that() -> None:
    task = cast(Task, SimpleNamespace(state=approving(only=True), lease=leased(None, "approve")))

    assert approved(task) == Succeeded({"by": "ana", "reason": "fine", "at": 5})


def test_the_work_of_another_begins() -> None:
    task = cast(Task, SimpleNamespace(state=approving(), lease=leased(None, "approve")))

    assert approved(task) is None


@pytest.mark.parametrize(
    ("only", "event", "decision", "error"),
    [
        (True, None, "reject", "DCF.ApprovalRejected"),
        (True, "timer", None, "States.Timeout"),
        (False, None, "reject", "DCF.ApprovalRejected"),
        (False, "timer", None, "DCF.ApprovalRejected"),
    ],
)
def test_silence_is_a_limit_that_passed_only_without_work(
    only: bool, event: str | None, decision: str | None, error: str
) -> None:
    found = rejection(leased(event, decision), approving(only=only))

    assert found is not None
    assert found.error == error
