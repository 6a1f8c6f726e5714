"""The contexts of agents."""

from __future__ import annotations

from dcf.memory.context.assembly import assemble
from dcf.memory.context.context import Context
from dcf.memory.ledger import Ledger


class Contexts:
    """What stands before an agent when its turn comes."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def assemble(
        self, agent_id: str, *, budget: int | None = None, system: str | None = None
    ) -> Context:
        """An agent's context, of one moment, in at most ``budget`` tokens (None: its window).

        What does not fit is told, never dropped. Raises UnknownAgent, ContextTooSmall.
        """
        return await self._ledger.read(
            lambda connection: assemble(connection, agent_id, budget=budget, system=system)
        )
