"""Host after host of companions: the production code in a simulated process, started again when it
died."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from control_plane import SessionStore, Store
from dcf.sessions import Sessions
from dcf.sessions.companions import CompanionHost, HostConfig, Inboxes, Roster
from dcf.simulation.agents import Execution
from dcf.simulation.network import FaultyBackend
from dcf.simulation.process import Process
from dcf.simulation.server import POOL, Server
from dcf.simulation.weather import Weather
from dcf.worker import Beat, LeaseKeeper, Performer, Worker, WorkerConfig
from dcf.workflow import Choreographer, Failed, Outcome, Succeeded, Task

_AGAIN_S = (0.1, 2.0, 10.0, 40.0)
_CONFIG = WorkerConfig(ttl_ms=5_000, drain_s=1.0, sweep_s=1.0)


@dataclass(frozen=True, slots=True)
class Doing:
    """What the work of an order takes, in virtual seconds, and whether it fails."""

    seconds: float
    fails: bool

    def outcome(self, task_id: str) -> Outcome:
        if self.fails:
            return Failed("Sim.Broken", f"{task_id} cannot be done")
        return Succeeded({"did": task_id}, summary=f"{task_id} is done")


def sessions_of(store: Store, rng: random.Random) -> Sessions:
    """The sessions of ``store``, whose pauses are drawn from ``rng``, by virtual time."""
    records = SessionStore(
        store.backend,
        tokens=store.new_id,
        jitter=rng.random,
        clock_s=asyncio.get_running_loop().time,
    )
    return Sessions(store, records=records)


class HostLife:
    """Keeps one host at work until ``retire``. ``ledger`` gets each execution as it begins.
    ``deaths`` counts its crashes."""

    def __init__(
        self,
        name: str,
        server: Server,
        weather: Weather,
        rng: random.Random,
        *,
        does: Mapping[str, Doing],
        ledger: list[Execution],
        on_defect: Callable[[str], None],
    ) -> None:
        self._name = name
        self._server = server
        self._weather = weather
        self._rng = rng
        self._does = does
        self._ledger = ledger
        self._on_defect = on_defect
        self._host: CompanionHost | None = None
        self._retiring = False
        self.deaths = 0

    async def live(self) -> None:
        """One incarnation after another."""
        number = 0
        while not self._retiring:
            number += 1
            process = Process(f"{self._name}.{number}", skew_s=self._rng.uniform(-9_999, 9_999))
            await self._incarnation(process)
            if process.dead:
                self.deaths += 1
                await asyncio.sleep(self._rng.choice(_AGAIN_S))

    def retire(self) -> None:
        """No more incarnations; the present one drains."""
        self._retiring = True
        if self._host is not None:
            self._host.drain()

    async def _incarnation(self, process: Process) -> None:
        rng = random.Random(self._rng.getrandbits(64))

        def backend() -> FaultyBackend:
            return FaultyBackend(self._server, self._weather, process, mortal=True)

        def opened() -> Store:
            return Store(backend(), pool=POOL, tokens=lambda: f"{rng.getrandbits(128):032x}")

        store = opened()
        sessions = sessions_of(store, rng)
        roster, inboxes = Roster(sessions), Inboxes(backend, consumer=process.name)
        keeper = LeaseKeeper(opened(), now=process.now)
        most = self._rng.choice((1, 2, 9))
        worker = Worker(
            process.name,
            store,
            inboxes,
            keeper,
            Choreographer(store, rng=rng),
            Performer(agents=_Agents(process, self._does, self._ledger)),
            now=process.now,
            config=replace(_CONFIG, concurrency=most),
            on_sealed=lambda run: process.start(roster.ended(run)),
            turn=roster.turn,
        )
        config = HostConfig(most=most, look_s=1.0)
        host = CompanionHost(
            sessions, roster, inboxes, None, worker, config=config, now=process.now
        )
        self._host = host
        keeping, serving = process.start(keeper.run()), process.start(host.run())
        if self._retiring:
            host.drain()
        await asyncio.wait([keeping, serving], return_when=asyncio.FIRST_COMPLETED)
        for task, what in ((serving, "a host"), (keeping, "its keeper")):
            if task.done() and not task.cancelled() and (error := task.exception()):
                self._on_defect(f"{what} ended with {error!r}")
        for task in (keeping, serving):
            task.cancel()
        await process.join()
        await inboxes.close()


@dataclass(frozen=True, slots=True)
class _Agents:
    """Does what companions are given, in a simulated process."""

    process: Process
    does: Mapping[str, Doing]
    ledger: list[Execution]

    async def perform(self, task: Task, _beat: Beat) -> Outcome:
        """The outcome of ``task``."""
        lease, who = task.lease, f"{self.process.name}/{task.lease.owner}"
        self.ledger.append(Execution.under(lease, who))
        doing = self.does[lease.workflow_id]
        await self.process.sleep(doing.seconds)
        return doing.outcome(lease.workflow_id)
