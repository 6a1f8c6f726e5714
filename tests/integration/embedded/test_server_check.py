"""A Redis of the user's own is examined before it is trusted, and its password never shown."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path

import pytest
from redis.asyncio import Redis

from control_plane.embedded import Embedded, ServerProcess, ServerSpec, check_server, resolve
from control_plane.embedded.errors import (
    ServerDatabaseMissing,
    ServerLoading,
    ServerReadOnly,
    ServerRefusedLogin,
    ServerRefusesClient,
    ServerTooOld,
    ServerUnreachable,
    ServerUnsuitable,
    ServerUrlInvalid,
    ServerWithoutJson,
    SettingInvalid,
)

FakeRedis = Callable[[Mapping[str, object]], Awaitable[str]]
PLAIN = ServerSpec("plain", "plain", ())


@pytest.fixture
async def plain_url(short_dir: Path) -> AsyncIterator[str]:
    """A Redis without JSON, on a loopback port with a password."""
    server = ServerProcess(PLAIN, short_dir / ("x" * 120))
    yield (await server.start()).url
    await server.stop()


async def test_a_suitable_server_is_described(redis_url: str) -> None:
    report = await check_server(redis_url)
    assert report.version.startswith("8.")
    assert report.json_version == "2.8.3"
    assert report.concerns == ()


async def test_a_server_without_json_is_refused_with_a_way_out(plain_url: str) -> None:
    with pytest.raises(ServerWithoutJson) as caught:
        await check_server(plain_url)
    assert "--loadmodule" in caught.value.hint
    assert "Redis Stack" in caught.value.hint
    assert "Redis 8" not in caught.value.hint


async def test_a_wrong_password_is_refused_and_not_repeated(plain_url: str) -> None:
    right = plain_url.removeprefix("redis://:").partition("@")[0]
    with pytest.raises(ServerRefusedLogin) as caught:
        await check_server(plain_url.replace(right, "hunter2-wrong"))
    assert "hunter2-wrong" not in str(caught.value)
    assert "DCF_REDIS_URL" in caught.value.hint


async def test_a_missing_password_is_refused(plain_url: str) -> None:
    right = plain_url.removeprefix("redis://:").partition("@")[0]
    with pytest.raises(ServerRefusedLogin):
        await check_server(plain_url.replace(f":{right}@", ""))


async def test_a_database_that_is_not_there_is_no_matter_of_the_login(plain_url: str) -> None:
    with pytest.raises(ServerDatabaseMissing, match="DB index is out of range") as caught:
        await check_server(f"{plain_url.rpartition('/')[0]}/999")
    assert "`databases`" in caught.value.hint
    assert "password into" not in caught.value.hint


async def test_a_user_who_may_too_little_is_no_matter_of_the_password(plain_url: str) -> None:
    async with Redis.from_url(plain_url) as client:
        await client.execute_command("ACL", "SETUSER", "small", "on", ">pw", "~*", "+ping")
    place = plain_url.partition("@")[2]
    with pytest.raises(ServerRefusesClient, match="permissions") as caught:
        await check_server(f"redis://small:pw@{place}")
    assert "ACL SETUSER" in caught.value.hint


async def test_a_plain_server_is_no_server_of_tls(plain_url: str) -> None:
    with pytest.raises(ServerUnreachable, match="has to speak TLS"):
        await check_server(plain_url.replace("redis://", "rediss://"), timeout_s=0.3)


@pytest.mark.parametrize(
    "url", ["redis://me:hunter2@127.0.0.1:1/0", "unix://me@/nowhere.sock?db=0&password=hunter2"]
)
async def test_nobody_there(url: str) -> None:
    with pytest.raises(ServerUnreachable) as caught:
        await check_server(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:6379",
        "http://me:hunter2@host/",
        "redis://me:hunter2@host:port/0",
        "redis://me:hunter2@127.0.0.1:1/main",
        "redis://me:hunter2@127.0.0.1:1/1/2",
        "redis://me:hunter2@127.0.0.1:1/0?compress=yes",
        "redis://me:hunter2@127.0.0.1:1/0?retry=3",
        "redis://me:hunter2@127.0.0.1:1/0?protocol=3",
        "redis://me:hunter2@127.0.0.1:1/0?redis_connect_func=x",
        "redis://me:hunter2@127.0.0.1:1/0?ssl_cert_reqs=none",
        "rediss://me:hunter2@127.0.0.1:1/0?ssl_cert_reqs=perhaps",
        "redis://me:hunter2@127.0.0.1:1/0?db=main",
    ],
)
async def test_no_redis_url(url: str) -> None:
    with pytest.raises(ServerUrlInvalid) as caught:
        await check_server(url)
    assert "hunter2" not in str(caught.value)
    assert "redis://" in caught.value.hint


async def test_an_unknown_option_is_named_and_no_other() -> None:
    with pytest.raises(ServerUrlInvalid, match=r"no option foo, bar\)"):
        await check_server("redis://127.0.0.1:1/0?socket_timeout=5&foo=1&db=1&bar=2")
    with pytest.raises(ServerUnreachable):
        await check_server("rediss://127.0.0.1:1/0?ssl_cert_reqs=none&client_name=dcf")


async def test_an_old_server_is_refused(fake_redis: FakeRedis) -> None:
    url = await fake_redis({"redis_version": "6.2.14", "role": "master"})
    with pytest.raises(ServerTooOld, match=r"6\.2\.14.*7\.0"):
        await check_server(url)


async def test_a_replica_is_refused(fake_redis: FakeRedis) -> None:
    url = await fake_redis({"redis_version": "7.4.0", "role": "slave"})
    with pytest.raises(ServerReadOnly):
        await check_server(url)


async def test_a_loading_server_is_told_with_its_progress(fake_redis: FakeRedis) -> None:
    url = await fake_redis(
        {
            "redis_version": "8.0.0",
            "loading": 1,
            "loading_loaded_perc": "41.70",
            "loading_eta_seconds": 12,
        }
    )
    with pytest.raises(ServerLoading, match=r"42 %.*12 s"):
        await check_server(url)


async def test_a_server_that_forgets_is_used_with_a_warning(embedded: Embedded) -> None:
    address = await embedded.start()
    async with Redis.from_url(address.url) as client:
        await client.config_set("maxmemory-policy", "allkeys-lru")
        await client.config_set("appendonly", "no")
    report = await check_server(address.url)
    assert [concern.name for concern in report.concerns] == ["maxmemory-policy", "appendonly"]
    assert not any(concern.ok or concern.required for concern in report.concerns)
    assert report.concerns[0].hint == "CONFIG SET maxmemory-policy noeviction"


async def test_resolve_takes_the_configured_server(redis_url: str) -> None:
    address = await resolve({"DCF_REDIS_URL": redis_url})
    assert (address.url, address.origin) == (redis_url, "configured")


async def test_resolve_checks_the_configured_server(plain_url: str) -> None:
    with pytest.raises(ServerUnsuitable):
        await resolve({"DCF_REDIS_URL": plain_url})


async def test_resolve_starts_the_embedded_server_otherwise(short_dir: Path) -> None:
    env = {"DCF_HOME": str(short_dir), "DCF_FSYNC": "always"}
    try:
        address = await resolve(env)
        assert address.origin == "embedded"
        async with Redis.from_url(address.url, decode_responses=True) as client:
            assert await client.config_get("appendfsync") == {"appendfsync": "always"}
    finally:
        await Embedded(short_dir).stop()


async def test_resolve_refuses_a_durability_it_does_not_know(short_dir: Path) -> None:
    with pytest.raises(SettingInvalid, match="never"):
        await resolve({"DCF_HOME": str(short_dir), "DCF_FSYNC": "never"})
