"""An ephemeral worker: takes ready states, leases them, does the work, commits, goes on.

Workers are equal and know nothing of each other. Besides its own work each one sweeps now and then,
which brings back what a lost hint or a dead worker left behind.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from control_plane import (
    DEFAULT_TTL_MS,
    Alone,
    Committed,
    ControlPlaneError,
    Disconnected,
    Hint,
    Lease,
    MissingBlob,
    Refusal,
    RefusedForGood,
    Store,
    WrongType,
    timers,
)
from dcf.asl import DefinitionError
from dcf.stopping import stop
from dcf.worker.keeper import LeaseKeeper
from dcf.worker.kept_work import KeptLease
from dcf.worker.lease_lost import GivenBack, LeaseLost
from dcf.worker.patience import Outage, patiently
from dcf.worker.performer import AgentPerformer
from dcf.worker.sweeper import Sweeper
from dcf.workflow import Choreographer, Naming, Outcome, RunCache, Task

log = logging.getLogger(__name__)

_RECONNECT_S = 0.25
# Work that does not even end when it is cancelled is not waited for longer than this.
_CANCELLING_S = 1.0
# Processes for one state each, of those that a worker died over.
_MOST_SOLO = 4


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """``concurrency`` states at a time; in place at most ``hops`` states or ``hop_s`` seconds, then
    others get a turn; a draining worker gives unfinished work back after ``drain_s`` seconds; it
    sweeps at least every ``sweep_s`` seconds."""

    concurrency: int = 8
    ttl_ms: int = DEFAULT_TTL_MS
    hops: int = 50
    hop_s: float = 1.0
    drain_s: float = 10.0
    sweep_s: float = 0.25


class Hints(Protocol):
    """Where a worker's hints come from: a queue of Redis, or what reads many of them."""

    async def open(self) -> None: ...

    async def read(self, count: int) -> list[Hint]:
        """Up to ``count`` new hints, or fewer, or none; it may wait for the first."""
        ...

    async def drop_stale(self) -> int: ...


Turn = Callable[[Hint], AbstractAsyncContextManager[str | None]]
"""In whose name a hinted state is worked on, once it is that one's turn; None for nobody's."""


class Solo(Protocol):
    """A process for nothing but the state of one lease."""

    async def __call__(self, lease: Lease) -> str | None:
        """Have it worked on; how the process died, or None where it did not begin, or ended in
        order."""
        ...

    async def close(self) -> None: ...


class Solos(Protocol):
    """Where such processes come from."""

    async def start(self, state: str) -> Solo | None:
        """One that is up, for ``state``; None, after a while, where none comes up."""
        ...


