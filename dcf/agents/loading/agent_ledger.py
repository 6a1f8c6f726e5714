"""The record behind the tool calls of an agent outside a run: its own document and history."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, Self

from control_plane import AgentChange, AgentDocument, AgentStore, UnknownAgent
from dcf.agents.loading.approvals import MEMBER as APPROVALS
from dcf.agents.loading.approvals import index_member, lapsed
from dcf.agents.loading.usage import BUDGET, USAGE, Usage
from dcf.tools import (
    ApprovalRejected,
    ApprovalRequest,
    Budget,
    BudgetExhausted,
    Decision,
    ToolResult,
    denied_by_budget,
)

JSON = Any

_NO_BUDGET = Budget()
_MEMBERS = (APPROVALS, USAGE, BUDGET)
_UNCLAIMED_MS = 7 * 24 * 3600 * 1000


class AgentLedger:
    """A ``dcf.tools.Ledger`` for one piece of work of an agent, its ``session``.

    The same session again, after an approval was asked for and decided on, goes on where it
    stopped: calls made before are answered from the journal, and keys of calls are the same. A
    question belongs to the session that put it, with the journal of that session: another session
    of the agent asks for itself, and neither uses the answer to the other. Who works for an agent
    that was deleted can note nothing, and so make no call.
    """

    def __init__(
        self,
        agents: AgentStore,
        document: AgentDocument,
        session: str,
        budget: Budget,
        opened_ms: int,
    ) -> None:
        self._agents = agents
        self._document = document
        self._session = session
        self._budget = budget
        self._marked_ms = opened_ms
        self.journal: list[dict[str, JSON]] = _journal(document, session)
        self._next = 1 + max((int(entry["number"]) for entry in self.journal), default=-1)
        self._remembered: dict[str, deque[ToolResult]] = defaultdict(deque)
        for entry in self.journal:
            self._remembered[entry["digest"]].append(ToolResult(**entry["result"]))

    @classmethod
    async def open(
        cls, agents: AgentStore, agent_id: str, *, session: str, budget: Budget = _NO_BUDGET
    ) -> Self:
        """The ledger of an agent; ``session`` is an id of the work, ``budget`` what policy leaves
        the agent, beside the budget in its record. Raises UnknownAgent."""
        document = await agents.get(agent_id, _MEMBERS)
        if document is None:
            raise UnknownAgent(agent=agent_id)
        return cls(agents, document, session, budget, await agents.now_ms())

    @property
    def fence(self) -> int:
        """The revision of the record, which grows with every decision on it."""
        return self._document.revision

    def idempotency_key(self, number: int) -> str:
        """``agent/{agent_id}/{session}/{call}``."""
        return f"agent/{self._document.agent_id}/{self._session}/{number}"

    def approved(self, decision: Decision) -> str | None:
        """Who approved this call of these skills in this session, and why."""
        _, entry = self._answered(self._entries(self._document), decision, "approved")
        if entry is None:
            return None
        reason = f": {entry['reason']}" if entry["reason"] else ""
        return f"approved by {entry['by']}{reason}"

    def begun(self, digest: str) -> bool:
        """Never: an approval is used up by the call, and for the next one somebody is asked."""
        return False

    async def recall(self, digest: str) -> ToolResult | None:
        """The result of a call that was made before; each is given once."""
        known = self._remembered.get(digest)
        return known.popleft() if known else None

    async def note(self, decision: Decision) -> int | None:
        """Put ``decision`` on record; one that allows takes a call from the budget and uses up the
        approval it rests on, one that asks puts the question, all in the same step. The number of
        a call that is allowed: the next of the session.

        Raises BudgetExhausted, ApprovalRejected (the question was put before, and answered so; or
        another call took the approval), UnknownAgent.
        """
        now = await self._agents.now_ms()
        refusal: list[Exception] = []

        def plan(document: AgentDocument) -> AgentChange:
            refusal.clear()
            if decision.allowed:
                return self._allowed(document, decision, now, refusal)
            if decision.approval is not None:
                return self._asked(document, decision, now, refusal)
            return AgentChange([self._event(decision)])

        agent = self._document
        self._document = await self._agents.update(
            agent.agent_id, plan, _MEMBERS, incarnation=agent.incarnation
        )
        self._marked_ms = now
        if refusal:
            raise refusal[0]
        if not decision.allowed:
            return None
        self._next += 1
        return self._next - 1

    async def settle(self, number: int, decision: Decision, result: ToolResult) -> None:
        """Remember the answer, for the case that the work has to stop for an approval, and count
        the time it took."""
        self.journal.append(
            {
                "number": number,
                "digest": decision.digest,
                "server_id": decision.server_id,
                "tool_name": decision.tool_name,
                "result": asdict(result),
            }
        )

        await self.close()

    async def failed(self, decision: Decision, error: str) -> None:
        """Nothing: what an agent's calls came to stands in its turns."""

    async def close(self) -> None:
        """Count the time at work up to now. To be called at the end of the work, also when a call
        failed; the ledger may be used on."""
        now = await self._agents.now_ms()
        elapsed, self._marked_ms = now - self._marked_ms, now
        if elapsed <= 0:
            return

        def plan(document: AgentDocument) -> AgentChange:
            usage = Usage.of(document.record).after(elapsed)
            return AgentChange(members={USAGE: usage.to_json()})

        agent = self._document
        # Where nobody is left, there is nobody whose time could be counted.
        with suppress(UnknownAgent):
            self._document = await self._agents.update(
                agent.agent_id, plan, _MEMBERS, incarnation=agent.incarnation
            )

    def _allowed(
        self, document: AgentDocument, decision: Decision, now: int, refusal: list[Exception]
    ) -> AgentChange:
        usage = Usage.of(document.record).after(now - self._marked_ms)
        spent = usage.over(self._budget.lowest(Budget.from_document(_budget(document))))
        if spent is not None:
            denied = denied_by_budget(decision, spent.member, spent.limit, spent.used, "agent")
            refusal.append(BudgetExhausted(denied))
            return AgentChange([self._event(denied)], {USAGE: usage.to_json()})
        members: dict[str, JSON] = {USAGE: usage.one_more().to_json()}
        if decision.rule == "approval.granted":
            entries = self._entries(document)
            used, entry = self._answered(entries, decision, "approved")
            if entry is None:
                reason = "the approval was used by another call"
                denied = replace(decision, verdict="deny", rule="approval.rejected", reason=reason)
                refusal.append(ApprovalRejected(decision.server_id, decision.tool_name, reason))
                return AgentChange([self._event(denied)])
            del entries[used]
            members[APPROVALS] = entries
        return AgentChange([self._event(decision)], members)

    def _asked(
        self, document: AgentDocument, decision: Decision, now: int, refusal: list[Exception]
    ) -> AgentChange:
        over = lapsed(document, now) or AgentChange()
        entries = {**self._entries(document), **over.members.get(APPROVALS, {})}
        name, answer = self._answered(entries, decision, "rejected")
        if answer is not None:
            del entries[name]
            denied = _rejected(decision, answer)
            refusal.append(ApprovalRejected(decision.server_id, decision.tool_name, denied.reason))
            events = [*over.events, self._event(denied)]
            return replace(over, events=events, members={APPROVALS: entries})
        events = [*over.events, self._event(decision)]
        if self._answered(entries, decision, "pending")[1] is not None:
            return replace(over, events=events)
        assert decision.approval is not None
        name = self._agents.new_id()
        entries = {key: kept for key, kept in entries.items() if _current(kept, now)}
        entries[name] = {
            "status": "pending",
            "request": decision.approval.to_document(),
            "asked_at": now,
            "session": self._session,
            "journal": self.journal,
        }
        events.append(_requested(name, decision.approval, len(self.journal)))
        asked = {index_member(document.agent_id, name): now}
        return replace(over, events=events, members={APPROVALS: entries}, asked=asked)

    def _event(self, decision: Decision) -> dict[str, JSON]:
        return {**decision.to_event(), "session": self._session}

    def _answered(
        self, entries: Mapping[str, JSON], decision: Decision, status: str
    ) -> tuple[str, dict[str, JSON] | None]:
        """The oldest question of this session about this call of these skills that stands so."""
        fitting = [
            (entry["asked_at"], name)
            for name, entry in entries.items()
            if entry["status"] == status
            and entry["session"] == self._session
            and entry["request"]["digest"] == decision.digest
            and sorted(entry["request"]["skills"]) == sorted(decision.skills)
        ]
        if not fitting:
            return "", None
        name = min(fitting)[1]
        return name, entries[name]

    @staticmethod
    def _entries(document: AgentDocument) -> dict[str, JSON]:
        return dict(document.record.get(APPROVALS) or {})


