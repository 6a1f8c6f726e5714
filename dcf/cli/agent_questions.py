"""Calls of agents outside runs that wait for a person, in words."""

from __future__ import annotations

import json
import shlex

from control_plane import AgentStore
from dcf.agents.loading import (
    AgentApproval,
    ApprovalSettled,
    NoApprovalPending,
    SeveralPending,
    pending_agent_approvals,
)
from dcf.cli.board_table import seconds_text

_LONGEST_CALL = 200


async def find_agent_approval(
    agents: AgentStore, agent_id: str, approval_id: str | None
) -> AgentApproval:
    """The call of this id, or the only one that waits. Raises UnknownAgent, NoApprovalPending,
    SeveralPending, ApprovalSettled."""
    waiting = await pending_agent_approvals(agents, agent_id)
    here = [one for one in waiting if approval_id in (None, one.id)]
    if not here:
        if approval_id is not None:
            raise ApprovalSettled(f"{approval_id} was decided on before, or its time is over")
        raise NoApprovalPending(f"no call of {agent_id} waits for a decision")
    if len(here) > 1:
        raise SeveralPending(agent_id, [one.id for one in here])
    return here[0]


def agent_description(asked: AgentApproval) -> list[str]:
    """The whole call, for whoever decides."""
    request = asked.request
    arguments = json.dumps(request.arguments, ensure_ascii=False, indent=2, sort_keys=True)
    return [
        f"agent {asked.agent_id} ({asked.agent_name}) asks for"
        f" {request.server_id}:{request.tool_name}",
        *(f"  {line}" for line in arguments.splitlines()),
        f"  risk {request.risk}: {request.reason}",
        f"  asked: {request.approver} ({', '.join(request.people)}); digest {request.digest}",
    ]


def agent_lines(asked: AgentApproval, now: int) -> list[str]:
    """The call in short, who is asked since when, and the command that approves it."""
    request = asked.request
    arguments = json.dumps(request.arguments, ensure_ascii=False, sort_keys=True)
    call = f"{request.server_id}:{request.tool_name} {arguments}"
    call = call if len(call) <= _LONGEST_CALL else f"{call[:_LONGEST_CALL]}…"
    since = seconds_text((now - asked.since) / 1000)
    people = request.people or (request.approver,)
    as_whom = f" --as {shlex.quote(people[0])}" if people[0] != "operator" else ""
    return [
        f"agent {asked.agent_id}  {asked.id}  {call}",
        f"  risk {request.risk}: {request.reason}",
        f"  {request.approver} was asked {since} ago",
        f"  dcf approve --agent {shlex.quote(asked.agent_id)} {shlex.quote(asked.id)}{as_whom}"
        f" --digest {request.digest}",
    ]
