"""``dcf submit``."""

from __future__ import annotations

from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.background import BackgroundFolder
from dcf.cli.preparation import prepare
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.run import start_run
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.stub_server import StubServer
from dcf.workflow import live_workers


async def submit_workflow(
    file: Path,
    given: str | None,
    workflow_id: str | None,
    pool: str,
    settings: Settings,
    screen: Screen,
) -> Answer:
    """Start a run and say who will carry it out."""
    stub = StubServer(settings, BackgroundFolder(settings.notes, settings.logs))
    prepared = prepare(file, given, workflow_id, settings, stub.url)
    for warning in prepared.document.warnings:
        screen.warn(str(warning))
    address = await find_redis(settings, screen)
    async with open_store(address, pool=pool) as store:
        await start_run(store, prepared, screen)
        workers = await live_workers(store)
    fields = {"workflow_id": prepared.workflow_id, "pool": pool, "workers": workers}
    show = [f"{workers} workers read pool {pool}.", f"dcf watch {prepared.workflow_id}"]
    if not workers:
        show.insert(1, f"dcf worker --pool {pool}   (or `dcf up --workers 1`) carries it out")
    return Answer(fields, show, "submitted")
