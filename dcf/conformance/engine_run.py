"""The engine as an executor: submission, workers, leases, commits and timers, on virtual time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Literal

from control_plane import Backend, HintQueue, RunKeys, Store, timers
from control_plane.twin import Twin
from dcf import asl
from dcf.conformance.engine_backend import ClockedRedis, Observed
from dcf.conformance.engine_loop import EngineLoop
from dcf.conformance.engine_server import OwnServer
from dcf.conformance.engine_tasks import CalledTasks
from dcf.conformance.executor import Executor, Job, Outcome, OutcomeStatus
from dcf.worker import LeaseKeeper, Worker, WorkerConfig
from dcf.workflow import Choreographer, Objects, document_of, result, submit

_YEAR_S = 365.0 * 24 * 3600
# What is not over by then never ends: nothing on AWS runs longer than a year.
_HORIZON_S = 100 * _YEAR_S
_WORKERS = 2
# A lease outlives the run: what becomes of lost leases is for the simulation.
_CONFIG = WorkerConfig(
    concurrency=256, ttl_ms=int(_YEAR_S * 1000), drain_s=1.0, sweep_s=_YEAR_S, hop_s=_YEAR_S
)
_NEVER_ENDS = "a task never answers and nothing limits its time"
_STATUS: Mapping[str, OutcomeStatus] = {
    "succeeded": "SUCCEEDED",
    "failed": "FAILED",
    "timed_out": "TIMED_OUT",
    "cancelled": "ABORTED",
}


class EngineStuck(Exception):
    """The engine lost a timer or a hint: a defect that no outcome may hide."""


def open_engine(engine: Literal["twin", "redis"]) -> Executor:
    """The engine on the in-process twin, or on a Redis server of its own."""
    return EngineExecutor(None) if engine == "twin" else EngineExecutor(OwnServer())


class EngineExecutor:
    """Runs jobs through the engine: on ``server``, or on a twin."""

    def __init__(self, server: OwnServer | None) -> None:
        self._server = server
        self._loop = EngineLoop()
        self._base_us = 0
        self._ids = itertools.count(1)
        twin = Twin(self._clock, strict_keys=False)
        self._empty = twin.snapshot()
        self._backend: Backend = twin
        if server is not None:
            self._backend = ClockedRedis.at(server.url, self._clock)
            # What a case leaves behind is worth nothing.
            self._loop.run_until_complete(self._command("CONFIG", "SET", "appendonly", "no"))

    def execute(self, job: Job) -> Outcome:
        """See ``Executor.execute``."""
        return self._loop.run_until_complete(self._execute(job))

    def close(self) -> None:
        """See ``Executor.close``."""
        with self._loop.calling():
            self._loop.run_until_complete(self._backend.close())
        self._loop.close()
        if self._server is not None:
            self._server.stop()

    def _clock(self) -> int:
        return self._base_us + round(self._loop.now * 1_000_000)

    async def _command(self, *args: str | int) -> Any:
        with self._loop.calling():
            return await self._backend.command(*args)

    async def _execute(self, job: Job) -> Outcome:
        if isinstance(self._backend, Twin):
            self._backend.restore(self._empty)
        else:
            await self._command("FLUSHDB")
        self._base_us = round(job.started_at * 1_000_000) - round(self._loop.now * 1_000_000)
        name = f"case-{next(self._ids)}"
        observed = Observed(self._backend, self._loop)
        return await EngineRun(name, job, observed, self._loop, self._clock).outcome()


class _JobNames:
    """Names the run as its job wants."""

    def __init__(self, context: Mapping[str, Any]) -> None:
        self._context = context

    def identify(self, _workflow_id: str, context: dict[str, Any]) -> dict[str, Any]:
        return context | dict(self._context)


class EngineRun:
    """One job on its way through the engine."""

    def __init__(
        self,
        name: str,
        job: Job,
        backend: Observed,
        loop: EngineLoop,
        clock: Callable[[], int],
    ) -> None:
        self._name = name
        self._clock = clock
        self._job = job
        self._backend = backend
        self._loop = loop
        self._rng = Random(job.seed)
        self._store = Store(backend, tokens=lambda: f"{self._rng.getrandbits(128):032x}")
        self._tasks = CalledTasks(job.call_task, self._store)
        self._defects: list[BaseException] = []
        self._stuck = asyncio.Event()
        self._began = loop.now
        self._timer: asyncio.TimerHandle | None = None
        self._looks: set[asyncio.Task[Any]] = set()

    async def outcome(self) -> Outcome:
        """Run the job to its end. Raises what breaks inside a worker."""
        self._loop.set_exception_handler(self._note_defect)
        self._loop.on_idle = self._on_idle
        try:
            document = document_of(self._job.definition, name="machine")
            await submit(self._store, document, self._job.input, workflow_id=self._name)
            await self._work()
        finally:
            self._loop.on_idle = lambda _: False
            if self._timer is not None:
                self._timer.cancel()
            await self._tasks.stop()
        if self._defects:
            raise self._defects[0]
        if not self._backend.over.is_set():
            if not self._tasks.endless or "TimeoutSeconds" in self._job.definition:
                raise EngineStuck(f"nothing happens any more in {self._name}, and it is not over")
            return Outcome("TIMED_OUT", None, "States.Timeout", _NEVER_ENDS)
        end = await result(self._store, self._name)
        failure = end.failure
        return Outcome(
            _STATUS[end.status],
            end.output,
            failure.error if failure else None,
            failure.cause if failure else None,
        )

    async def _work(self) -> None:
        """Let workers work until the run is over, or nothing can happen any more."""
        keeper = LeaseKeeper(self._store, now=self._loop.time, longest_nap_s=_YEAR_S)
        keeping = asyncio.ensure_future(keeper.run())
        workers = [self._worker(f"w{number}", keeper) for number in range(_WORKERS)]
        working = [asyncio.ensure_future(worker.run()) for worker in workers]
        ends = [asyncio.ensure_future(event.wait()) for event in (self._backend.over, self._stuck)]
        try:
            await asyncio.wait([*ends, *working, keeping], return_when=asyncio.FIRST_COMPLETED)
            for worker in workers:
                worker.drain()
            await asyncio.gather(*working)
        finally:
            for task in (keeping, *ends, *working):
                task.cancel()
            await asyncio.gather(keeping, *ends, *working, return_exceptions=True)

    def _worker(self, name: str, keeper: LeaseKeeper) -> Worker:
        objects = Objects(asl.MemoryObjects(self._job.objects), in_memory=True)
        return Worker(
            name,
            self._store,
            HintQueue(self._backend, pool=self._store.pool, consumer=name),
            keeper,
            Choreographer(
                self._store, rng=self._rng, objects=objects, aws_limits=self._job.aws_limits
            ),
            self._tasks,
            now=self._loop.time,
            config=_CONFIG,
            naming=_JobNames(self._job.context),
        )

    def _on_idle(self, seconds: float | None) -> bool:
        """Before time jumps: see to it that it stops where something is due."""
        if self._backend.changed:
            self._backend.changed = False
            self._start(self._look())
            return True
        if seconds is not None and self._loop.now - self._began < _HORIZON_S:
            return False
        was_told = self._stuck.is_set()
        self._stuck.set()
        return not was_told

    async def _look(self) -> None:
        """Set the timer to the next moment that time can move something."""
        due = RunKeys(self._name).due
        head = await self._backend.command("ZRANGE", due, 0, 0, "WITHSCORES")
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if head:
            delay_s = max(0.0, (float(head[1]) * 1000 - self._clock()) / 1_000_000)
            self._timer = self._loop.call_later(delay_s, self._tick)

    def _tick(self) -> None:
        self._start(timers.tick(self._store, self._name))

    def _start(self, work: Any) -> None:
        look = asyncio.ensure_future(work)
        self._looks.add(look)
        look.add_done_callback(self._looked)

    def _looked(self, look: asyncio.Task[Any]) -> None:
        self._looks.discard(look)
        if not look.cancelled() and (error := look.exception()) is not None:
            self._defects.append(error)
            self._stuck.set()

    def _note_defect(self, _loop: object, context: dict[str, Any]) -> None:
        self._defects.append(context.get("exception") or RuntimeError(context["message"]))
        self._stuck.set()
