"""A finished run is removed, put back and swept by several at once, in a world of its own: calls
and answers are lost, the server refuses, processes die between two calls, a replica forgets."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from control_plane import (
    INDEX,
    ControlPlaneError,
    Disconnected,
    FirstState,
    RestoreLost,
    RunExists,
    RunExport,
    RunKeys,
    Store,
    export_run,
    payload,
    restore_run,
    timers,
)
from dcf.simulation.fail_over import FailOver
from dcf.simulation.model import Model
from dcf.simulation.network import FaultyBackend, SureBackend, tokens_of
from dcf.simulation.process import Process
from dcf.simulation.records import Records
from dcf.simulation.removal_check import traces
from dcf.simulation.server import EXAMINER, POOL, Call, Sabotage, Server
from dcf.simulation.violation import Guarantee, Violation
from dcf.simulation.virtual_loop import Stuck, VirtualLoop, at_once, run_virtually
from dcf.simulation.weather import Weather
from dcf.simulation.witness import Witness
from dcf.workflow import finalize

_RUN = "put-away"
_KEYS = RunKeys(_RUN)
_META = {"workflow_name": "put away", "pool": POOL, "definition": "", "start_at": "A", "input": 1}
_SHARE = 0.3
"""Under this share of the seeds it happens."""
_CHAOS_S, _PATIENCE_S, _LOOK_S = 400.0, 400.0, 5.0
_MOST_CALLS = 20_000
# So few that a removal and a restore are many calls each, between which others come.
_TOGETHER = 3
# The longest is longer than a removal waits for a sweep.
_PAUSES_S = (0.0, 0.0, 0.01, 3.0, 90.0)
_REBIRTHS_S = (0.5, 5.0, 90.0)
_FORGETFUL = 0.4
Act = Callable[[Store], Awaitable[Any]]


class RemovalScene:
    """What happens to the run after its end. ``server`` tells the trace."""

    def __init__(
        self, seed: int, steps: int, sabotage: Sabotage | None, until: Collection[Guarantee]
    ) -> None:
        self._rng = rng = random.Random(f"removal {seed}")
        self._until = until
        self._loop = VirtualLoop()
        refusals = random.Random(f"removal refusals {seed}")
        self._weather = Weather(random.Random(rng.getrandbits(64)), refusals=refusals, ttl_s=5.0)
        self._witness = Witness(lambda: records, lambda: model)
        self.server = Server(
            self._loop, self._weather, steps=steps, watcher=self, sabotage=sabotage
        )
        records, model = Records(self.server.twin), Model(self.server.twin)
        away = random.Random(f"removal fail-over {seed}")
        self._fail_over = FailOver(away, self.server, self._weather, self._witness)
        self._fail_over.happens = away.random() < _FORGETFUL
        self._sure = Store(SureBackend(self.server, EXAMINER), pool=POOL, tokens=tokens_of(_RUN))
        self._whole: dict[str, Any] | None = None
        self._found: list[Violation] = []

    @staticmethod
    def happens(seed: int) -> bool:
        """Whether a run is removed in this way under ``seed``."""
        return random.Random(f"removals {seed}").random() < _SHARE

    def called(self, call: Call) -> None:
        """See ``server.Watcher``."""
        self._witness.called(call)
        self._look()

    def failed(self, call: Call, error: ControlPlaneError) -> None:
        """See ``server.Watcher``."""
        self._witness.failed(call, error)

    def commanded(self, name: str, args: Sequence[str]) -> None:
        """See ``server.Watcher``."""
        self._witness.commanded(name, args)

    @property
    def faults(self) -> Counter[str]:
        """What went wrong, by kind."""
        seen = Counter({str(kind): count for kind, count in self._weather.seen.items()})
        seen["fail-over"] = self._fail_over.number
        return seen

    @property
    def violations(self) -> list[Violation]:
        """What is known by now."""
        return [*self._witness.violations, *self._found]

    def play(self) -> None:
        """Let it happen, and look at what it left."""
        try:
            run_virtually(self._loop, self._run())
        except Stuck as stuck:
            self._witness.defect(str(stuck))

    async def _run(self) -> None:
        export = await self._ended()
        self._whole = traces(self.server.twin, _RUN)
        acts: dict[str, Act] = {
            "remover": lambda store: store.remove(_RUN, together=_TOGETHER),
            "restorer-1": lambda store: _restore(store, export),
            "restorer-2": lambda store: _restore(store, export),
            "sweeper-1": _sweep,
            "sweeper-2": _sweep,
        }
        living = [asyncio.create_task(self._live(name, act)) for name, act in acts.items()]
        living.append(asyncio.create_task(self._fail_over.come()))
        await self._wait(_CHAOS_S, lambda: self._weather.is_calm)
        self._weather.calm()
        for task in living:
            task.cancel()
        for outcome in await asyncio.gather(*living, return_exceptions=True):
            if isinstance(outcome, Exception):
                self._witness.defect(f"who removes or puts back broke: {outcome!r}")
        await self.server.end()
        self.server.accept()
        if not self._saw_enough():
            await self._settle()

    async def _ended(self) -> RunExport:
        """A run with documents of several kinds, which is over and sealed."""
        store = self._sure
        first = FirstState("A", "Task", payload.encode(1))
        states = [(name, "Task") for name in "ABCDEF"]
        meta = _META | {"workflow_id": _RUN}
        await store.seed(_RUN, digest="d", meta=meta, start=first, states=states)
        for text in ('"large"', '"larger"'):
            await store.call("blob", _RUN, {"blob": payload.digest(text)}, text)
        await store.cancel(_RUN, by="ada")
        await finalize(store, _RUN, by="ada")
        return await export_run(store, _RUN)

    async def _live(self, name: str, act: Act) -> None:
        """One process after another, each until it dies."""
        rng = random.Random(self._rng.getrandbits(64))
        while True:
            process = Process(name)
            backend = FaultyBackend(self.server, self._weather, process, mortal=True)
            store = Store(backend, pool=POOL, tokens=lambda: f"{rng.getrandbits(128):032x}")
            task = process.start(_again_and_again(store, act, process, rng))
            try:
                await asyncio.wait([task])
            finally:
                task.cancel()
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error
            await asyncio.sleep(rng.choice(_REBIRTHS_S))

    async def _settle(self) -> None:
        """Nobody but a sweep comes any more."""

        def settled() -> bool:
            return not at_once(self.server.twin.command("ZCARD", INDEX))

        deadline = self._loop.time() + _PATIENCE_S
        while not settled() and self._loop.time() < deadline:
            await _sweep(self._sure)
            await asyncio.sleep(_LOOK_S)
        if not settled():
            self._found.append(Violation("ends", _RUN, "it stays in the index of active runs"))

    async def _wait(self, seconds: float, enough: Callable[[], bool]) -> None:
        deadline = self._loop.time() + seconds
        while self._loop.time() < deadline and not enough():
            if self._saw_enough() or self.server.calls >= _MOST_CALLS:
                return
            await asyncio.sleep(_LOOK_S)

    def _look(self) -> None:
        """At every moment the run is there as it was, or is being removed, or left nothing."""
        if self._whole is None or self._found:
            return
        now = traces(self.server.twin, _RUN)
        if now.get(_KEYS.meta, {}).get("ctl", {}).get("removing"):
            return
        names = self._whole.keys() | now
        if now and (
            changed := sorted(one for one in names if self._whole.get(one) != now.get(one))
        ):
            seen = f"it is neither as it was, nor gone, nor being removed: {changed}"
            self._found.append(Violation("removed", _RUN, seen))

    def _saw_enough(self) -> bool:
        return any(seen.guarantee in self._until for seen in self.violations)


async def _again_and_again(store: Store, act: Act, process: Process, rng: random.Random) -> None:
    while True:
        try:
            await act(store)
        except Disconnected:
            # It may have happened; the next time finds out.
            await process.sleep(0.3)
        await process.sleep(rng.choice(_PAUSES_S) + rng.uniform(0.001, 0.02))


async def _restore(store: Store, export: RunExport) -> None:
    try:
        await restore_run(store, export, together=_TOGETHER)
    except (RunExists, RestoreLost):
        # Somebody else was quicker, or removed it meanwhile.
        return


async def _sweep(store: Store) -> None:
    swept = await timers.sweep(store)
    for workflow_id in swept.removing:
        await store.remove(workflow_id, together=_TOGETHER)
    for workflow_id in swept.over:
        await finalize(store, workflow_id, by="sweep")
