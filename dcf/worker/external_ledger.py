"""The record behind the tool calls of a lease that somebody outside holds.

Each call may be served by another process, so what a worker keeps in its memory stands in Redis:
numbers, ids and open calls in the state's document, answers beside it until the run is removed or
a day has passed.
"""

from __future__ import annotations

import json
from typing import Any, Self

from control_plane import JSON, Lease, Refusal, Store, ToolCall, payload
from dcf.tools import Decision, ToolResult
from dcf.worker.lease_ledger import LeaseLedger
from dcf.worker.lease_lost import LeaseLost
from dcf.worker.patience import patiently

# Longer than it takes to end a lease with a question; then somebody died over it.
_ASKING_MS = 10_000


class CallsOpen(Exception):
    """Other calls of the lease are being made: a question waits for them, and they for it."""


class OtherCall(Exception):
    """The name of a call was given to another one before."""


class ExternalLedger(LeaseLedger):
    """A ledger for one call under a lease, which its caller may give a ``name``: the same name
    under one lease is the same call, with the same answer. ``timeout_s`` is how long it may
    take."""

    def __init__(
        self,
        store: Store,
        lease: Lease,
        journal: list[dict[str, JSON]],
        *,
        name: str | None = None,
        timeout_s: float = 60.0,
        **budgets: Any,
    ):
        super().__init__(store, lease, journal, **budgets)
        self._name = name
        self._open_ms = round(timeout_s * 1000)
        self._number: int | None = None
        self._begun: int | None = None

    @classmethod
    async def open(cls, store: Store, lease: Lease, **options: Any) -> Self:
        """The ledger of ``lease``; ``options`` are budgets, name and timeout_s."""
        return await super().open(store, lease, **options)

    async def recall(self, digest: str) -> ToolResult | None:
        """Raises OtherCall, CallsOpen while this very call is being made, LeaseLost."""
        to_make = ToolCall(digest, known=self._numbers.answered(digest), name=self._name)
        if self._name is None and not to_make.known:
            return None
        lease = self._lease
        number = await patiently(lease, lambda: self._store.recall(lease, to_make))
        if isinstance(number, Refusal):
            raise _raised(number)
        if number is None:
            return None
        for entry in self.journal:
            if int(entry["number"]) == number:
                return ToolResult(**entry["result"])
        # Without an answer it is made again, under its number.
        self._begun = number
        begun = number
        text = await patiently(lease, lambda: self._store.settled(lease, begun))
        return None if text is None else ToolResult(**json.loads(text)["result"])

    async def note(self, decision: Decision) -> int | None:
        """As of a worker's lease; also raises CallsOpen and OtherCall."""
        self._number = await super().note(decision)
        return self._number

    async def settle(self, number: int, decision: Decision, result: ToolResult) -> None:
        """Keep the answer. Who has lost the lease by now keeps nothing."""
        await super().settle(number, decision, result)
        answer = payload.to_text(self.journal[-1])
        await patiently(self._lease, lambda: self._store.settle(self._lease, number, answer))
        self._number = None

    async def close(self) -> None:
        """Say that a call which had no answer is over."""
        if self._number is not None:
            await self._store.settle(self._lease, self._number)

    async def whole(self) -> tuple[list[dict[str, JSON]], list[dict[str, JSON]]]:
        """The journal with all calls of this lease, and the approvals that are left, once a
        question is on record. Raises LeaseLost."""
        lease = self._lease
        held = await self._store.held(lease.workflow_id, lease.path, lease.token)
        if isinstance(held, Refusal) or held.fence != lease.fence:
            raise LeaseLost("lease_lost")
        ledger = await LeaseLedger.open(self._store, held)
        for text in (await self._store.all_settled(lease)).values():
            ledger.journal.append(json.loads(text))
        return ledger.journal, ledger.granted

    def _to_make(self, decision: Decision, ask: int | None) -> ToolCall:
        digest = decision.digest
        return ToolCall(digest, ask, self._numbers.answered(digest), self._name, self._open_ms)

    def _repeated(self, digest: str) -> int | None:
        return super()._repeated(digest) if self._begun is None else self._begun

    def _asks_ms(self, decision: Decision) -> int | None:
        return _ASKING_MS if decision.verdict == "ask" else None

    async def _refused(self, decision: Decision, refusal: Refusal) -> BaseException:
        if refusal.code in ("calls_open", "call_open", "other_call"):
            return _raised(refusal)
        return await super()._refused(decision, refusal)


def _raised(refusal: Refusal) -> Exception:
    if refusal.code == "other_call":
        return OtherCall("this call_id is the name of another call")
    if refusal.code == "call_open":
        return CallsOpen("the call with this call_id is still being made, or was answered just now")
    if refusal.code == "calls_open":
        open_ = int(refusal.detail[0])
        if open_ == 0:
            return CallsOpen("somebody is being asked about another call of this lease")
        return CallsOpen(f"{open_} other call(s) of this lease are still being made")
    return LeaseLost(refusal.code)
