"""What waits for a person: calls of high risk, Tasks that ask before they begin, manual tasks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from dcf.agents.loading import decide_agent_approval, pending_agent_approvals
from dcf.mcp.approval_token import check_approval_token
from dcf.mcp.arguments import Alias
from dcf.mcp.envelope import Envelope, Refused
from dcf.mcp.help import Obvious
from dcf.mcp.kinds import RunId, StatePath
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.workflow import (
    ManualAnswer,
    answer_task,
    find_task,
    pending_approvals,
    waiting_tasks,
)
from dcf.workflow import decide_approval as decide_in_run

RunOf = Annotated[RunId | None, Obvious("Of this run.")]
AgentOf = Annotated[str | None, "Of this agent outside runs."]


class Approvals(Envelope, total=False):
    """What waits for a decision."""

    approvals: Annotated[
        list[dict[str, Any]],
        Field(
            description="{workflow_id, state, question | agent_id, id; digest, server_id,"
            " tool_name, arguments, risk, reason, untrusted, approver, people…}, runs first,"
            " oldest first; then tasks: {workflow_id, state, question, kind: manual, digest,"
            " instruction, input, choices, result (its schema), people…}."
        ),
    ]
    count: Annotated[int, Field(description="How many.")]


class Decided(Envelope, total=False):
    """What was decided."""

    decision: Annotated[str, Field(description="approve, reject, done or failed.")]
    approval: Annotated[dict[str, Any], Field(description="What it was about.")]


@tool("planner", "conductor")
async def list_approvals(
    platform: Platform, workflow_id: RunOf = None, agent_id: AgentOf = None
) -> Approvals:
    """List what waits for a person: approvals, and tasks of kind manual."""
    found: list[dict[str, Any]] = []
    if agent_id is None:
        pending = await pending_approvals(platform.store, workflow_id)
        found += [_shown(one.to_json()) for one in pending]
    if workflow_id is None:
        calls = await pending_agent_approvals(platform.agents, agent_id)
        found += [one.to_json() for one in calls]
    if agent_id is None:
        tasks = await waiting_tasks(platform.store, workflow_id)
        found += [_shown(one.to_json()) for one in tasks]
    return {"approvals": found, "count": len(found)}


@tool(strict=True)
async def decide_approval(
    platform: Platform,
    decision: Annotated[
        Literal["approve", "reject", "done", "failed"],
        Obvious("What is decided; of a manual task whether it was done."),
    ],
    by: Annotated[str, "Who decides: one of the people asked."],
    digest: Annotated[str, "As list_approvals showed it."],
    workflow_id: RunOf = None,
    state: Annotated[
        StatePath | None, Obvious("State, as list_approvals showed it."), Alias("path")
    ] = None,
    agent_id: AgentOf = None,
    approval_id: Annotated[str | None, Obvious("Approval of the agent.")] = None,
    question: Annotated[
        str | None, Obvious("Question of the run, as list_approvals showed it.")
    ] = None,
    reason: Annotated[str, Obvious("Why; of a task that is done, a note.")] = "",
    choice: Annotated[str | None, Obvious("Of a task that has choices.")] = None,
    result_json: Annotated[
        dict[str, Any] | None, Obvious("What is reported of a task, as its schema says.")
    ] = None,
    approval_token: Annotated[str | None, Obvious("Secret of those who approve.")] = None,
) -> Decided:
    """Approve or reject one waiting call, or say how a manual task went. For people, not for the
    agent that asks."""
    check_approval_token(platform, approval_token, "dcf approve")
    if (workflow_id is None) == (agent_id is None):
        raise Refused("bad_arguments", "name either workflow_id or agent_id")
    if not by.strip():
        raise Refused("bad_arguments", "by: a decision has a name")
    if agent_id is not None and approval_id is None:
        raise Refused("bad_arguments", "approval_id: name the approval of the agent, its id")
    if workflow_id is not None and None in (state, question):
        lacking = "state and question: both name what the run asks, as list_approvals shows it"
        raise Refused("bad_arguments", lacking)
    if decision == "done" or decision == "failed":
        if workflow_id is None:
            raise Refused("bad_arguments", "a manual task is one of a run: name workflow_id")
        said = ManualAnswer(decision, by, choice, result_json, reason, via="mcp")
        return await _answer(platform, workflow_id, str(state), said, digest, question)
    if choice is not None or result_json is not None:
        message = "choice and result_json are for a manual task that is done or failed"
        raise Refused("bad_arguments", message)
    asked: dict[str, Any]
    if workflow_id is not None:
        store = await platform.store_for(workflow_id)
        done = await decide_in_run(
            store,
            workflow_id,
            state,
            decision=decision,
            by=by,
            reason=reason,
            via="mcp",
            digest=digest,
            question=question,
        )
        asked = _shown(done.to_json())
    else:
        call = await decide_agent_approval(
            platform.agents,
            str(agent_id),
            approval_id,
            decision=decision,
            by=by,
            reason=reason,
            via="mcp",
            digest=digest,
        )
        asked = call.to_json()
    status = "approved" if decision == "approve" else "rejected"
    return {"status": status, "decision": decision, "approval": asked}


async def _answer(
    platform: Platform,
    workflow_id: str,
    state: str,
    said: ManualAnswer,
    digest: str,
    question: str | None,
) -> Decided:
    store = await platform.store_for(workflow_id)
    waiting = await find_task(store, workflow_id, state)
    await answer_task(store, waiting, said, digest=digest, question=question)
    shown = _shown(waiting.to_json())
    return {"status": said.decision, "decision": said.decision, "approval": shown}


FAMILY = (list_approvals, decide_approval)


def _shown(question: dict[str, Any]) -> dict[str, Any]:
    """A question of a run; its state under the name that parameters have."""
    return {"state" if name == "path" else name: part for name, part in question.items()}
