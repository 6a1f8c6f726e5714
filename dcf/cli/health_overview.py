"""``dcf health``: every part of DCF on this machine, each healthy, unhealthy, not running or
unknown."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from rich.table import Table
from rich.text import Text

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.background import BackgroundFolder
from dcf.cli.crew import Garrison, name_of
from dcf.cli.exits import FAILED
from dcf.cli.health import (
    BLOCKED,
    NO_ANSWER,
    holds,
    read_blocked,
    read_hosts,
    read_pools,
    read_refusal,
    read_signs,
    server_health,
)
from dcf.cli.open_sessions import OpenSessions, read_sessions
from dcf.cli.settings import Settings, graph_mode
from dcf.cli.stub_server import StubServer
from dcf.cli.trouble import NoSuch, NotSo
from dcf.cli.wording import counted

_USUAL = "default"
_STYLES = {
    "healthy": "green",
    "unhealthy": "bold red",
    "not running": "yellow",
    "unknown": "yellow",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part, and what there is to say about it; ``refused`` is how a Redis refuses."""

    name: str
    status: Literal["healthy", "unhealthy", "not running", "unknown"]
    found: str
    refused: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        fields = asdict(self)
        if self.refused is None:
            del fields["refused"]
        return fields


async def overview(settings: Settings, pool: str | None, mcp_port: int, within_s: float) -> Answer:
    """All parts; of workers those of ``pool``, without one of all pools that are in use. Exit code
    1 when Redis does not answer, or something that runs is not well; what nobody started is no
    illness. Raises NoSuch where ``DCF_REDIS_URL`` is no URL of a Redis."""
    folder = BackgroundFolder(settings.notes, settings.logs)
    parts = [
        *await _in_redis(settings, folder, pool, within_s),
        await _server("mcp", "dcf serve", server_health("the MCP server", "127.0.0.1", mcp_port)),
        await _stub(settings, folder),
        *await _graph(settings),
    ]
    fields = {"parts": [part.to_json() for part in parts]}
    ill = [part.name for part in parts if part.status == "unhealthy"]
    if not ill:
        return Answer(fields, [_table(parts)], status="healthy")
    note = ErrorNote("unhealthy", f"not well: {', '.join(ill)}", "`dcf doctor` looks deeper")
    return Answer(fields, [_table(parts)], status="unhealthy", error=note, exit_code=FAILED)


async def _graph(settings: Settings) -> list[Part]:
    """The embedded graph server; one of the user's own is looked at by ``dcf doctor``."""
    if settings.env.get("DCF_GRAPH_URL") or graph_mode(settings.env) == "off":
        return []
    from control_plane.embedded import Embedded

    status = await Embedded.from_env(settings.env).graph.status()
    if not status.running:
        # It is started by what needs it, not by anybody who would miss it here.
        return []
    if status.responding or status.loading:
        doing = ", loads its data" if status.loading else ""
        return [Part("graph", "healthy", f"pid {status.pid}{doing}")]
    return [Part("graph", "unhealthy", "it runs and does not answer")]


async def _in_redis(
    settings: Settings, folder: BackgroundFolder, pool: str | None, within_s: float
) -> list[Part]:
    try:
        refused = await read_refusal(settings)
        if refused is not None:
            part = Part("redis", "unhealthy", refused.sentence, refused.to_json())
            # To read hints is a write for Redis.
            why = "a worker that waits for a Redis that refuses writes can give no sign of life"
            return [
                part,
                Part("workers", "unknown", why),
                *await _companions(settings, folder, within_s),
            ]
        ours = {
            str(process.details.get("worker")): str(process.details.get("pool"))
            for process in Garrison(folder).all()
        }
        used = {_USUAL, *ours.values(), *await read_pools(settings)} if pool is None else {pool}
        signs = {one: await read_signs(settings, one) for one in sorted(used)}
        companions = await _companions(settings, folder, within_s)
        started = [worker for worker, of in ours.items() if of in signs]
        blocked = await read_blocked(settings, _together(signs))
    except NoSuch:
        # A setting that has to be mended, no matter of health.
        raise
    except NotSo as error:
        why = "their signs of life are in Redis"
        return [Part("redis", "unhealthy", error.message), Part("workers", "unknown", why)]
    return [
        Part("redis", "healthy", "answers"),
        workers_part(signs, started, within_s, blocked),
        *companions,
    ]


