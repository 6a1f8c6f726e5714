"""A session with companions, in a world of its own: hosts die, stop and are cut off while a
conductor orders, takes back and ends."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection

from control_plane import INDEX, Store, read_record_history
from dcf.sessions import Session
from dcf.simulation.agents import Execution
from dcf.simulation.conductor import SESSION, Conductor
from dcf.simulation.host_life import Doing, HostLife, sessions_of
from dcf.simulation.model import Model
from dcf.simulation.network import FaultyBackend, SureBackend, tokens_of
from dcf.simulation.process import Process
from dcf.simulation.records import Records
from dcf.simulation.server import EXAMINER, POOL, Sabotage, Server
from dcf.simulation.session_check import Left, check_session
from dcf.simulation.violation import Guarantee, Violation
from dcf.simulation.virtual_loop import Stuck, VirtualLoop, at_once, run_virtually
from dcf.simulation.weather import Weather
from dcf.simulation.witness import Witness

_SHARE = 0.2
"""Under this share of the seeds there is a session."""
_TTL_S = 5.0
_CHAOS_S = (10.0, 40.0)
_PATIENCE_S = 400.0
_LOOK_S = 1.0
_MOST_CALLS = 20_000


class SessionScene:
    """The session of a seed. It ends ``until`` one of these guarantees is seen to be broken.
    ``deaths`` counts the crashes of its hosts, once it was played."""

    def __init__(
        self, seed: int, steps: int, sabotage: Sabotage | None, until: Collection[Guarantee]
    ) -> None:
        self._rng = rng = random.Random(f"session {seed}")
        self._until = until
        refusals = random.Random(f"session refusals {seed}")
        self._loop = VirtualLoop()
        self._weather = Weather(random.Random(rng.getrandbits(64)), refusals=refusals, ttl_s=_TTL_S)
        self._witness = Witness(lambda: records, lambda: model)
        self.server = Server(
            self._loop, self._weather, steps=steps, watcher=self._witness, sabotage=sabotage
        )
        records, model = Records(self.server.twin), Model(self.server.twin)
        self._does = {
            f"order-{number}": Doing(rng.choice((0.1, 1.0, 3.0, 9.0)), fails=rng.random() < 0.15)
            for number in range(rng.randint(3, 7))
        }
        self._ledger: list[Execution] = []
        self._found: list[Violation] = []
        self.deaths = 0

    @staticmethod
    def happens(seed: int) -> bool:
        """Whether there is a session under ``seed``."""
        return random.Random(f"sessions {seed}").random() < _SHARE

    @property
    def violations(self) -> list[Violation]:
        """What is known by now; the last of it when its garbage was collected."""
        return [*self._witness.violations, *self._found]

    @property
    def orders(self) -> int:
        """How many the conductor gives."""
        return len(self._does)

    def play(self) -> None:
        """Let it happen, and look at what it left."""

        def note_defect(_: object, context: dict[str, object]) -> None:
            self._witness.defect(f"{context['message']}: {context.get('exception')!r}")

        self._loop.set_exception_handler(note_defect)
        left: Left | None = None
        try:
            left = run_virtually(self._loop, self._run())
        except Stuck as stuck:
            self._witness.defect(str(stuck))
        if left is not None:
            self._found += check_session(left, self._does, self._ledger)
        elif not self._witness.saw(self._until):
            self._found.append(Violation("ends", "", "the session did not end in time"))

    async def _run(self) -> Left | None:
        """What is left when all is over; None where it does not end."""
        rng = self._rng
        conductor = Conductor(sessions_of(self._store(), rng), rng, self._does)
        conducting = asyncio.create_task(conductor.act())
        lives = [
            HostLife(
                f"h{number}",
                self.server,
                self._weather,
                random.Random(rng.getrandbits(64)),
                does=self._does,
                ledger=self._ledger,
                on_defect=self._witness.defect,
            )
            for number in range(2)
        ]
        living = [asyncio.create_task(life.live()) for life in lives]
        chaos_s = rng.uniform(*_CHAOS_S)
        over = await self._wait(conducting, chaos_s)
        self._weather.calm()
        over = over or await self._wait(conducting, _PATIENCE_S)
        for life in lives:
            life.retire()
        conducting.cancel()
        outcomes = await asyncio.gather(*living, conducting, return_exceptions=True)
        await self.server.end()
        self.deaths = sum(life.deaths for life in lives)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                self._witness.defect(f"a host or the conductor broke: {outcome!r}")
        session = outcomes[-1]
        return (
            await self._left(conductor, session) if isinstance(session, Session) and over else None
        )

    async def _wait(self, conducting: asyncio.Task[Session], seconds: float) -> bool:
        """Until the session and all its runs are over, at most so long; whether they are."""
        deadline = self._loop.time() + seconds
        while not (conducting.done() and not at_once(self.server.twin.command("ZCARD", INDEX))):
            late = self._loop.time() >= deadline or self.server.calls >= _MOST_CALLS
            if late or self._witness.saw(self._until):
                return False
            await asyncio.sleep(_LOOK_S)
        return True

    def _store(self) -> Store:
        """The conductor's, who never dies."""
        backend = FaultyBackend(self.server, self._weather, Process("conductor"), mortal=False)
        return Store(backend, pool=POOL, tokens=lambda: f"{self._rng.getrandbits(128):032x}")

    async def _left(self, conductor: Conductor, session: Session) -> Left:
        sure = Store(SureBackend(self.server, EXAMINER), pool=POOL, tokens=tokens_of(EXAMINER))
        sessions = sessions_of(sure, self._rng)
        tasks = {task.task_id: task for task in await sessions.tasks(SESSION)}
        events = [told.event async for told in read_record_history(sessions.records, SESSION)]
        runs = {run.workflow_id: run for run in await sure.run_many(list(tasks))}
        return Left(conductor.accepted, conductor.late, session.state, tasks, events, runs)
