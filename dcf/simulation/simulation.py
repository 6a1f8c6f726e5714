"""One simulation: a scenario runs under its weather until everything ended and is quiet."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from control_plane import INDEX, RunKeys, Store
from control_plane import keys as redis_keys
from dcf.simulation.agents import Execution
from dcf.simulation.bystanders import move_at_times, watch_at_times
from dcf.simulation.client import Client
from dcf.simulation.fail_over import FailOver
from dcf.simulation.memories import Shelf
from dcf.simulation.network import FaultyBackend, SureBackend, tokens_of
from dcf.simulation.persons import Persons
from dcf.simulation.process import Process
from dcf.simulation.records import Records
from dcf.simulation.scenario import Scenario
from dcf.simulation.server import GROUP, POOL, Server
from dcf.simulation.staff import SimulatedStaff, Staff
from dcf.simulation.strangers import Strangers
from dcf.simulation.versions import Versions
from dcf.simulation.violation import Guarantee
from dcf.simulation.virtual_loop import VirtualLoop, at_once
from dcf.simulation.weather import Weather
from dcf.simulation.witness import Witness
from dcf.simulation.worker_life import WorkerLife
from dcf.workflow import Objects

# How long the calm may last until every run must be finished, where its work takes no longer, and
# then until the queue must be empty.
_PATIENCE_S = 1200.0
_QUIET_S = 150.0
_LOOK_S = 1.0
# What goes on and on without an end is cut off after so many calls.
_MOST_CALLS = 60_000

Condition = Callable[[], bool]


@dataclass(slots=True)
class Simulation:
    """The parts of one simulation, and what they leave behind. It ends ``until`` one
    of these guarantees is seen to be broken. ``objects`` are what a distributed Map reads."""

    scenario: Scenario
    loop: VirtualLoop
    weather: Weather
    server: Server
    witness: Witness
    records: Records
    fail_over: FailOver
    versions: Versions
    rng: random.Random
    until: Collection[Guarantee] = ()
    ledger: list[Execution] = field(default_factory=list)
    lives: list[WorkerLife] = field(default_factory=list)
    ended_in_time: bool = False
    shelf: Shelf | None = None
    objects: Objects | None = None

    async def run(self) -> None:
        """Let it happen."""
        clients = [asyncio.create_task(self._client(number)) for number in self._orders()]
        bystanders = [
            asyncio.create_task(act(order, self._sure_store(act.__name__, order.workflow_id)))
            for act in (() if self.scenario.plain else (move_at_times, watch_at_times))
            for order in self.scenario.orders
        ]
        bystanders.append(asyncio.create_task(self.fail_over.come()))
        strangers, persons = self._strangers(), self._persons()
        persons.come()
        staff = self.staffed(strangers)
        self.lives = [
            WorkerLife(
                crew,
                self.server,
                self.weather,
                random.Random(self.rng.getrandbits(64)),
                staff=staff,
                on_defect=self.witness.defect,
                objects=self.objects,
            )
            for crew in self.scenario.crews
        ]
        living = [asyncio.create_task(life.live()) for life in self.lives]
        self.ended_in_time = await self._until(
            lambda: all(client.done() for client in clients) and self._all_retired(),
            self.scenario.chaos_s,
        ) or await self._calm_until_ended(clients)
        self.weather.calm()
        await self._until(self._is_quiet, _QUIET_S)
        for life in self.lives:
            life.retire()
        for task in (*clients, *bystanders):
            task.cancel()
        outcomes = await asyncio.gather(*living, *clients, *bystanders, return_exceptions=True)
        await strangers.go()
        await persons.go()
        await self.server.end()
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                self.witness.defect(f"a client or worker broke: {outcome!r}")

    async def _calm_until_ended(self, clients: list[asyncio.Task[None]]) -> bool:
        self.weather.calm()
        return await self._until(
            lambda: all(client.done() for client in clients) and self._all_retired(),
            self.patience_s(),
        )

    def patience_s(self) -> float:
        """How many seconds the calm may last until every run must be over."""
        return _PATIENCE_S

    def staffed(self, strangers: Strangers) -> Staff:
        """Who does the Tasks; ``strangers`` answer those that wait for their token."""
        sites = {order.workflow_id: order.sites for order in self.scenario.orders}
        return SimulatedStaff(sites, self.ledger, strangers, self.witness.dispatched, self.shelf)

    def skip(self) -> float:
        """How many seconds pass at once, since nothing but time can move anything."""
        return 0.0

    def _orders(self) -> range:
        return range(len(self.scenario.orders))

    async def _client(self, number: int) -> None:
        order = self.scenario.orders[number]
        rng = random.Random(self.rng.getrandbits(64))
        await Client(order, self._opener(f"client-{number}", rng), rng, self.fail_over).act()

    def _strangers(self) -> Strangers:
        rng = random.Random(self.rng.getrandbits(64))
        return Strangers(self._opener("stranger", rng), rng, self.witness.defect, self.fail_over)

    def _persons(self) -> Persons:
        rng = random.Random(self.rng.getrandbits(64))
        orders = {order.workflow_id: order for order in self.scenario.orders}
        open_store = self._opener("person", rng)
        return Persons(orders, open_store, rng, self.witness.defect, self.fail_over)

    def _sure_store(self, name: str, run: str) -> Store:
        tokens = tokens_of(f"{name} {run}")
        return Store(SureBackend(self.server, name), pool=POOL, tokens=tokens)

    def _opener(self, name: str, rng: random.Random) -> Callable[[], Store]:
        """Opens stores of somebody who never dies."""
        process = Process(name)

        def open_store() -> Store:
            backend = FaultyBackend(self.server, self.weather, process, mortal=False)
            return Store(backend, pool=POOL, tokens=lambda: f"{rng.getrandbits(128):032x}")

        return open_store

    async def _until(self, reached: Condition, seconds: float) -> bool:
        """Wait until ``reached``, at most ``seconds``; whether it was."""
        deadline = self.loop.time() + seconds
        while not reached():
            if self.loop.time() >= deadline or self.server.calls >= _MOST_CALLS:
                return False
            if self.witness.saw(self.until):
                return False
            await asyncio.sleep(_LOOK_S)
            deadline += self.skip()
        return True

    def _all_retired(self) -> bool:
        """Whether every run was submitted, is over and left the index."""
        if at_once(self.server.twin.command("ZCARD", INDEX)):
            return False
        metas = [RunKeys(order.workflow_id).meta for order in self.scenario.orders]
        return bool(at_once(self.server.twin.command("EXISTS", *metas)) == len(metas))

    def _is_quiet(self) -> bool:
        """Whether no hint is queued or in anybody's hands."""
        stream = redis_keys.queue(POOL)
        if self.server.hints_under_way:
            return False
        if at_once(self.server.twin.command("XLEN", stream)):
            return False
        pending = at_once(self.server.twin.command("XPENDING", stream, GROUP))
        return not pending[0]
