"""``dcf run``: check, bring up what is missing, run, watch, end with the output."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

from control_plane import Store
from dcf.cli.agents_home import demand_agents_home
from dcf.cli.answer import Answer
from dcf.cli.background import BackgroundFolder
from dcf.cli.board import Board
from dcf.cli.crew import Crew, Garrison
from dcf.cli.exits import FAILED
from dcf.cli.follow import follow
from dcf.cli.left_alone import interrupted, left_alone
from dcf.cli.outcome import finish
from dcf.cli.pool_choice import choose_pool, dissolve
from dcf.cli.preparation import Prepared, prepare
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.stub_server import StubServer
from dcf.cli.wording import counted
from dcf.workflow import live_workers, submit

_COUNT_WORKERS_EVERY_S = 2.0


@dataclass(frozen=True, slots=True)
class RunOrder:
    """The command line of ``dcf run``; ``pool`` is None where the user named none."""

    file: Path
    given: str | None
    workflow_id: str | None
    workers: int
    lease_s: float
    runs: Path
    pool: str | None
    timeout_s: float | None
    worker_deaths: int | None = None


async def run_workflow(order: RunOrder, settings: Settings, screen: Screen) -> Answer:
    """Run a workflow to its end. Nothing is started or written before everything is checked."""
    folder = BackgroundFolder(settings.notes, settings.logs)
    stub = StubServer(settings, folder)
    prepared = prepare(
        order.file,
        order.given,
        order.workflow_id,
        settings,
        stub.url,
        models=order.workers > 0,
        worker_deaths=order.worker_deaths,
    )
    for warning in prepared.warnings():
        screen.warn(str(warning))
    if order.workers:
        await demand_agents_home(settings)
    address = await find_redis(settings, screen)
    await ensure_tools(prepared, stub, screen)
    async with open_store(address) as store:
        pool = order.pool or await choose_pool(store, Garrison(folder), settings)
    async with open_store(address, pool=pool) as store:
        await start_run(store, prepared, screen)
    try:
        async with open_store(address, pool=pool) as store:
            # The same run may be there already, in a pool of its own.
            pool = (await store.run(prepared.workflow_id)).pool
        async with open_store(address, pool=pool) as store:
            crew = Crew(settings, redis_url=address.url, pool=pool, lease_s=order.lease_s)
            return await attend(store, prepared.workflow_id, crew, order, screen)
    except asyncio.CancelledError:
        # Ctrl-C between the submission and the watching.
        async with open_store(address, pool=pool) as store:
            return await interrupted(store, prepared.workflow_id)


async def ensure_tools(prepared: Prepared, stub: StubServer, screen: Screen) -> None:
    """Start the stub if the workflow calls its tools and it does not run."""
    if any(server.startswith(f"{stub.url}/") for server in prepared.servers):
        with screen.working("stub tool server …"):
            await stub.ensure()


async def start_run(store: Store, prepared: Prepared, screen: Screen) -> None:
    """Submit the run, or join the same one that is there already."""
    states = len(prepared.document.machine.states)
    with screen.working(f"writing {states} states …"):
        new = await submit(
            store,
            prepared.document,
            prepared.value,
            workflow_id=prepared.workflow_id,
            catalog=prepared.catalog,
            pins=prepared.pins,
        )
    what = "Run" if new else "The same run is there already:"
    screen.say(f"{what} {prepared.workflow_id}")


async def attend(
    store: Store, workflow_id: str, crew: Crew, order: RunOrder, screen: Screen
) -> Answer:
    """Watch the run with workers of our own while nobody else reads the pool."""
    watchman = _Watchman(store, crew, order.workers)
    try:
        async with crew, asyncio.timeout(order.timeout_s):
            await follow(store, workflow_id, screen, watchman.tick)
        await dissolve(store, store.pool)
    except TimeoutError:
        seconds = order.timeout_s or 0.0
        message = f"{workflow_id} is not over after {seconds:g} s"
        return await left_alone(store, workflow_id, message, FAILED, crew.members)
    except asyncio.CancelledError:
        # Ctrl-C; awaiting goes on, since only a second one would end us now.
        return await interrupted(store, workflow_id, crew.members)
    return await finish(store, workflow_id, order.runs, crew.objects)


class _Watchman:
    """Hires the crew when nobody works on the pool: at the start, and when the last one died."""

    def __init__(self, store: Store, crew: Crew, workers: int) -> None:
        self._store = store
        self._crew = crew
        self._workers = workers
        self._count_at = 0.0
        self._others = 0

    async def tick(self, board: Board) -> str:
        now = time.monotonic()
        if now >= self._count_at:
            self._count_at = now + _COUNT_WORKERS_EVERY_S
            living = len(self._crew.living)
            # Not even one that died: it looks alive for a while.
            self._others = await live_workers(self._store, but=self._crew.members)
            if not self._others and living < self._workers:
                self._crew.hire(self._workers - living)
        if board.questions:
            return "\n".join(board.questions)
        own = self._crew.living
        if own:
            return f"workers of this command: {', '.join(own)}"
        return f"{counted(self._others, 'worker reads', 'workers read')} the pool"
