"""Who does the Tasks of a simulated world: in each life of a worker somebody of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from control_plane import Store
from dcf.simulation.agents import Execution, SimulatedAgents, Sites
from dcf.simulation.calls import Watch
from dcf.simulation.memories import RememberingAgents, Shelf
from dcf.simulation.process import Process
from dcf.simulation.strangers import Strangers
from dcf.worker import AgentPerformer, Performer


class Staff(Protocol):
    """Whoever has performers for workers."""

    def employed(
        self, process: Process, store: Store, sure: Store
    ) -> AbstractAsyncContextManager[AgentPerformer]:
        """Who does the Tasks of one life of a worker: in ``process``, whose ``store`` is what its
        network makes of it; ``sure`` reaches the server always."""
        ...


@dataclass(frozen=True, slots=True)
class SimulatedStaff:
    """Agents who work by the behaviours of ``sites``; with a ``shelf`` they have a memory."""

    sites: Mapping[str, Sites]
    ledger: list[Execution]
    strangers: Strangers
    watch: Watch
    shelf: Shelf | None

    @asynccontextmanager
    async def employed(
        self, process: Process, store: Store, sure: Store
    ) -> AsyncIterator[AgentPerformer]:
        """See ``Staff``."""
        agents = SimulatedAgents(
            self.sites, process, self.ledger, self.strangers, store, self.watch, sure
        )
        if self.shelf is None:
            yield Performer(agents=agents)
            return
        async with self.shelf.opened(process) as memory:
            yield Performer(agents=RememberingAgents(memory, process, agents.perform, self.shelf))
