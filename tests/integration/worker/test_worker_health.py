"""A worker's health is the sign of life that it gives in Redis."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from control_plane import HintQueue, RedisBackend, signs_of_life
from dcf.cli.health import worker_health
from dcf.cli.settings import Settings
from dcf.cli.trouble import NotSo

HOST = socket.gethostname()


def _settings(url: str | None, home: Path) -> Settings:
    return Settings.from_env({"DCF_HOME": str(home), **({"DCF_REDIS_URL": url} if url else {})})


async def _reads(url: str, name: str) -> None:
    """A worker ``name`` reads the queue once."""
    backend = RedisBackend.from_url(url)
    queue = HintQueue(backend, pool="default", consumer=name)
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


async def test_without_redis_there_is_no_healthy_worker(tmp_path: Path) -> None:
    gone = _settings("redis://:secret@127.0.0.1:1/0", tmp_path)
    with pytest.raises(NotSo, match="Redis does not answer") as told:
        await worker_health(gone, None, "default", 15)
    assert "secret" not in str(told.value)
    # A look starts no embedded server.
    with pytest.raises(NotSo, match="does not run"):
        await worker_health(_settings(None, tmp_path), None, "default", 15)
    assert not any(tmp_path.iterdir())


async def test_where_no_worker_ever_was_there_is_no_sign(redis_url: str) -> None:
    backend = RedisBackend.from_url(redis_url)
    assert await signs_of_life(backend, "default") == {}
    await backend.close()