async def _companions(settings: Settings, folder: BackgroundFolder, within_s: float) -> list[Part]:
    """The companion hosts, and the sessions that go on; nothing where there are neither."""
    hosts = await read_hosts(settings)
    sessions = await read_sessions(settings)
    started = [name_of(process) for process in Garrison(folder, "companions").all()]
    parts = []
    if hosts or started or sessions.open:
        living = [host.name for host in hosts if host.idle_s <= within_s]
        parts.append(hosts_part(living, started))
    if sessions.open:
        parts.append(sessions_part(sessions))
    return parts


def hosts_part(living: list[str], started: list[str]) -> Part:
    """The hosts that gave a sign of life, and those that `dcf up` ``started``."""
    silent = [host for host in started if host not in living]
    if silent:
        return Part("companions", "unhealthy", f"no sign of life from {', '.join(silent)}")
    if not living:
        return Part("companions", "not running", "`dcf up --companions 1` serves them")
    serve = counted(len(living), "host serves", "hosts serve")
    return Part("companions", "healthy", f"{serve} companions: {', '.join(living)}")


def sessions_part(found: OpenSessions) -> Part:
    """How many sessions go on, and what waits in them."""
    go_on = counted(found.open, "session goes", "sessions go")
    works = counted(found.working, "task is", "tasks are")
    waits = counted(found.waiting, "waits", "wait")
    return Part("sessions", "healthy", f"{go_on} on; {works} in work, {waits}")


def workers_part(
    signs: Mapping[str, Mapping[str, float]],
    started: Collection[str],
    within_s: float,
    blocked: Mapping[str, Collection[str]],
) -> Part:
    """The workers of each pool: who gave a sign of life (``signs``: seconds ago) within
    ``within_s``. One that `dcf up` ``started`` and that gives none hangs, and so does one that is
    ``blocked`` in its states; of any other nobody knows whether it should still be there."""
    known = _together(signs)
    silent = [
        worker
        for worker in dict.fromkeys([*started, *blocked])
        if known.get(worker, math.inf) > within_s
    ]
    if silent:
        said = "; ".join(_silence(worker, known, blocked.get(worker, ())) for worker in silent)
        return Part("workers", "unhealthy", f"no sign of life from {said}")
    read = []
    for pool, workers in signs.items():
        living = sorted(worker for worker, idle_s in workers.items() if idle_s <= within_s)
        if living:
            they = counted(len(living), "reads", "read")
            read.append(f"{they} the pool {pool}: {', '.join(living)}")
    if not read:
        pools = "pool" if len(signs) == 1 else "pools"
        return Part("workers", "not running", f"none reads the {pools} {', '.join(signs)}")
    return Part("workers", "healthy", "; ".join(read))


def _together(signs: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """When each worker gave its last sign of life, in whatever pool."""
    return {worker: idle_s for workers in signs.values() for worker, idle_s in workers.items()}


def _silence(worker: str, signs: Mapping[str, float], held: Collection[str]) -> str:
    """Who is silent, since when where that is known, and over what."""
    since = f" since {signs[worker]:.0f} s" if worker in signs else ""
    return f"{worker}{since}{holds(held)}{f' ({BLOCKED})' if held else ''}"


async def _stub(settings: Settings, folder: BackgroundFolder) -> Part:
    """The stub that this home started, or that DCF_STUB_URL names."""
    stub = StubServer(settings, folder)
    if settings.stub_url is None and folder.find(stub.name) is None:
        return Part("stub", "not running", "`dcf up` starts it, or a run that needs it")
    place = urlsplit(stub.url)
    port = place.port or {"https": 443}.get(place.scheme, 80)
    asked = server_health("the stub server", place.hostname or "127.0.0.1", port)
    return await _server("stub", "dcf up", asked)


async def _server(name: str, starts: str, asked: Awaitable[Answer]) -> Part:
    try:
        answer = await asked
    except NotSo as error:
        if error.code == NO_ANSWER:
            return Part(name, "not running", f"`{starts}` starts it")
        return Part(name, "unhealthy", error.message)
    return Part(name, "healthy", f"answers at {answer.fields['url']}")


def _table(parts: list[Part]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("part", "health", "found"):
        table.add_column(heading, overflow="fold")
    for part in parts:
        table.add_row(part.name, Text(part.status, _STYLES[part.status]), Text(part.found))
    return table
