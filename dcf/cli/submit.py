"""``dcf submit``."""

from __future__ import annotations

from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.background import BackgroundFolder
from dcf.cli.crew import Garrison
from dcf.cli.pool_choice import pool_option
from dcf.cli.preparation import prepare
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.run import start_run
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.stub_server import StubServer
from dcf.cli.wording import counted
from dcf.workflow import live_workers


async def submit_workflow(
    file: Path,
    given: str | None,
    workflow_id: str | None,
    pool: str,
    worker_deaths: int | None,
    settings: Settings,
    screen: Screen,
) -> Answer:
    """Start a run and say who will carry it out."""
    folder = BackgroundFolder(settings.notes, settings.logs)
    stub_url = StubServer(settings, folder).url
    prepared = prepare(file, given, workflow_id, settings, stub_url, worker_deaths=worker_deaths)
    for warning in prepared.warnings():
        screen.warn(str(warning))
    for stranger in Garrison(folder).strangers(pool, settings.generated):
        skills = stranger.details.get("generated")
        screen.warn(f"{stranger.name} reads pool {pool} with the skills in {skills}")
    address = await find_redis(settings, screen)
    async with open_store(address, pool=pool) as store:
        await start_run(store, prepared, screen)
        pool = (await store.run(prepared.workflow_id)).pool
        workers = await live_workers(store, pool)
    fields = {"workflow_id": prepared.workflow_id, "pool": pool, "workers": workers}
    readers = counted(workers, "worker reads", "workers read")
    show = [f"{readers} pool {pool}.", f"dcf watch {prepared.workflow_id}"]
    if not workers:
        helper = f"`dcf up --workers 1{pool_option(pool)}`"
        show.insert(1, f"dcf worker --pool {pool}   (or {helper}) carries it out")
    return Answer(fields, show, "submitted")
