"""``dcf health worker`` and its like: one process, healthy (exit code 0) or not (1), and why."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import socket
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Literal, TypeVar

from control_plane import (
    ControlPlaneError,
    LivingHost,
    RedisBackend,
    Refused,
    RefusedForNow,
    Store,
    host_signs,
    refused_now,
    signs_of_life,
)
from dcf.cli.answer import Answer
from dcf.cli.settings import Settings
from dcf.cli.trouble import NoSuch, NotSo
from dcf.knowledge import COMPANION_POOL
from dcf.workflow import blocked_workers, pools_under_way

T = TypeVar("T")

NO_ANSWER = "no_answer"
"""The code for a server that nobody may have started."""
BLOCKED = "a handler blocks its thread; two SIGTERM end it"
"""Of a worker that renews its leases and does nothing else."""
_LIMIT_S = 3.0
_NAMED = 3
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


async def server_health(
    who: str, host: str, port: int, *, path: str = "/healthz", well: str = "ok", start: str = ""
) -> Answer:
    """What the server itself says at ``path``; its word for being ``well``, and the command that
    has it ``start``. Raises NotSo when it is not."""
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{port}{path}"
    status, said = await asyncio.to_thread(_ask, url)
    if status is None:
        hint = f"`{start}` starts it; --host and --port say where it is asked" if start else ""
        raise NotSo(NO_ANSWER, f"{who} does not answer at {url}: {said}", hint)
    if not isinstance(said, dict):
        spoke = f"HTTP {status}" if status else f"no HTTP: {said}"
        raise _unhealthy(f"what answers at {url} is not {who} ({spoke})")
    if status != 200 or said.get("status") != well:
        raise _unhealthy(f"{who} is {said.get('status')}: {said.get('error')}")
    return Answer({"url": url}, [f"healthy: {who} at {url}"], status="healthy")


async def graph_server_health(host: str, port: int) -> Answer:
    """What `dcf graph serve` says, at the place and in the words that Graphiti's server has."""
    return await server_health(
        "the graph's MCP server",
        host,
        port,
        path="/health",
        well="healthy",
        start="dcf graph serve",
    )


def _ask(url: str) -> tuple[int | None, Any]:
    """Status and document; without an answer None and the reason, without JSON None for it."""
    try:
        with _DIRECT.open(url, timeout=_LIMIT_S) as response:
            return response.status, _document(response.read())
    except urllib.error.HTTPError as error:
        # A server that is not well says so with 503 and the reason.
        return error.code, _document(error.read())
    except http.client.HTTPException as error:
        # Some other server listens there.
        return 0, str(error)
    except OSError as error:
        return None, getattr(error, "reason", error)


