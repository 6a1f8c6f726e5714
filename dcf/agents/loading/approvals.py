"""Calls of agents outside runs that wait for a person: asked, escalated, decided on.

They stand in the agent's record, ``approvals``: ``{approval id: {status: pending | approved |
rejected, request, asked_at, session, journal, by?, reason?, via?, decided_at?}}``, times in ms by
Redis's clock. ``request`` is asked of whoever is named in it; those after it come in their turn by
time alone, so that nothing has to wake up for it. A question belongs to the ``session`` that put
it: another session of the agent puts its own. What is decided goes from the record when the
agent's work takes it up; the history keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from control_plane import APPROVALS, AgentChange, AgentDocument, AgentStore, UnknownAgent
from dcf.agents.loading.errors import (
    ApprovalSettled,
    NoApprovalPending,
    NotAnApprover,
    QuestionChanged,
    SeveralPending,
)
from dcf.secret_form import without_secrets
from dcf.tools import ApprovalRequest

JSON = Any
Answer = Literal["approve", "reject"]
Surface = Literal["cli", "mcp"]

MEMBER = "approvals"
_KIND = "agent"
_LISTED = 1000
"""Members of the list that are looked at."""


@dataclass(frozen=True, slots=True)
class AgentApproval:
    """A call that waits. ``request`` is as it stands at the moment of reading: who is asked now;
    ``since`` and ``until`` are ms, ``until`` None when it waits for ever."""

    agent_id: str
    agent_name: str
    id: str
    request: ApprovalRequest
    since: int
    until: int | None

    def to_json(self) -> dict[str, JSON]:
        """What lists show."""
        return {
            "agent_id": self.agent_id,
            "agent_name": self.agent_name,
            "id": self.id,
            "kind": "tool",
            **self.request.to_document(),
            "since_ms": self.since,
            "until_ms": self.until,
        }


def index_member(agent_id: str, approval_id: str) -> str:
    """How the approval is called in the list of all (``cp:approvals``)."""
    return f"{_KIND}\t{agent_id}\t{approval_id}"


def standing(entry: JSON, now_ms: int) -> tuple[ApprovalRequest, int | None] | None:
    """Who is asked now, and until when (ms); None when everybody's time is over."""
    request: ApprovalRequest | None = ApprovalRequest.from_document(entry["request"])
    since = int(entry["asked_at"])
    while request is not None:
        if request.timeout_s is None:
            return request, None
        until = since + round(request.timeout_s * 1000)
        if now_ms < until:
            return request, until
        request, since = request.escalated(), until
    return None


async def pending_agent_approvals(
    agents: AgentStore, agent_id: str | None = None
) -> list[AgentApproval]:
    """What waits for a decision, the oldest first: of one agent, or of up to 1,000 from the list.

    What nobody answered in time is rejected here, and stands in the history so. Raises
    UnknownAgent for an agent that is named and not there.
    """
    listed = await _listed(agents)
    if agent_id is not None:
        listed = {agent_id: listed.get(agent_id, set())}
    found: list[AgentApproval] = []
    for one, members in listed.items():
        document = await agents.get(one, (MEMBER,))
        if document is None and agent_id is not None:
            raise UnknownAgent(agent=agent_id)
        waiting = [] if document is None else await _of(agents, document)
        # The list is a hint: what the record does not have any more leaves it here.
        for stale in members - {index_member(one, approval.id) for approval in waiting}:
            await agents.backend.command("ZREM", APPROVALS, stale)
        found += waiting
    return sorted(found, key=lambda approval: (approval.since, approval.id))


