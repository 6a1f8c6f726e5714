"""Workers that drive flows: from the hints, with nothing but the store in between."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flows import RUN, Flow, Work, echo, step
from worlds import World

from control_plane import (
    Alone,
    Committed,
    ControlPlaneError,
    Disconnected,
    HintQueue,
    Lease,
    Refusal,
    RunDocument,
    Store,
    history,
    timers,
)

TTL_MS = 30_000
# A run that is not over after so many idle looks is stuck.
PATIENCE = 200


class Stuck(AssertionError):
    """The run does not move although time passes."""


class Worker:
    """One worker; ``in_place`` as in production."""

    def __init__(
        self,
        store: Store,
        queue: HintQueue,
        flow: Flow,
        work: Work = echo,
        *,
        name: str = "worker-1",
        in_place: bool = True,
    ) -> None:
        self.store = store
        self.queue = queue
        self.flow = flow
        self.work = work
        self.name = name
        self.in_place = in_place

    async def take(self, count: int = 10) -> int:
        """Follow the hints there are; how many there were."""
        hints = await self.queue.read(count, block_ms=1)
        for hint in hints:
            answer = await self.store.acquire(
                hint.workflow_id,
                hint.path,
                owner=self.name,
                ttl_ms=TTL_MS,
                hint=hint.key,
                alone="here",
            )
            if isinstance(answer, Lease):
                await self.advance(answer)
        return len(hints)

    async def advance(self, lease: Lease) -> None:
        """Do the step of ``lease`` and those that follow in place."""
        current: Lease | None = lease
        while current is not None:
            answer = await self.once(current)
            current = answer.lease if isinstance(answer, Committed) else None

    async def once(self, lease: Lease) -> Committed | Refusal:
        """Do one step."""
        commit = await step(self.store, self.flow, lease, self.work)
        return await self.store.commit(
            lease, commit, commit_id=self.store.new_id(), in_place=self.in_place
        )


async def drive(world: World, workers: Iterable[Worker], *, run: str = RUN) -> RunDocument:
    """Let workers take turns, and time pass when there is nothing to do, until the run is over."""
    crew = list(workers)
    for worker in crew:
        await worker.queue.open()
    reader, taken = world.store(cluster=crew[0].store.cluster), 1
    for _ in range(PATIENCE):
        idle, taken = not taken, 0
        for worker in list(crew):
            try:
                taken += await worker.take()
            except Disconnected:
                if len(crew) > 1:
                    crew.remove(worker)  # dead: what it held ends by itself
            except ControlPlaneError:
                continue  # it died over its work, and another one takes its place
        document = await reader.run(run)
        if document.is_over:
            return document
        if not taken and idle:
            await pass_time(world, reader)
        elif not taken:
            await timers.sweep(reader)
    states = (await reader.states(run, await reader.paths(run))).values()
    raise Stuck([f"{s.path} {s.status} {s.event}" for s in states if s.status != "pending"])


async def pass_time(world: World, store: Store) -> None:
    """Go to the next moment that moves anything, and sweep."""
    swept = await timers.sweep(store)
    if swept.moved or swept.next_look_ms is None:
        return
    await world.advance(max(swept.next_look_ms - world.now_ms, 0))
    await timers.sweep(store)


async def run_to_end(
    world: World, flow: Flow, work: Work = echo, *, in_place: bool = True, run: str = RUN
) -> RunDocument:
    """Drive a seeded run with one worker."""
    worker = Worker(world.store(), world.queue(), flow, work, in_place=in_place)
    return await drive(world, [worker], run=run)


async def lease_of(
    store: Store,
    path: str,
    *,
    owner: str = "worker-1",
    run: str = RUN,
    alone: Alone | None = "here",
) -> Lease:
    """A lease that must be had."""
    answer = await store.acquire(run, path, owner=owner, ttl_ms=TTL_MS, alone=alone)
    assert isinstance(answer, Lease), answer
    return answer


def audit(status: str) -> dict[str, Any]:
    """An audit record, as a finalization writes it."""
    return {
        "workflow_id": RUN,
        "final_status": status,
        "states": {},
        "cost": {},
        "history": {"events": 1, "sha256": "0" * 64},
        "by": "test",
    }


async def seal_off(store: Store, *, run: str = RUN) -> Refusal | None:
    """Close and finalize a run that is over."""
    await store.close(run)
    sealed = await history.seal(store, run)
    record = audit((await store.run(run)).status)
    return await store.finalize(run, digest=sealed.head, paths=0, by="test", audit=record, cost={})


async def put_away(store: Store, *, run: str = RUN) -> Refusal | None:
    """Close, finalize and retire a run that is over."""
    refusal = await seal_off(store, run=run)
    if refusal is None:
        await store.retire(run)
    return refusal
