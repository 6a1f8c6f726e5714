"""``dcf cancel`` and ``dcf redrive``."""

from __future__ import annotations

from pathlib import Path

from control_plane import damage_is_told
from dcf.cli.answer import Answer
from dcf.cli.background import BackgroundFolder
from dcf.cli.crew import Crew
from dcf.cli.outcome import who
from dcf.cli.pool_choice import pool_option
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.run import RunOrder, attend
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.stub_server import StubServer
from dcf.cli.trouble import NotSo
from dcf.cli.wording import counted
from dcf.workflow import StillRunning, finalize, live_workers, redrive


async def cancel_run(workflow_id: str, reason: str, settings: Settings, screen: Screen) -> Answer:
    """Cancel a run and close its books. Raises NotSo when it is over already, and BrokenRun before
    anything is written where that could not be done to its end."""
    address = await find_redis(settings, screen)
    async with open_store(address) as store, damage_is_told(store, workflow_id):
        refusal = await store.cancel(workflow_id, by=who(), reason=reason)
        if refusal is not None:
            status = refusal.detail[0] if refusal.detail else "over"
            raise NotSo("not_running", f"run {workflow_id} is {status} already", "nothing to do")
        try:
            await finalize(store, workflow_id, by=who())
        except StillRunning:
            screen.warn(f"{workflow_id} was redriven by somebody at the same moment")
    return Answer({"workflow_id": workflow_id}, [f"{workflow_id} is cancelled."], "cancelled")


async def redrive_run(
    workflow_id: str, settings: Settings, screen: Screen, *, watch: bool, runs: Path
) -> Answer:
    """Let a broken run go on; with ``watch`` to its end, with workers of our own if need be."""
    address = await find_redis(settings, screen)
    async with open_store(address) as store, damage_is_told(store, workflow_id):
        pool = (await store.run(workflow_id)).pool
    stub = StubServer(settings, BackgroundFolder(settings.notes, settings.logs))
    if watch and settings.stub_config.is_file():
        await stub.ensure()
    async with open_store(address, pool=pool) as store:
        plan = await redrive(store, workflow_id, by=who())
        again = ", ".join(plan.again)
        screen.say(f"{workflow_id} goes on from {again}")
        if watch:
            crew = Crew(settings, redis_url=address.url, pool=pool)
            order = RunOrder(Path(), None, workflow_id, 1, 30.0, runs, pool, None)
            return await attend(store, workflow_id, crew, order, screen)
        workers = await live_workers(store)
    fields = {
        "workflow_id": workflow_id,
        "again": plan.again,
        "resume": plan.resume,
        "workers": workers,
    }
    show = [f"{counted(workers, 'worker reads', 'workers read')} its pool."]
    if not workers:
        show.append(f"dcf up --workers 1{pool_option(pool)}   carries it on")
    show.append(f"dcf watch {workflow_id}")
    return Answer(fields, show, "running")
