"""Where decisions are kept and budgets are spent: the run of a leased state, or an agent."""

from __future__ import annotations

from typing import Protocol

from dcf.tools.gate.decision import Decision
from dcf.tools.result import ToolResult


class Ledger(Protocol):
    """The record behind one piece of work. Implementations are fenced: who lost the authority over
    the work cannot write here, and so cannot dispatch a call either.
    """

    @property
    def fence(self) -> int:
        """The fence under which calls are made; it only grows."""
        ...

    def idempotency_key(self, number: int) -> str:
        """The key of the call with this number (from 0): the same when the work is repeated."""
        ...

    def approved(self, decision: Decision) -> str | None:
        """Who approved exactly this call of these skills, with the reason; None when nobody did."""
        ...

    def begun(self, digest: str) -> bool:
        """Whether the next call with this digest was begun before by somebody who had the work
        then, and nobody knows how it ended."""
        ...

    async def recall(self, digest: str) -> ToolResult | None:
        """The result of this call if it was made before the work stopped for an approval; each
        result is given once."""
        ...

    async def note(self, decision: Decision) -> int | None:
        """Append ``decision`` to the history. One that allows also takes one call from the budgets
        and uses up the approval it rests on, in the same step; then the answer is the call's
        number: when work is repeated, its calls get the numbers they had. Raises BudgetExhausted
        (the denial is on record then), ApprovalRejected (the approval was used by another call),
        and whatever says that the authority is lost."""
        ...

    async def settle(self, number: int, decision: Decision, result: ToolResult) -> None:
        """The call with this number was answered: remember it for ``recall``."""
        ...

    async def failed(self, decision: Decision, error: str) -> None:
        """Put on record that the call came to the ``error``: one that the tool reported, or that it
        gave no answer that can be taken."""
        ...
