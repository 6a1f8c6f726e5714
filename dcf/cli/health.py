"""``dcf health``: one process, healthy (exit code 0) or not (1), with the reason."""

from __future__ import annotations

import asyncio
import json
import socket
import urllib.error
import urllib.request
from typing import Any

from control_plane import ControlPlaneError, RedisBackend, signs_of_life
from dcf.cli.answer import Answer
from dcf.cli.settings import Settings
from dcf.cli.trouble import NotSo

_LIMIT_S = 3.0
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


async def server_health(who: str, host: str, port: int) -> Answer:
    """What the server itself says at ``/healthz``. Raises NotSo when it is not well."""
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{port}/healthz"
    status, said = await asyncio.to_thread(_ask, url)
    if status is None:
        raise _unhealthy(f"{who} does not answer at {url}: {said}")
    if not isinstance(said, dict):
        raise _unhealthy(f"what answers at {url} is not {who} (HTTP {status})")
    if status != 200 or said.get("status") != "ok":
        raise _unhealthy(f"{who} is {said.get('status')}: {said.get('error')}")
    return Answer({"url": url}, [f"healthy: {who} at {url}"], status="healthy")


def _ask(url: str) -> tuple[int | None, Any]:
    """Status and document; without an answer None and the reason, without JSON None for it."""
    try:
        with _DIRECT.open(url, timeout=_LIMIT_S) as response:
            return response.status, _document(response.read())
    except urllib.error.HTTPError as error:
        # A server that is not well says so with 503 and the reason.
        return error.code, _document(error.read())
    except OSError as error:
        return None, getattr(error, "reason", error)


def _document(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


async def worker_health(settings: Settings, name: str | None, pool: str, within_s: float) -> Answer:
    """Whether the worker ``name``, without one any of this host, gave a sign of life within the
    last ``within_s`` seconds. Raises NotSo when none did."""
    host = socket.gethostname()
    who = f"worker {name}" if name else f"a worker of {host}"
    signs = {
        worker: idle_ms / 1000
        for worker, idle_ms in (await _signs(settings, pool)).items()
        # As `dcf worker` names itself.
        if (worker == name if name else worker.startswith(f"{host}-"))
    }
    if not signs:
        raise _unhealthy(f"{who} does not read the pool {pool}")
    youngest = min(signs, key=lambda worker: signs[worker])
    if signs[youngest] > within_s:
        age = f"{signs[youngest]:.0f} s"
        raise _unhealthy(f"{youngest} gave its last sign of life {age} ago, in the pool {pool}")
    fields = {"worker": youngest, "idle_s": signs[youngest]}
    return Answer(fields, [f"healthy: {youngest}"], status="healthy")


async def _signs(settings: Settings, pool: str) -> dict[str, int]:
    if settings.redis_url is None:
        from control_plane.embedded import Embedded

        status = await Embedded.from_env(settings.env).status()
        if not status.running or status.url is None:
            # A look must not start it.
            raise _unhealthy("the embedded Redis does not run, so that no worker can")
        url = status.url
    else:
        url = settings.redis_url
    backend = RedisBackend.from_url(url, connections=1)
    try:
        async with asyncio.timeout(_LIMIT_S):
            return await signs_of_life(backend, pool)
    except (ControlPlaneError, TimeoutError) as error:
        raise _unhealthy(f"Redis does not answer: {error or 'no answer in time'}") from None
    finally:
        await backend.close()


def _unhealthy(why: str) -> NotSo:
    return NotSo("unhealthy", why)
