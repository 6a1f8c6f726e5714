"""The contexts of agents."""

from __future__ import annotations

from dcf.memory.context.assembly import assemble
from dcf.memory.context.context import Context
from dcf.memory.database import Connection
from dcf.memory.ledger import Ledger
from dcf.memory.scratch_pads import open_row


class Contexts:
    """What stands before an agent when its turn comes."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def assemble(
        self,
        agent_id: str,
        *,
        budget: int | None = None,
        system: str | None = None,
        task: str | None = None,
    ) -> Context:
        """An agent's context, of one moment, in at most ``budget`` tokens (None: its window), with
        the scratch pad of ``task``, if it has one.

        What does not fit is told, never dropped. Raises UnknownAgent, ContextTooSmall.
        """
        now = self._ledger.clock()

        def work(connection: Connection) -> Context:
            pad = None if task is None else open_row(connection, agent_id, task, now)
            return assemble(connection, agent_id, budget=budget, system=system, pad=pad)

        return await self._ledger.read(work)
