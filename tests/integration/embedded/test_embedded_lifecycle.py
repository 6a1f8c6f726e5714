"""An embedded Redis is started once, found by everybody, outlives its starter, and stops."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from redis.asyncio import Redis

from control_plane.embedded import Embedded, LoadProgress, Status
from control_plane.embedded.birth import birth

START = """
import asyncio, sys
from pathlib import Path
from control_plane.embedded import Embedded
async def main():
    embedded = Embedded(Path(sys.argv[1]))
    address = await embedded.start()
    print(address.url, (await embedded.status()).pid)
asyncio.run(main())
"""


async def running(embedded: Embedded) -> tuple[int, str]:
    """Pid and URL of a server that must run."""
    status = await embedded.status()
    assert status.pid is not None
    assert status.url is not None
    return status.pid, status.url


async def kill(embedded: Embedded) -> None:
    """SIGKILL, and wait until the kernel has buried it."""
    pid, _ = await running(embedded)
    os.kill(pid, signal.SIGKILL)
    async with asyncio.timeout(10):
        while (await embedded.status()).running:
            await asyncio.sleep(0.005)


async def test_start_gives_a_redis_with_json_and_an_append_only_file(embedded: Embedded) -> None:
    address = await embedded.start()
    async with Redis.from_url(address.url, decode_responses=True) as client:
        await client.json().set("k", "$", {"a": 1})
        settings = await client.config_get("appendonly", "appendfsync", "maxmemory-policy", "save")
    assert settings == {
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
        "save": "",
    }
    assert address.origin == "embedded"


async def test_status_before_between_and_after(embedded: Embedded, short_dir: Path) -> None:
    assert await embedded.status() == Status(short_dir / "redis")
    address = await embedded.start()
    status = await embedded.status()
    assert (status.running, status.responding, status.loading) == (True, True, False)
    assert status.url == address.url
    assert status.version is not None
    assert status.version.startswith("8.")
    assert status.json_version == "2.8.3"
    assert status.memory_bytes is not None
    assert 100_000 < status.memory_bytes < 50_000_000
    assert await embedded.stop() is True
    assert await embedded.status() == Status(short_dir / "redis")
    assert await embedded.stop() is False


async def test_starting_again_joins_the_server_that_runs(
    embedded: Embedded, short_dir: Path
) -> None:
    first = await embedded.start()
    pid, _ = await running(embedded)
    second = await Embedded(short_dir).start()
    assert second == first
    assert (await running(embedded))[0] == pid


async def test_the_folder_is_private(embedded: Embedded, short_dir: Path) -> None:
    await embedded.start()
    folder = short_dir / "redis"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    open_files = [
        file.name
        for file in folder.iterdir()
        if file.is_file() and stat.S_IMODE(file.stat().st_mode) & 0o077
    ]
    assert open_files == []


async def test_five_processes_that_start_at_once_get_one_server(
    embedded: Embedded, short_dir: Path
) -> None:
    starters = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", START, str(short_dir), stdout=asyncio.subprocess.PIPE
        )
        for _ in range(5)
    ]
    outputs = [(await starter.communicate())[0].decode().split() for starter in starters]
    pid, url = await running(embedded)
    assert outputs == [[url, str(pid)]] * 5


async def test_the_server_outlives_its_starter_and_every_signal_to_it(
    embedded: Embedded, short_dir: Path
) -> None:
    starter = subprocess.run(
        [sys.executable, "-c", START, str(short_dir)], capture_output=True, text=True, check=True
    )
    pid = int(starter.stdout.split()[1])
    assert os.getsid(pid) == pid
    assert (await embedded.status()).responding


async def synced(client: Redis) -> None:
    """Waits until all that this client wrote is on the disk."""
    assert (await client.execute_command("WAITAOF", 1, 0, 10_000))[0] == 1


async def test_kill_9_loses_nothing_that_was_synced(embedded: Embedded) -> None:
    address = await embedded.start()
    async with Redis.from_url(address.url, decode_responses=True) as client:
        for number in range(200):
            await client.json().set(f"k{number}", "$", {"n": number})
        await synced(client)
    await kill(embedded)
    again = await embedded.start()
    async with Redis.from_url(again.url, decode_responses=True) as client:
        assert await client.dbsize() == 200
        assert await client.json().get("k199") == {"n": 199}


async def test_with_fsync_always_kill_9_loses_nothing_that_was_acknowledged(
    short_dir: Path,
) -> None:
    embedded = Embedded(short_dir, fsync="always")
    try:
        for round_number in range(3):
            address = await embedded.start()
            async with Redis.from_url(address.url) as client:
                assert await client.dbsize() == 20 * round_number
                for number in range(20):
                    await client.set(f"{round_number}:{number}", 1)
                await kill(embedded)
    finally:
        await embedded.stop()


async def test_a_torn_last_write_is_dropped_and_the_rest_kept(
    embedded: Embedded, short_dir: Path
) -> None:
    address = await embedded.start()
    async with Redis.from_url(address.url) as client:
        await client.set("whole", "1")
        await client.set("torn", "x" * 100)
        await synced(client)
    await kill(embedded)
    (log,) = (short_dir / "redis" / "appendonlydir").glob("*.incr.aof")
    os.truncate(log, log.stat().st_size - 7)
    again = await embedded.start()
    async with Redis.from_url(again.url) as client:
        assert await client.exists("whole") == 1
        assert await client.exists("torn") == 0


async def test_data_survives_a_clean_stop(embedded: Embedded, short_dir: Path) -> None:
    address = await embedded.start()
    pid, _ = await running(embedded)
    async with Redis.from_url(address.url) as client:
        await client.set("k", "v")
    await embedded.stop()
    assert birth(pid) is None
    assert not (short_dir / "redis" / "redis.sock").exists()
    again = await embedded.start()
    async with Redis.from_url(again.url) as client:
        assert await client.get("k") == b"v"


async def test_a_long_replay_is_waited_for_and_reported(embedded: Embedded) -> None:
    address = await embedded.start()
    async with Redis.from_url(address.url) as client:
        for part in range(4):
            await client.eval(
                "for i = 1, 100000 do redis.call('SET', ARGV[1] .. i, i) end", 0, f"{part}:"
            )
        await synced(client)
    await kill(embedded)
    seen: list[LoadProgress] = []
    again = await embedded.start(seen.append)
    assert seen
    shares = [progress.share for progress in seen]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    async with Redis.from_url(again.url) as client:
        assert await client.dbsize() == 400_000


async def test_fsync_always_is_kept_and_can_be_raised_but_not_lowered(short_dir: Path) -> None:
    relaxed, strict = Embedded(short_dir), Embedded(short_dir, fsync="always")
    address = await relaxed.start()
    try:
        async with Redis.from_url(address.url, decode_responses=True) as client:
            assert await client.config_get("appendfsync") == {"appendfsync": "everysec"}
            await strict.start()
            assert await client.config_get("appendfsync") == {"appendfsync": "always"}
            await relaxed.start()
            assert await client.config_get("appendfsync") == {"appendfsync": "always"}
    finally:
        await relaxed.stop()


async def test_the_server_does_not_inherit_the_environment(
    embedded: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    await embedded.start()
    pid, _ = await running(embedded)
    assert b"sk-very-secret" not in Path(f"/proc/{pid}/environ").read_bytes()


async def test_the_record_names_the_process(embedded: Embedded, short_dir: Path) -> None:
    await embedded.start()
    pid, url = await running(embedded)
    record = json.loads((short_dir / "redis" / "server.json").read_text())
    assert record == {"url": url, "pid": pid, "born": birth(pid)}


async def test_the_graph_is_a_second_process_and_neither_takes_the_other_down(
    embedded: Embedded,
) -> None:
    await embedded.start()
    graph = await embedded.graph.start()
    status = await embedded.graph.status()
    assert status.modules["graph"] == "4.16.3"
    assert status.json_version is None
    async with Redis.from_url(graph.url) as client:
        reply = await client.execute_command("GRAPH.QUERY", "g", "CREATE (n:Skill) RETURN n.x")
        assert reply
        timeouts = await client.execute_command("GRAPH.CONFIG", "GET", "TIMEOUT_DEFAULT")
        assert timeouts == [b"TIMEOUT_DEFAULT", 5000]
    assert status.pid is not None
    os.kill(status.pid, signal.SIGKILL)
    assert (await embedded.status()).responding
