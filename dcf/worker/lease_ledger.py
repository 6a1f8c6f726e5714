"""The record behind the work of one lease: decisions and budgets in the run, calls in a journal."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import asdict, replace
from typing import Any, Literal, Self

from control_plane import (
    CALLS_LIMIT,
    JSON,
    Lease,
    Noted,
    OverBudget,
    Refusal,
    Store,
    ToolCall,
)
from dcf.agents import TaskError
from dcf.tools import (
    ApprovalRejected,
    Budget,
    BudgetExhausted,
    Decision,
    ToolResult,
    denied_by_budget,
)
from dcf.worker.call_numbers import CallNumbers
from dcf.worker.lease_lost import LeaseLost
from dcf.worker.model_allowance import limits_of
from dcf.worker.patience import patiently
from dcf.workflow import plain_error, standing_grants

UNLIMITED = Budget()
_LIMIT_EXCEEDED = "DCF.LimitExceeded"
_USED_UP = {
    "events": "the run used up its events",
    "calls": f"the try made {CALLS_LIMIT:,} tool calls, which is as many as one can make",
}


class LeaseLedger:
    """A ``dcf.tools.Ledger``: every decision is put into the run's history by a script that checks
    the lease, so that who lost it can make no call.

    ``journal`` are the calls that this try made before it waited for an approval. The approvals
    that were given are for one call each: which one is kept in the state's document, so that
    neither another worker nor another lease uses it again.
    """

    def __init__(
        self,
        store: Store,
        lease: Lease,
        journal: list[dict[str, JSON]],
        *,
        of_try: Budget = UNLIMITED,
        of_run: Budget = UNLIMITED,
    ) -> None:
        self._store = store
        self._lease = lease
        self._of_try = of_try
        self._of_run = of_run
        self.journal = list(journal)
        self._granted = standing_grants(lease)
        self._numbers = CallNumbers(lease, journal)
        self._remembered: dict[str, deque[ToolResult]] = defaultdict(deque)
        for entry in journal:
            self._remembered[entry["digest"]].append(ToolResult(**entry["result"]))

    @classmethod
    async def open(cls, store: Store, lease: Lease, **budgets: Budget) -> Self:
        """The ledger of ``lease``, with what its try did before."""
        journal = []
        if lease.approval is not None:
            kept = lease.approval["journal"]
            journal = await patiently(lease, lambda: store.value(lease.workflow_id, kept))
        return cls(store, lease, journal, **budgets)

    @property
    def fence(self) -> int:
        return self._lease.fence

    def idempotency_key(self, number: int) -> str:
        """``{workflow_id}/{path}/{visit}/{try}/{call}``."""
        return f"{self._lease.idempotency_key}/{number}"

    @property
    def granted(self) -> list[dict[str, JSON]]:
        """The approvals that are not used, or for a call whose answer is not in the journal."""
        answered = {int(entry["number"]) for entry in self.journal}
        uses = [(grant, self._numbers.use_of(grant["ask"])) for grant in self._granted]
        return [grant for grant, number in uses if number is None or number not in answered]

    def approved(self, decision: Decision) -> str | None:
        """Who approved this call of these skills, and why."""
        grant = self._grant(decision)
        if grant is None:
            return None
        reason = f": {grant['reason']}" if grant.get("reason") else ""
        return f"approved by {grant['by']}{reason}"

    def begun(self, digest: str) -> bool:
        """Whether an earlier lease of this try had a number for the call, and left no answer."""
        return self._repeated(digest) is not None

    async def recall(self, digest: str) -> ToolResult | None:
        """The result of a call that was made before; each is given once."""
        known = self._remembered.get(digest)
        return known.popleft() if known else None

    async def note(self, decision: Decision) -> int | None:
        """Put ``decision`` on record; one that allows gets the call its number and takes it from
        the budgets first.

        Raises BudgetExhausted, ApprovalRejected, LeaseLost, and TaskError when the run's history,
        or its try's calls, are full.
        """
        ask = None
        if decision.rule == "approval.granted":
            grant = self._grant(decision)
            if grant is None:
                raise await self._refused(decision, Refusal("grant_used"))
            ask = grant["ask"]
        if not decision.allowed:
            answer = await self._put(decision, None)
        else:
            to_make = self._to_make(decision, ask)
            with self._numbers.asking(decision.digest, ask):
                answer = await self._put(decision, to_make)
        if isinstance(answer, OverBudget):
            of: Literal["state", "run"] = "state" if answer.whose == "try" else "run"
            raise BudgetExhausted(
                denied_by_budget(decision, answer.what, answer.limit, answer.used, of)
            )
        if isinstance(answer, Refusal):
            raise await self._refused(decision, answer)
        if answer.number is not None:
            self._numbers.given(decision.digest, answer.number, ask)
        return answer.number

    async def tell(self, event: dict[str, Any]) -> bool:
        """Put something of the work into the history; whether it had room. Raises LeaseLost."""
        lease = self._lease
        call_id = self._store.new_id()
        answer = await patiently(
            lease,
            lambda: self._store.note(lease, {**event, **self._about}, {}, call_id=call_id),
        )
        if isinstance(answer, Refusal) and answer.code != "limit_exceeded":
            raise LeaseLost(answer.code)
        return not isinstance(answer, Refusal)

    @property
    def _about(self) -> dict[str, Any]:
        lease = self._lease
        return {"path": lease.path, "visit": lease.visit, "try": lease.try_, "owner": lease.owner}

    async def _put(
        self, decision: Decision, to_make: ToolCall | None
    ) -> Noted | OverBudget | Refusal:
        lease = self._lease
        about = self._about
        refused = replace(decision, verdict="deny", reason="the budget is spent")
        call_id = self._store.new_id()
        return await patiently(
            lease,
            lambda: self._store.note(
                lease,
                {**decision.to_event(), **about},
                {**_without_rule(refused), **about},
                to_make=to_make,
                asks_ms=self._asks_ms(decision),
                try_budget=limits_of(self._of_try),
                run_budget=limits_of(self._of_run),
                call_id=call_id,
            ),
        )

    def _to_make(self, decision: Decision, ask: int | None) -> ToolCall:
        digest = decision.digest
        return ToolCall(digest, ask, self._numbers.answered(digest))

    def _repeated(self, digest: str) -> int | None:
        """The number that the next call with this digest has; None for a new one."""
        return self._numbers.repeated(digest)

    def _asks_ms(self, _decision: Decision) -> int | None:
        """How long no call begins, where others may make calls under this lease."""
        return None

    async def _refused(self, decision: Decision, refusal: Refusal) -> BaseException:
        """What is raised for a call that the script refused."""
        if refusal.code == "limit_exceeded":
            return TaskError(_LIMIT_EXCEEDED, _USED_UP[refusal.detail[0]])
        if refusal.code == "grant_used":
            reason = "the approval was used by another call"
            denied = replace(decision, verdict="deny", rule="approval.rejected", reason=reason)
            await self._put(denied, None)
            return ApprovalRejected(decision.server_id, decision.tool_name, reason)
        return LeaseLost(refusal.code)

    async def settle(self, number: int, decision: Decision, result: ToolResult) -> None:
        """Remember the answer, for the case that the work has to stop for an approval."""
        self.journal.append(
            {
                "number": number,
                "digest": decision.digest,
                "server_id": decision.server_id,
                "tool_name": decision.tool_name,
                "result": asdict(result),
            }
        )

    async def failed(self, decision: Decision, error: str) -> None:
        """Into the history; a history that is full does without it."""
        tool = f"{decision.server_id}:{decision.tool_name}"
        await self.tell({"type": "ToolFailed", "tool": tool, "error": plain_error(error)})

    def _grant(self, decision: Decision) -> dict[str, JSON] | None:
        """The approval for this call: the one that it used before, else one that nobody used."""
        fitting = [
            grant
            for grant in self._granted
            if grant["digest"] == decision.digest
            and sorted(grant["skills"]) == sorted(decision.skills)
            and not self._numbers.is_taken(grant["ask"])
        ]
        repeated = self._repeated(decision.digest)
        for use in (repeated, None):
            for grant in fitting:
                if self._numbers.use_of(grant["ask"]) == use:
                    return grant
        return None


def _without_rule(decision: Decision) -> dict[str, Any]:
    """The event without its rule, which the script names."""
    return {name: value for name, value in decision.to_event().items() if name != "rule"}
