"""Worker after worker: the production code in a simulated process, started again when it died."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from control_plane import HintQueue, Store
from dcf.simulation.network import FaultyBackend, SureBackend, tokens_of
from dcf.simulation.process import Process
from dcf.simulation.scenario import Crew
from dcf.simulation.server import POOL, Server
from dcf.simulation.staff import Staff
from dcf.simulation.weather import Weather
from dcf.worker import LeaseKeeper, Worker
from dcf.workflow import Choreographer, Objects

OnDefect = Callable[[str], None]


class WorkerLife:
    """Keeps one worker of ``crew`` at work until ``retire``. ``crashes`` are the moments
    and names of the incarnations that died."""

    def __init__(
        self,
        crew: Crew,
        server: Server,
        weather: Weather,
        rng: random.Random,
        *,
        staff: Staff,
        on_defect: OnDefect,
        objects: Objects | None,
    ) -> None:
        self._crew = crew
        self._server = server
        self._weather = weather
        self._rng = rng
        self._staff = staff
        self._on_defect = on_defect
        self._objects = objects
        self._retiring = asyncio.Event()
        self._worker: Worker | None = None
        self.crashes: list[tuple[float, str]] = []
        self.drains = 0

    async def live(self) -> None:
        """One incarnation after another."""
        number = 0
        while not self._retiring.is_set():
            number += 1
            process = Process(f"{self._crew.name}.{number}", skew_s=self._crew.skew_s)
            await self._incarnation(process, number)
            if process.dead:
                self.crashes.append((asyncio.get_running_loop().time(), process.name))
                await asyncio.sleep(self._rng.choice((0.1, 2.0, 10.0)))

    def retire(self) -> None:
        """No more incarnations; the present one drains."""
        self._retiring.set()
        if self._worker is not None:
            self._worker.drain()

    async def _incarnation(self, process: Process, number: int) -> None:
        rng = random.Random(self._rng.getrandbits(64))
        store = self._store(process, rng)
        keeper = LeaseKeeper(self._store(process, rng), now=process.now)
        sure = Store(
            SureBackend(self._server, process.name), pool=POOL, tokens=tokens_of(process.name)
        )
        async with self._staff.employed(process, store, sure) as performer:
            worker = Worker(
                process.name,
                store,
                HintQueue(self._backend(process), pool=POOL, consumer=process.name),
                keeper,
                Choreographer(store, rng=rng, objects=self._objects),
                performer,
                now=process.now,
                config=self._crew.config,
            )
            self._worker = worker
            keeping = process.start(keeper.run())
            working = process.start(worker.run())
            if number == 1 and self._crew.drain_after_s is not None:
                asyncio.get_running_loop().call_later(self._crew.drain_after_s, worker.drain)
            if self._retiring.is_set():
                worker.drain()
            await asyncio.wait([keeping, working], return_when=asyncio.FIRST_COMPLETED)
            for task, what in ((working, "a worker"), (keeping, "a keeper")):
                if task.done() and not task.cancelled() and (error := task.exception()):
                    self._on_defect(f"{what} ended with {error!r}")
            if not process.dead:
                self.drains += 1
            for task in (keeping, working):
                task.cancel()
            await process.join()

    def _store(self, process: Process, rng: random.Random) -> Store:
        return Store(
            self._backend(process), pool=POOL, tokens=lambda: f"{rng.getrandbits(128):032x}"
        )

    def _backend(self, process: Process) -> FaultyBackend:
        return FaultyBackend(self._server, self._weather, process, mortal=True)
