"""``dcf up``."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from control_plane.embedded import Embedded, redact
from dcf.cli.agents_home import demand_agents_home
from dcf.cli.answer import Answer
from dcf.cli.background import BackgroundFolder
from dcf.cli.crew import Garrison, name_of
from dcf.cli.model_check import demand_models
from dcf.cli.redis_access import find_redis
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings, graph_mode
from dcf.cli.stub_server import StubServer
from dcf.cli.trouble import NotSo
from dcf.cli.wording import counted


async def bring_up(
    settings: Settings, screen: Screen, *, workers: int, companions: int, pool: str, lease_s: float
) -> Answer:
    """Start what is missing of Redis, the stub, ``workers`` workers and ``companions`` hosts of
    companions."""
    folder = BackgroundFolder(settings.notes, settings.logs)
    garrisons = {Garrison(folder): workers, Garrison(folder, "companions"): companions}
    if workers or companions:
        demand_models(settings)
        await demand_agents_home(settings)
    for garrison, count in garrisons.items():
        if count:
            _demand_no_strangers(garrison, pool, settings)
    running = (
        settings.redis_url is not None or (await Embedded.from_env(settings.env).status()).running
    )
    address = await find_redis(settings, screen)
    services: list[dict[str, Any]] = [
        _service(
            "redis", "running" if running else "started", address.label, settings.home / "redis"
        )
    ]
    services += await _graph(settings)
    stub = StubServer(settings, folder)
    if settings.stub_config.is_file():
        with screen.working("stub tool server …"):
            found = await stub.ensure()
        state = "started" if found.started else "running"
        log = settings.logs / f"{stub.name}.log"
        where = f"{found.url} ({counted(found.tools, 'tool', 'tools')})"
        services.append(_service("stub tools", state, where, log))
    else:
        why = f"there is no {settings.stub_config}: `dcf skills generate` writes it"
        services.append(_service("stub tools", "not started", why, ""))
    env = {**settings.env, "DCF_REDIS_URL": address.url}
    for garrison, count in garrisons.items():
        before = {process.name for process in garrison.all()}
        if count:
            with screen.working("workers …"):
                await garrison.raise_to(
                    count, env, pool=pool, lease_s=lease_s, generated=settings.generated
                )
        for process in garrison.all():
            state = "running" if process.name in before else "started"
            who = f"{name_of(process)} (pid {process.pid})"
            services.append(_service(process.name, state, who, process.log))
    return Answer({"home": str(settings.home), "services": services}, [_table(services)])


async def _graph(settings: Settings) -> list[dict[str, Any]]:
    """The graph, where it runs: it is not started before something needs it."""
    if settings.env.get("DCF_GRAPH_URL") or graph_mode(settings.env) == "off":
        return []
    status = await Embedded.from_env(settings.env).graph.status()
    if not status.running:
        return []
    return [_service("graph", "running", redact(status.url or ""), status.data_dir)]


def _demand_no_strangers(garrison: Garrison, pool: str, settings: Settings) -> None:
    """Two sets of skills in one pool would leave to chance which of them a state gets."""
    for stranger in garrison.strangers(pool, settings.generated):
        skills = stranger.details.get("generated")
        message = f"{stranger.name} reads pool {pool} with other skills, those in {skills}"
        hint = "`dcf down` ends it; or take another pool: `dcf up --workers 1 --pool NAME`"
        raise NotSo("pool_taken", message, hint)


def _service(name: str, state: str, where: str, files: object) -> dict[str, Any]:
    return {"name": name, "state": state, "where": where, "files": str(files)}


def _table(services: list[dict[str, Any]]) -> Table:
    table = Table()
    for heading in ("service", "state", "where", "files and logs"):
        table.add_column(heading, overflow="fold")
    for service in services:
        good = service["state"] in ("running", "started")
        state = Text(service["state"], "green" if good else "yellow")
        table.add_row(service["name"], state, Text(service["where"]), Text(service["files"]))
    return table