def _rejected(decision: Decision, answer: Mapping[str, JSON]) -> Decision:
    """The denial of a call that somebody rejected, or nobody approved."""
    by = f"rejected by {answer['by']}" if answer["by"] else "rejected"
    reason = f"{by}: {answer['reason']}" if answer["reason"] else by
    return replace(decision, verdict="deny", rule="approval.rejected", reason=reason, approval=None)


def _requested(name: str, request: ApprovalRequest, calls_made: int) -> dict[str, JSON]:
    return {
        "type": "ApprovalRequested",
        "id": name,
        "tool": f"{request.server_id}:{request.tool_name}",
        "digest": request.digest,
        "risk": request.risk,
        "reason": request.reason,
        "skills": list(request.skills),
        "approver": request.approver,
        "timeout_s": request.timeout_s,
        "calls_made": calls_made,
    }


def _budget(document: AgentDocument) -> Mapping[str, Any]:
    return document.record.get(BUDGET) or {}


def _current(entry: Mapping[str, JSON], now: int) -> bool:
    """Whether an approval is to be kept: what is decided waits a week to be taken up."""
    return entry["status"] == "pending" or now - int(entry["decided_at"]) < _UNCLAIMED_MS


def _journal(document: AgentDocument, session: str) -> list[dict[str, JSON]]:
    """The calls that this session had made when it last stopped for an approval."""
    stops = [
        entry
        for entry in (document.record.get(APPROVALS) or {}).values()
        if entry["session"] == session
    ]
    last = max(stops, key=lambda entry: int(entry["asked_at"]), default=None)
    return list(last["journal"]) if last else []
