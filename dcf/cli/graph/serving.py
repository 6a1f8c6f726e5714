"""``dcf graph serve``."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from control_plane import Outbox, Store
from control_plane.embedded import ServerUnusable
from dcf.cli.answer import Answer
from dcf.cli.log_lines import log_to_stderr
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Screen
from dcf.cli.serve import check_exposed, token_of
from dcf.cli.settings import Settings
from dcf.cli.trouble import EnvironmentTrouble
from dcf.knowledge import (
    GraphAway,
    GraphConnection,
    GraphRefused,
    GraphSetting,
    KnowledgeError,
    Privacy,
    relay_for_ever,
)
from dcf.stopping import stop
from dcf_agents.installation import installed_version

if TYPE_CHECKING:
    from dcf.knowledge.graphiti import ExtractionSetting

log = logging.getLogger(__name__)

_GRACE_S = 10
_EXTRACT_EVERY_S = 2.0
_AWAY_S = 30.0
_AGAIN_S = 2.0


async def serve_graph(
    settings: Settings, screen: Screen, host: str, port: int, token_file: Path | None
) -> Answer:
    """Serve until told to stop. Raises BadInput, EnvironmentTrouble, KnowledgeError,
    ServerUnusable."""
    from dcf.knowledge.graphiti import ExtractionSetting, demand_graphiti
    from dcf.mcp.graph import GraphDesk, create_graph_app
    from dcf.tools.serving import CannotServe, Guard, serve_app

    log_to_stderr(settings.log_level)
    token = token_of(token_file, settings)
    check_exposed(host, token)
    guard = Guard.from_env(settings.env, host, token)
    setting = GraphSetting.from_env(settings.env)
    privacy = Privacy.from_env(settings.env)
    extraction = ExtractionSetting.from_env(settings.env)
    await asyncio.to_thread(demand_graphiti)
    served: list[str] = []

    def ready(url: str, port: int) -> None:
        served.append(f"{url}/mcp/")
        line = {"event": "ready", "url": served[0], "port": port, "pid": os.getpid()}
        # With --json stdout carries the one document at the end.
        print(json.dumps(line), file=sys.stderr if screen.as_json else sys.stdout, flush=True)

    # Nothing is shown on the way: stdout is for the line that says where.
    quiet = Screen(as_json=True)
    address = await setting.address()
    missed = asyncio.Event()
    async with (
        open_store(await find_redis(settings, quiet), patient=False) as store,
        GraphConnection(address.url, missed=missed.set) as graph,
        _beside(partial(_wake, setting, missed)),
        _beside(partial(_relay, setting, store, privacy)),
        _beside(partial(_extract, extraction, settings, graph, address.url)),
    ):
        desk = GraphDesk(
            graph, address.url, Outbox(store.backend), privacy, extracts=extraction is not None
        )
        app = create_graph_app(desk, guard, version=installed_version())
        try:
            await serve_app(app, host, port, grace_s=_GRACE_S, on_ready=ready)
        except CannotServe as error:
            raise EnvironmentTrouble(error.code, str(error), error.hint) from error
        finally:
            await desk.close()
    return Answer({"url": served[0] if served else None}, status="stopped")


@asynccontextmanager
async def _beside(work: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """``work`` goes on during the block, from its beginning again after a defect."""
    task = asyncio.create_task(_kept(work))
    try:
        yield
    finally:
        await stop(task)


async def _kept(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    while True:
        try:
            await work()
            return
        except Exception:
            log.exception("what goes on beside the server starts again")
            await asyncio.sleep(_AGAIN_S)


async def _wake(setting: GraphSetting, missed: asyncio.Event) -> None:
    """Start the embedded graph again when somebody has ``missed`` it."""
    while setting.url is None:
        await missed.wait()
        missed.clear()
        try:
            await setting.address()
        except ServerUnusable as error:
            log.warning("the graph does not start again: %s", error)
        # Those who ask in the meantime want no start of their own.
        await asyncio.sleep(_AGAIN_S)


async def _relay(setting: GraphSetting, store: Store, privacy: Privacy) -> None:
    """Carry what is added, and what runs tell, to the graph."""
    await relay_for_ever(setting, store, privacy, name=f"graph-serve-{os.getpid()}")


async def _extract(
    extraction: ExtractionSetting | None, settings: Settings, graph: GraphConnection, url: str
) -> None:
    """Look for facts in texts, as long as the budget lasts."""
    if extraction is None:
        return
    from dcf.knowledge.graphiti import GraphitiSearch, extract_waiting

    client = extraction.client(settings.env)
    while True:
        try:
            async with GraphitiSearch.open(url, model=lambda: client) as search:
                while True:
                    await extract_waiting(search, graph)
                    await asyncio.sleep(_EXTRACT_EVERY_S)
        except (GraphAway, GraphRefused) as error:
            log.warning("texts wait for their facts: %s", error)
            await asyncio.sleep(_AWAY_S)
        except KnowledgeError as error:
            # The budget: nothing more is asked until the server starts again.
            log.warning("%s", error)
            return