class Worker:
    """One worker. ``now`` is a monotonic clock in seconds; ``queue`` has a backend of its own;
    ``on_sealed`` is told of each run that this worker seals. With ``turn`` it works in the name of
    several, otherwise in its own. States that a worker died over are worked on one at a time: by
    ``solo``, or without one here."""

    def __init__(
        self,
        name: str,
        store: Store,
        queue: Hints,
        keeper: LeaseKeeper,
        choreographer: Choreographer,
        performer: AgentPerformer,
        *,
        now: Callable[[], float],
        config: WorkerConfig | None = None,
        naming: Naming | None = None,
        on_sealed: Callable[[str], object] | None = None,
        turn: Turn | None = None,
        solo: Solos | None = None,
    ) -> None:
        self._name = name
        self.config = config or WorkerConfig()
        self._store = store
        self._queue = queue
        self._keeper = keeper
        self._choreographer = choreographer
        self._performer = performer
        self._now = now
        self._runs = RunCache(store, naming)
        self.outage = Outage(name, now)
        self._sweeper = Sweeper(
            name,
            store,
            queue,
            now=now,
            every_s=self.config.sweep_s,
            on_sealed=on_sealed,
            on_swept=self.outage.over,
        )
        self._turn = turn or self._own_turn
        self._solo = solo
        self._suspects: dict[tuple[str, str], Hint] = {}
        self._suspected = asyncio.Event()
        self._slots = asyncio.Semaphore(self.config.concurrency)
        self._draining = asyncio.Event()
        # Insertion-ordered, so that one seed of the simulation gives one history.
        self._working: dict[asyncio.Task[None], None] = {}
        self._held: dict[asyncio.Task[None], Lease] = {}
        self._giving_back = False
        self._unusable: RefusedForGood | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def busy(self) -> int:
        """How many states are in work."""
        return len(self._working)

    @property
    def held(self) -> list[str]:
        """The states in work, each with its run."""
        return [f"{lease.path} of {lease.workflow_id}" for lease in tuple(self._held.values())]

    @property
    def is_draining(self) -> bool:
        """Whether it takes nothing more."""
        return self._draining.is_set()

    async def seal(self, workflow_id: str) -> None:
        """Seal the run if it is over; one that is not stays as it is."""
        await self._sweeper.finalize(workflow_id)

    def drain(self) -> None:
        """Take nothing more; ``run`` returns when what is in work is done or given back."""
        self._draining.set()

    async def run(self) -> None:
        """Work until ``drain``, or until leases can no longer be kept. Raises RefusedForGood and
        WrongType where Redis is not one to work with."""
        home = asyncio.get_running_loop()
        # The keeper may run in another thread.
        self._keeper.on_failure = lambda: home.call_soon_threadsafe(self.drain)
        loops = [
            asyncio.create_task(self._until_draining(self._sweeper.run)),
            asyncio.create_task(self._until_draining(self._sweeper.seal)),
            asyncio.create_task(self._until_draining(self._sweeper.remove)),
            asyncio.create_task(self._until_draining(self._take_loop)),
            asyncio.create_task(self._until_draining(self._suspect_loop)),
        ]
        draining = asyncio.create_task(self._draining.wait())
        try:
            await asyncio.wait([draining, *loops], return_when=asyncio.FIRST_COMPLETED)
            for loop in loops:
                if loop.done():
                    # A defect: a worker that no longer sweeps or takes must not look alive.
                    loop.result()
            until = self._now() + self.config.drain_s
            await stop(*loops)
            await self._finish_work()
            if self._unusable is not None:
                raise self._unusable
            await self._seal_rest(max(until - self._now(), 0))
        finally:
            for task in (draining, *loops, *self._working):
                task.cancel()

    # -- taking work ------------------------------------------------------------------------------

    async def _until_draining(self, loop: Callable[[], Awaitable[None]]) -> None:
        """Run ``loop`` for ever; a server that is away is waited for."""
        while True:
            try:
                await loop()
            except Disconnected as error:
                self.outage.seen(error)
                # The queue of hints is asked without the store.
                self._store.gap.seen()
            except (RefusedForGood, WrongType):
                raise
            except ControlPlaneError as error:
                log.error("%s: %s; trying again", self.name, error)
            await asyncio.sleep(_RECONNECT_S)

    async def _take_loop(self) -> None:
        await self._queue.open()
        while True:
            await self._slots.acquire()
            taken = 1
            while taken < self.config.concurrency and not self._slots.locked():
                await self._slots.acquire()
                taken += 1
            hints: list[Hint] = []
            try:
                hints = await self._queue.read(taken)
            finally:
                for _ in range(taken - len(hints)):
                    self._slots.release()
            for hint in hints:
                self._start(hint)

    def _start(self, hint: Hint) -> None:
        task = self._put_to_work(self._drive(hint))
        task.add_done_callback(lambda _: self._slots.release())

    def _suspect(self, hint: Hint) -> None:
        """Have the hinted state worked on alone. A hint may come again while it waits."""
        self._suspects[hint.workflow_id, hint.path] = hint
        self._suspected.set()

    async def _suspect_loop(self) -> None:
        """Have suspects worked on: here one at a time, so that it is known whose death one is."""
        most = 1 if self._solo is None else min(self.config.concurrency, _MOST_SOLO)
        places = asyncio.Semaphore(most)
        while True:
            await self._suspected.wait()
            if self._solo is None:
                self._put_to_work(self._drive(self._next_suspect(), "here", places))
                continue
            await places.acquire()
            first = next(iter(self._suspects.values()))
            solo = await self._solo.start(f"{first.path} of {first.workflow_id}")
            if solo is None:
                places.release()
                continue
            task = self._put_to_work(self._drive_in(solo, self._next_suspect()))
            task.add_done_callback(lambda _: places.release())

    def _next_suspect(self) -> Hint:
        hint = self._suspects.pop(next(iter(self._suspects)))
        if not self._suspects:
            self._suspected.clear()
        return hint

    def _put_to_work(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._working[task] = None
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            # A defect of ours: nothing is committed, the lease ends by itself, somebody else tries,
            # and a third loss fails the state.
            context = {"message": f"{self.name}: a step failed", "exception": error, "task": task}
            task.get_loop().call_exception_handler(context)
        self._working.pop(task, None)
        self._held.pop(task, None)

    # -- doing it ---------------------------------------------------------------------------------

    @asynccontextmanager
    async def _own_turn(self, _hint: Hint) -> AsyncIterator[str | None]:
        yield self.name

    async def _drive(
        self,
        hint: Hint,
        alone: Alone | None = None,
        place: AbstractAsyncContextManager[object] | None = None,
        solo: Solo | None = None,
    ) -> None:
        """Take one hinted state when it is its turn, and then in its ``place``: who waits for its
        turn keeps no other from it."""
        async with self._turn(hint) as owner, place or nullcontext():
            # Who waited for a place begins nothing more in a worker that ends.
            if owner is not None and not (place and self._draining.is_set()):
                await self._take(hint, owner, alone, solo)

    async def _drive_in(self, solo: Solo, hint: Hint) -> None:
        """Take one hinted state, to be worked on by a process of its own."""
        try:
            await self._drive(hint, "watched", solo=solo)
        finally:
            await solo.close()

    async def _take(self, hint: Hint, owner: str, alone: Alone | None, solo: Solo | None) -> None:
        """Lease one hinted state for ``owner``, and go on in place from there; or have it done by
        ``solo``."""
        with self._contained(hint.workflow_id, hint.path):
            answer = await self._store.acquire(
                hint.workflow_id,
                hint.path,
                owner=owner,
                ttl_ms=self.config.ttl_ms,
                hint=hint.key,
                pool=hint.pool,
                alone=alone,
            )
            if isinstance(answer, Refusal):
                if answer.code == "suspect":
                    self._suspect(hint)
                log.debug("%s: %s of %s: %s", self.name, hint.path, hint.workflow_id, answer.code)
            elif self._giving_back:
                await self._store.release(answer)
            elif solo is not None:
                await self._have_done(answer, solo)
            else:
                await self._advance(answer, goes_on=alone is None)

    @contextmanager
    def _contained(self, workflow_id: str, path: str) -> Iterator[None]:
        """What Redis answers ends the work on one state, and no other."""
        try:
            yield
        except LeaseLost as lost:
            log.info("%s: gave up %s: %s", self.name, path, lost.code)
            if isinstance(lost.__cause__, RefusedForGood):
                self._give_up(lost.__cause__)
        except Disconnected as error:
            # The lease, if there is one, ends by itself, and the sweep brings the state back.
            self.outage.seen(error)
        except RefusedForGood as error:
            self._give_up(error)
        except ControlPlaneError as error:
            # The lease ends by itself and somebody takes the state over.
            log.error("%s: %s of %s: %s", self.name, path, workflow_id, error)

    async def _have_done(self, lease: Lease, solo: Solo) -> None:
        """Let a process for nothing else do it, and tell of its death."""
        task = asyncio.current_task()
        if task is not None:
            self._held[task] = lease
        died = await solo(lease)
        # Refused where the lease has been ended.
        await patiently(lease, partial(self._store.release, lease, died=died))

    def _give_up(self, error: RefusedForGood) -> None:
        """Nothing that is left to do can be done."""
        self._unusable = error
        self.drain()

    async def _advance(self, lease: Lease, *, goes_on: bool = True) -> None:
        started, hops = self._now(), 0
        current: Lease | None = lease
        task = asyncio.current_task()
        while current is not None:
            if task is not None:
                self._held[task] = current
            hops += 1
            in_place = (
                goes_on
                and not self._draining.is_set()
                and hops < self.config.hops
                and self._now() - started < self.config.hop_s
            )
            try:
                answer = await self._step(current, in_place)
            except GivenBack:
                # Refused where the lease was lost too.
                await patiently(current, partial(self._store.release, current))
                raise
            if isinstance(answer, Refusal):
                log.info("%s: %s was refused: %s", self.name, current.path, answer.code)
                if answer.code == "timed_out":
                    await timers.tick(self._store, current.workflow_id)
                return
            await self._after(current, answer)
            current = answer.lease
            if current is not None and self._draining.is_set():
                # It was asked for before the draining began, and work may take long.
                await self._store.release(current)
                return

    async def _after(self, lease: Lease, committed: Committed) -> None:
        if committed.run_status is not None:
            self._runs.forget(lease.workflow_id)
            self._choreographer.forget(lease.workflow_id)
            await self._sweeper.seal_ended(lease.workflow_id)
        if committed.due_in_ms is not None:
            self._sweeper.look_in(committed.due_in_ms / 1000)

    async def _step(self, lease: Lease, in_place: bool) -> Committed | Refusal:
        """Do the step of ``lease`` while the keeper keeps it."""
        try:
            run = self._runs.known(lease.workflow_id, lease.incarnation)
            if run is None:
                run = await patiently(
                    lease, lambda: self._runs.get(lease.workflow_id, lease.incarnation)
                )
        except (DefinitionError, MissingBlob) as error:
            # It was submitted to a version that could read it, and then no other worker of this one
            # can; or it is gone for all.
            return await self._choreographer.refuse(lease, error)
        kept = KeptLease(self._keeper, lease)
        afterwards: list[Callable[[], Awaitable[object]]] = []

        async def work(task: Task) -> Outcome:
            outcome = await kept.work(task, self._performer.perform)
            afterwards.extend(task.afterwards)
            return outcome

        answer = await self._choreographer.advance(run, lease, work, kept=kept, in_place=in_place)
        if isinstance(answer, Committed):
            for follow in afterwards:
                await follow()
        return answer

    async def run_one(self, lease: Lease) -> bool:
        """Work on the state of ``lease``, and on nothing else, until it is done or lost, or until
        ``drain``: True. False where somebody else cancelled the work, as a handler does that
        cancels all tasks. Raises what may be of the state's doing: ControlPlaneError, or a
        defect."""
        home = asyncio.get_running_loop()
        self._keeper.on_failure = lambda: home.call_soon_threadsafe(self.drain)
        work = self._put_to_work(self._alone(lease))
        draining = asyncio.create_task(self._draining.wait())
        try:
            await asyncio.wait([work, draining], return_when=asyncio.FIRST_COMPLETED)
            was_cancelled = work.cancelled()
            await self._finish_work()
            if work.done() and not work.cancelled():
                work.result()
            await self._seal_rest(self.config.drain_s)
            return not was_cancelled
        finally:
            for task in (draining, work):
                task.cancel()

    async def _alone(self, lease: Lease) -> None:
        try:
            await self._advance(lease, goes_on=False)
        except (LeaseLost, Disconnected, RefusedForGood) as lost:
            # Nothing that the state did.
            log.info("%s: gave up %s: %s", self.name, lease.path, lost)

    async def _seal_rest(self, seconds: float) -> None:
        """Seal what has ended here. What is left then is sealed by others, in 15 s."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._sweeper.seal_rest()

    # -- stopping ---------------------------------------------------------------------------------

    async def _finish_work(self) -> None:
        """Let work in progress end; after ``drain_s`` give it back."""
        if self._working:
            await asyncio.wait(self._working, timeout=self.config.drain_s)
        self._giving_back = True
        held = {task: lease for task, lease in self._held.items() if not task.done()}
        for task in held:
            task.cancel()
        if held:
            await asyncio.wait(held, timeout=_CANCELLING_S)
        for lease in held.values():
            try:
                await self._store.release(lease)
            except ControlPlaneError as error:
                log.warning("%s: could not give %s back: %s", self.name, lease.path, error)
        # Those that were still asking for a lease give it back themselves.
        asking = [task for task in self._working if task not in held]
        if asking:
            await asyncio.wait(asking)
