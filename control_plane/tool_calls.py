"""Tool calls under a lease: decisions on record, numbers, budgets, answers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from control_plane import payload
from control_plane.lease import NO_BUDGET, Budget, Lease, Noted, OverBudget, Refusal
from control_plane.run_transitions import RunTransitions

CALLS_LIMIT = 1_000
"""Numbers of tool calls that one try can have: each is remembered in its document."""
_KEPT_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that is to be made.

    ``digest`` is of what is called; ``grant`` the number of the question whose answer allows it;
    ``known`` are the numbers of calls with this digest that are answered from the journal.
    ``name`` is what the caller calls it: the same name under one lease is the same call.
    ``open_ms`` is how long it may take, where others have to know.
    """

    digest: str
    grant: int | None = None
    known: Sequence[int] = ()
    name: str | None = None
    open_ms: int | None = None


class ToolCalls(RunTransitions):
    """What is called under the leases of runs; ``_limits`` are ``{steps_limit, events_limit}``."""

    _limits: dict[str, int]

    async def note(
        self,
        lease: Lease,
        event: dict[str, Any],
        refused: dict[str, Any],
        *,
        to_make: ToolCall | None = None,
        asks_ms: int | None = None,
        try_budget: Budget = NO_BUDGET,
        run_budget: Budget = NO_BUDGET,
        call_id: str | None = None,
    ) -> Noted | OverBudget | Refusal:
        """Put a decision on a tool call into the history, under ``lease``.

        A call ``to_make`` gets its number and is taken from the budgets in the same step, or
        ``refused`` is recorded in place of ``event``. The k-th call with one digest under a lease
        gets the k-th number that the digest had before in the try, and is not taken again.
        ``asks_ms``: a question is about to be put; for that long no call begins. The same
        ``call_id`` (``new_id``) again gets the first answer.
        """
        request = {**lease.credentials, "call": call_id or self.new_id(), "asks": asks_ms}
        if to_make is not None:
            request |= {"digest": to_make.digest, "grant": to_make.grant, "id": to_make.name}
            request |= {"known": list(to_make.known), "open": to_make.open_ms}
        request |= {"events_limit": self._limits["events_limit"], "calls_limit": CALLS_LIMIT}
        budgets = {"try": try_budget.to_json(), "run": run_budget.to_json()}
        request["budget"] = {name: limits for name, limits in budgets.items() if limits}
        texts = payload.to_text(event), payload.to_text(refused)
        answer = await self.call("note", lease.workflow_id, request, *texts)
        if answer[0] == "ok":
            number = None if answer[3] == "" else int(answer[3])
            return Noted(int(answer[1]), int(answer[2]), number)
        if answer[0] == "over_budget":
            return OverBudget(answer[1], answer[2], float(answer[3]), float(answer[4]))
        return _refusal(answer)

    async def recall(
        self, lease: Lease, to_make: ToolCall, *, call_id: str | None = None
    ) -> int | Refusal | None:
        """The number of the call whose answer is that of ``to_make``: the one of the same name, or
        one of the journal, each of which is given once. None when it is a new call."""
        request = {**lease.credentials, "call": call_id or self.new_id()}
        request |= {"digest": to_make.digest, "id": to_make.name, "known": list(to_make.known)}
        answer = await self.call("recall", lease.workflow_id, request)
        if answer[0] == "ok":
            return int(answer[1])
        return None if answer[0] == "new" else _refusal(answer)

    async def settle(self, lease: Lease, number: int, answer: str = "") -> Refusal | None:
        """The call with this number is over; ``answer`` is JSON text, kept for a day at most, or ""
        where there is none."""
        request = {**lease.credentials, "number": number, "keep": _KEPT_MS}
        told = await self.call("settle", lease.workflow_id, request, answer)
        return None if told[0] == "ok" else _refusal(told)

    async def settled(self, lease: Lease, number: int) -> str | None:
        """What was kept under the number of a call of this lease."""
        place = self.keys(lease.workflow_id).calls(lease.path)
        fence, text = await self.backend.command("HMGET", place, "fence", number)
        return text if fence == str(lease.fence) else None

    async def all_settled(self, lease: Lease) -> dict[int, str]:
        """All that was kept of this lease, by number."""
        place = self.keys(lease.workflow_id).calls(lease.path)
        found = await self.backend.command("HGETALL", place)
        if not isinstance(found, dict):
            found = dict(zip(found[::2], found[1::2], strict=True))
        if found.pop("fence", None) != str(lease.fence):
            return {}
        return {int(number): found[number] for number in sorted(found, key=int)}


def call_name(kind: str, text: str) -> str:
    """How the scripts name a digest (``d``) or a question in ``$.calls`` of a state document."""
    return kind + hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _refusal(answer: list[Any]) -> Refusal:
    return Refusal(answer[0], tuple(str(part) for part in answer[1:-1]))