def _document(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


async def worker_health(settings: Settings, name: str | None, pool: str, within_s: float) -> Answer:
    """Whether the worker ``name``, without one any of this machine, gave a sign of life within the
    last ``within_s`` seconds. Raises NotSo when none did.

    Of this machine is what `dcf worker` named after it, and what `dcf up` of this home started.
    """
    signs = await read_signs(settings, pool)
    ours = {
        worker: idle_s
        for worker, idle_s in signs.items()
        if (
            worker == name
            if name
            else is_of(worker, socket.gethostname(), _background(settings, "worker"))
        )
    }
    if not ours:
        who = f"worker {name}" if name else "a worker of this machine"
        raise _unhealthy(f"{who} does not read the pool {pool}", _others(signs, pool))
    youngest = min(ours, key=lambda worker: ours[worker])
    if ours[youngest] > within_s:
        refused = await read_refusal(settings)
        if refused is not None:
            # To read hints is a write for Redis: a worker that waits can give no sign of life.
            raise _unhealthy(f"{refused.sentence}; until then no worker can say that it lives")
        age = f"{ours[youngest]:.0f} s"
        held = (await read_blocked(settings, {youngest: ours[youngest]})).get(youngest, [])
        why = f"{youngest} gave its last sign of life {age} ago, in the pool {pool}"
        raise _unhealthy(why + holds(held), BLOCKED if held else "")
    fields = {"worker": youngest, "idle_s": ours[youngest]}
    return Answer(fields, [f"healthy: {youngest}"], status="healthy")


async def host_health(settings: Settings, name: str | None, within_s: float) -> Answer:
    """Whether the companion host ``name``, without one any of this machine, gave a sign of life
    within the last ``within_s`` seconds. Raises NotSo when none did; see ``worker_health``."""
    signs = {host.name: host.idle_s for host in await read_hosts(settings)}
    ours = {
        host: idle_s
        for host, idle_s in signs.items()
        if (
            host == name
            if name
            else is_of(host, socket.gethostname(), _background(settings, "companions"))
        )
    }
    if not ours:
        who = f"companion host {name}" if name else "a companion host of this machine"
        others = f"others do: {', '.join(sorted(signs))}; ask for one with --name"
        hint = others if signs else "`dcf companion` or `dcf up --companions 1` start one"
        raise _unhealthy(f"{who} gives no sign of life", hint)
    youngest = min(ours, key=lambda host: ours[host])
    if ours[youngest] > within_s:
        raise _unhealthy(f"{youngest} gave its last sign of life {ours[youngest]:.0f} s ago")
    fields = {"host": youngest, "idle_s": ours[youngest]}
    return Answer(fields, [f"healthy: {youngest}"], status="healthy")


def is_of(worker: str, host: str, background: Collection[str]) -> bool:
    """Whether ``worker`` has a name that `dcf worker` makes on ``host``, or is one of
    ``background``."""
    return (
        worker in background
        or re.fullmatch(rf"{re.escape(host)}-\d+-[0-9a-f]+", worker) is not None
    )


def _background(settings: Settings, kind: Literal["worker", "companions"]) -> set[str]:
    """The names of the workers, or hosts, that `dcf up` started and that run."""
    from dcf.cli.background import BackgroundFolder
    from dcf.cli.crew import Garrison, name_of

    living = Garrison(BackgroundFolder(settings.notes, settings.logs), kind).all()
    return {name_of(process) for process in living}


def _others(signs: Mapping[str, float], pool: str) -> str:
    if not signs:
        return f"`dcf worker --pool {pool}` or `dcf up --workers 1 --pool {pool}` start one"
    return f"others do: {', '.join(sorted(signs))}; ask for one with --name"


async def read_signs(settings: Settings, pool: str) -> dict[str, float]:
    """The workers that read ``pool``, each with the seconds since its last sign of life. Raises
    NotSo where Redis does not answer; a look does not start it."""
    signs = await ask_redis(settings, lambda backend: signs_of_life(backend, pool))
    return {worker: idle_ms / 1000 for worker, idle_ms in signs.items()}


async def read_pools(settings: Settings) -> list[str]:
    """The pools of workers that runs under way are in. Raises NotSo where Redis does not answer."""
    pools = await ask_redis(settings, lambda backend: pools_under_way(Store(backend)))
    # Those of companions are read by their hosts.
    return [pool for pool in pools if not pool.startswith(COMPANION_POOL)]


async def read_blocked(settings: Settings, signs: Mapping[str, float]) -> dict[str, list[str]]:
    """Which of the workers with these ``signs`` (seconds) are blocked, each with the states that it
    holds. Raises NotSo where Redis does not answer."""
    silent = {worker: round(idle_s * 1000) for worker, idle_s in signs.items()}
    return await ask_redis(settings, lambda backend: blocked_workers(Store(backend), silent))


def holds(states: Collection[str]) -> str:
    """That a blocked worker holds these states; "" for none."""
    more = f" and {len(states) - _NAMED} more" if len(states) > _NAMED else ""
    return f", and holds {', '.join(sorted(states)[:_NAMED])}{more}" if states else ""


async def read_hosts(settings: Settings) -> list[LivingHost]:
    """The companion hosts. Raises NotSo where Redis does not answer."""
    return await ask_redis(settings, host_signs.living_hosts)


async def read_refusal(settings: Settings) -> Refused | None:
    """How Redis refuses just now. Raises NotSo where it does not answer."""
    return await ask_redis(settings, refused_now)


async def ask_redis(settings: Settings, ask: Callable[[RedisBackend], Awaitable[T]]) -> T:
    """What ``ask`` answers. Raises NotSo where Redis does not answer in time or cannot serve as the
    control plane; NoSuch where ``DCF_REDIS_URL`` is no URL of a Redis."""
    url = await _redis_url(settings)
    backend = RedisBackend.from_url(url, connections=1)
    try:
        async with asyncio.timeout(_LIMIT_S):
            return await ask(backend)
    except RefusedForNow as error:
        raise _unhealthy(str(error), str(error.fields["hint"])) from None
    except (ControlPlaneError, TimeoutError) as error:
        # The limit of time has no words of its own.
        reason = str(error) or f"nothing within {_LIMIT_S:g} s"
        raise _unhealthy(f"Redis does not answer: {reason}") from None
    finally:
        await backend.close()


async def _redis_url(settings: Settings) -> str:
    if settings.redis_url is not None:
        await _demand_suitable(settings.redis_url)
        return settings.redis_url
    from control_plane.embedded import Embedded

    status = await Embedded.from_env(settings.env, patience_s=_LIMIT_S).status()
    if not status.running or status.url is None:
        raise _unhealthy("the embedded Redis does not run", "`dcf up` starts it")
    if not status.responding and not status.loading:
        raise _unhealthy("the embedded Redis runs and does not answer", "`dcf down` ends it")
    return status.url


async def _demand_suitable(url: str) -> None:
    """What every command demands of a Redis that DCF did not start."""
    from control_plane.embedded import (
        ServerRefusesForNow,
        ServerUnsuitable,
        ServerUrlInvalid,
        check_server,
    )

    try:
        await check_server(url, _LIMIT_S)
    except ServerRefusesForNow:
        # Whoever is asked then says so, and since when.
        return
    except ServerUrlInvalid as error:
        raise NoSuch(error.code, error.message, error.hint) from None
    except ServerUnsuitable as error:
        raise _unhealthy(error.message, error.hint) from None


def _unhealthy(why: str, hint: str = "") -> NotSo:
    return NotSo("unhealthy", why, hint)