async def decide_agent_approval(
    agents: AgentStore,
    agent_id: str,
    approval_id: str | None = None,
    *,
    decision: Answer,
    by: str,
    reason: str = "",
    via: Surface | None = None,
    digest: str | None = None,
) -> AgentApproval:
    """Approve or reject a call that waits; the only one when ``approval_id`` is None. An approval
    is good for this very call, once. ``via`` is where somebody said so, for the history; ``digest``
    is that of the call that somebody saw.

    Raises NoApprovalPending, SeveralPending, NotAnApprover, ApprovalSettled, QuestionChanged,
    UnknownAgent.
    """
    waiting = await pending_agent_approvals(agents, agent_id)
    ids = [approval.id for approval in waiting]
    if approval_id is None and len(ids) > 1:
        raise SeveralPending(agent_id, ids)
    if approval_id is None and not ids:
        raise NoApprovalPending(f"no call of {agent_id} waits for a decision")
    chosen = next((one for one in waiting if one.id == (approval_id or ids[0])), None)
    if chosen is None:
        raise ApprovalSettled(f"{approval_id} was decided on before, or its time is over")
    if digest is not None and digest != chosen.request.digest:
        raise QuestionChanged(f"{chosen.id} of {agent_id}", chosen.request.digest)
    if not chosen.request.may_decide(by):
        raise NotAnApprover(by, chosen.request.people or (chosen.request.approver,))
    now = await agents.now_ms()

    def plan(document: AgentDocument) -> AgentChange:
        entries = dict(document.record.get(MEMBER) or {})
        entry = entries.get(chosen.id)
        if entry is None or entry["status"] != "pending" or standing(entry, now) is None:
            raise ApprovalSettled(f"{chosen.id} was decided on before, or its time is over")
        said = {"by": by, "reason": without_secrets(reason), **({"via": via} if via else {})}
        entries[chosen.id] = _with_answer(entry, decision, said, now)
        event = _decided(chosen.id, entry, decision, said)
        member = index_member(agent_id, chosen.id)
        return AgentChange([event], {MEMBER: entries}, settled=[member])

    await agents.update(agent_id, plan, (MEMBER,))
    return chosen


async def _listed(agents: AgentStore) -> dict[str, set[str]]:
    """Members of the list that are agents', by agent."""
    found: dict[str, set[str]] = {}
    for member in await agents.backend.command("ZRANGE", APPROVALS, 0, _LISTED - 1):
        parts = member.split("\t")
        if len(parts) == 3 and parts[0] == _KIND:
            found.setdefault(parts[1], set()).add(member)
    return found


async def _of(agents: AgentStore, document: AgentDocument) -> list[AgentApproval]:
    now = await agents.now_ms()
    entries = document.record.get(MEMBER) or {}
    pending = {name: entry for name, entry in entries.items() if entry["status"] == "pending"}
    stands = {name: standing(entry, now) for name, entry in pending.items()}
    if None in stands.values():
        await agents.update(document.agent_id, lambda found: lapsed(found, now), (MEMBER,))
    return [
        AgentApproval(
            agent_id=document.agent_id,
            agent_name=document.name,
            id=name,
            request=asked[0],
            since=int(pending[name]["asked_at"]),
            until=asked[1],
        )
        for name, asked in stands.items()
        if asked is not None
    ]


def lapsed(document: AgentDocument, now_ms: int) -> AgentChange | None:
    """The change that rejects what nobody answered in time; None when there is nothing."""
    entries = dict(document.record.get(MEMBER) or {})
    over = [
        name
        for name, entry in entries.items()
        if entry["status"] == "pending" and standing(entry, now_ms) is None
    ]
    if not over:
        return None
    events = []
    for name in over:
        said = {"by": "", "reason": "nobody answered in time"}
        events.append(_decided(name, entries[name], "reject", said))
        entries[name] = _with_answer(entries[name], "reject", said, now_ms)
    members = [index_member(document.agent_id, name) for name in over]
    return AgentChange(events, {MEMBER: entries}, settled=members)


def _with_answer(
    entry: JSON, decision: Answer, said: dict[str, str], now_ms: int
) -> dict[str, JSON]:
    status = "approved" if decision == "approve" else "rejected"
    return {**entry, "status": status, **said, "decided_at": now_ms}


def _decided(name: str, entry: JSON, decision: str, said: dict[str, str]) -> dict[str, JSON]:
    request = entry["request"]
    return {
        "type": "ApprovalDecided",
        "id": name,
        "decision": decision,
        **said,
        "tool": f"{request['server_id']}:{request['tool_name']}",
        "digest": request["digest"],
    }
