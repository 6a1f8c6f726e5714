"""A worker's health is the sign of life that it gives in Redis."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
from pathlib import Path

import pytest
from integration.worker.crew import crew_on
from unit.workflow.stage import document_of, flow, task

from control_plane import HintQueue, RedisBackend, Store, keys, signs_of_life
from control_plane.embedded import CONTROL_PLANE, Embedded, ServerProcess, ServerSpec
from dcf.cli import doctor, health
from dcf.cli.doctor import examine
from dcf.cli.health import worker_health
from dcf.cli.health_overview import overview
from dcf.cli.settings import Settings
from dcf.cli.trouble import NoSuch, NotSo
from dcf.workflow import submit

HOST = socket.gethostname()


def _settings(url: str | None, home: Path) -> Settings:
    return Settings.from_env({"DCF_HOME": str(home), **({"DCF_REDIS_URL": url} if url else {})})


async def _reads(url: str, name: str, pool: str = "default") -> None:
    """A worker ``name`` reads the queue once."""
    backend = RedisBackend.from_url(url)
    queue = HintQueue(backend, pool=pool, consumer=name)
    await queue.open()
    await queue.read(1, block_ms=1)
    await backend.close()


async def test_a_worker_of_this_host_that_read_lately_is_healthy(
    redis_url: str, tmp_path: Path
) -> None:
    settings = _settings(redis_url, tmp_path)
    await _reads(redis_url, "elsewhere-1-ab")
    with pytest.raises(NotSo, match="a worker of this machine does not read the pool default"):
        await worker_health(settings, None, "default", 15)
    await _reads(redis_url, f"{HOST}-7-ab")
    answer = await worker_health(settings, None, "default", 15)
    assert (answer.status, answer.fields["worker"]) == ("healthy", f"{HOST}-7-ab")
    assert (await worker_health(settings, "elsewhere-1-ab", "default", 15)).status == "healthy"
    with pytest.raises(NotSo, match="does not read the pool nightly"):
        await worker_health(settings, None, "nightly", 15)


async def test_one_that_gave_no_sign_for_long_is_not(redis_url: str, tmp_path: Path) -> None:
    settings = _settings(redis_url, tmp_path)
    await _reads(redis_url, f"{HOST}-7-ab")
    await asyncio.sleep(1.1)
    with pytest.raises(NotSo, match=rf"{HOST}-7-ab gave its last sign of life 1 s ago"):
        await worker_health(settings, None, "default", 1)
    # The one before it in the same container is dead; that is no fault of the new one.
    await _reads(redis_url, f"{HOST}-9-cd")
    answer = await worker_health(settings, None, "default", 1)
    assert answer.fields["worker"] == f"{HOST}-9-cd"


async def test_one_that_is_blocked_is_named_with_what_it_holds(
    redis_url: str, tmp_path: Path
) -> None:
    settings = _settings(redis_url, tmp_path)
    async with crew_on(redis_url) as crew:
        await submit(crew.store, document_of(flow(A=task())), None, workflow_id="run-1")
        for name in ("blocked", "dead"):
            await _reads(redis_url, name)
            # As if that had been 20 s ago: it is known for an hour.
            await crew.store.backend.command("PEXPIRE", keys.reader(name), 3_600_000 - 20_000)
        await crew.store.acquire("run-1", "A", owner="blocked")
        with pytest.raises(NotSo, match="pool default, and holds A of run-1") as told:
            await worker_health(settings, "blocked", "default", 15)
        with pytest.raises(NotSo, match=r"in the pool default$"):
            await worker_health(settings, "dead", "default", 15)
        health = await overview(settings, "default", 1, 15)
    assert "two SIGTERM end it" in (told.value.hint or "")
    parts = {part["name"]: part for part in health.fields["parts"]}
    assert parts["workers"]["status"] == "unhealthy"
    said = r"no sign of life from blocked since \d+ s, and holds A of run-1"
    assert re.match(said, parts["workers"]["found"])


async def test_one_that_is_blocked_in_another_pool_is_named_unless_one_pool_is_asked_for(
    redis_url: str, tmp_path: Path
) -> None:
    settings = _settings(redis_url, tmp_path)
    async with crew_on(redis_url) as crew:
        night = Store(crew.store.backend, pool="night")
        await submit(night, document_of(flow(A=task())), None, workflow_id="run-1")
        await _reads(redis_url, "awake", "default")
        await _reads(redis_url, "blocked", "night")
        await night.backend.command("PEXPIRE", keys.reader("blocked"), 3_600_000 - 20_000)
        await night.acquire("run-1", "A", owner="blocked")
        found = {}
        for pool in (None, "night", "default"):
            parts = (await overview(settings, pool, 1, 15)).fields["parts"]
            found[pool] = next(part for part in parts if part["name"] == "workers")
    assert [part["status"] for part in found.values()] == ["unhealthy", "unhealthy", "healthy"]
    assert "blocked since" in found[None]["found"] and "A of run-1" in found[None]["found"]
    assert found["default"]["found"] == "1 reads the pool default: awake"


async def test_without_redis_there_is_no_healthy_worker(tmp_path: Path) -> None:
    gone = _settings("redis://:secret@127.0.0.1:1/0", tmp_path)
    with pytest.raises(NotSo, match="No Redis server answers") as told:
        await worker_health(gone, None, "default", 15)
    assert "secret" not in str(told.value)
    # A look starts no embedded server.
    with pytest.raises(NotSo, match="does not run"):
        await worker_health(_settings(None, tmp_path), None, "default", 15)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("url", ["http://me:secret@x", "redis://127.0.0.1:99999"])
async def test_what_is_no_url_of_a_redis_is_a_setting_to_mend(url: str, tmp_path: Path) -> None:
    settings = _settings(url, tmp_path)
    for ask in (worker_health(settings, None, "default", 15), overview(settings, "default", 1, 15)):
        with pytest.raises(NoSuch, match="DCF_REDIS_URL is not a Redis URL") as told:
            await ask
        assert told.value.code == "server_url_invalid"
        assert "secret" not in str(told.value)
    checks = {check["name"]: check for check in (await examine(settings)).fields["checks"]}
    assert "is not a Redis URL" in checks["DCF_REDIS_URL"]["found"]


async def test_doctors_exit_code_tells_a_redis_that_died_or_hangs(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_LIMIT_S", 0.5)
    monkeypatch.setattr(doctor, "_CONNECT_S", 0.5)
    settings = Settings.from_env({"DCF_HOME": str(short_dir), "DCF_GRAPH": "off"})

    async def told() -> tuple[int, bool]:
        answer = await examine(settings)
        checks = {check["name"]: check for check in answer.fields["checks"]}
        return answer.exit_code, checks["redis server"]["ok"]

    embedded = Embedded.from_env(settings.env)
    await embedded.start()
    pid = (await embedded.status()).pid
    assert pid is not None
    assert await told() == (0, True)
    os.kill(pid, signal.SIGSTOP)
    assert await told() == (3, False)
    os.kill(pid, signal.SIGKILL)
    while (await embedded.status()).running:
        await asyncio.sleep(0.01)
    assert await told() == (3, False)
    await embedded.start()
    await embedded.stop()
    assert await told() == (0, True)


async def test_a_redis_that_cannot_serve_is_not_healthy(short_dir: Path) -> None:
    plain = ServerProcess(ServerSpec("plain", "plain", ()), short_dir)
    url = (await plain.start()).url
    try:
        with pytest.raises(NotSo, match="has no JSON commands"):
            await worker_health(_settings(url, short_dir), None, "default", 15)
        answer = await overview(_settings(url, short_dir), "default", 1, 15)
    finally:
        await plain.stop()
    [redis] = [part for part in answer.fields["parts"] if part["name"] == "redis"]
    assert (answer.exit_code, redis["status"]) == (1, "unhealthy")
    assert "has no JSON commands" in redis["found"]


async def test_a_server_that_says_nothing_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_LIMIT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"rediss://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(NotSo, match=r"No Redis server answers at rediss:.*has to speak TLS"):
            await worker_health(_settings(url, tmp_path), None, "default", 15)


async def test_a_server_that_says_nothing_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_LIMIT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}"
        answer = await overview(_settings(url, tmp_path), "default", 1, 15)
        silent.setblocking(False)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()
    assert [part["name"] for part in answer.fields["parts"]][:3] == ["redis", "workers", "mcp"]


async def test_where_no_worker_ever_was_there_is_no_sign(redis_url: str) -> None:
    backend = RedisBackend.from_url(redis_url)
    assert await signs_of_life(backend, "default") == {}
    await backend.close()


async def test_who_died_before_a_restart_of_redis_grows_no_younger_by_it(
    short_dir: Path,
) -> None:
    server = ServerProcess(CONTROL_PLANE, short_dir)
    url = (await server.start()).url
    backend = RedisBackend.from_url(url)
    # The log knows of consumers by what they took.
    await backend.command("XADD", keys.queue("default"), "*", "workflow", "r", "path", "A")
    await backend.close()
    await _reads(url, "dead")
    await asyncio.sleep(1)
    before = await _signs(url)
    await server.stop()
    url = (await server.start()).url
    try:
        after = await _signs(url)
    finally:
        await server.stop()
    assert after["dead"] >= before["dead"]


async def _signs(url: str) -> dict[str, int]:
    backend = RedisBackend.from_url(url)
    signs = await signs_of_life(backend, "default")
    await backend.close()
    return signs
