"""What crashes, strangers and odd folders leave behind does not confuse a start or a stop."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from control_plane.embedded import CONTROL_PLANE, Embedded, ServerProcess, ServerSpec
from control_plane.embedded.birth import birth
from control_plane.embedded.errors import (
    DataFolderUnusable,
    FolderLocked,
    ServerUnresponsive,
    StartFailed,
    StopFailed,
)
from control_plane.embedded.filelock import try_lock
from control_plane.embedded.record import Record

STUCK = "nobody will ever answer here"


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process of somebody else."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


async def pid_of(embedded: Embedded) -> int:
    pid = (await embedded.status()).pid
    assert pid is not None
    return pid


async def ping(url: str) -> None:
    async with Redis.from_url(url) as client:
        assert await client.ping() is True


async def test_files_of_a_crash_are_no_obstacle(embedded: Embedded, short_dir: Path) -> None:
    folder = short_dir / "redis"
    folder.mkdir()
    (folder / "redis.sock").touch()
    (folder / "server.lock").touch()
    (folder / "start.lock").touch()
    (folder / "server.json").write_text('{"url": "unix:///gone.sock?db=0", "pid": 1, "bo')
    address = await embedded.start()
    await ping(address.url)


async def test_a_reused_pid_is_neither_taken_for_the_server_nor_harmed(
    embedded: Embedded, short_dir: Path, stranger: subprocess.Popen[bytes]
) -> None:
    folder = short_dir / "redis"
    folder.mkdir()
    Record(f"unix://{folder}/redis.sock?db=0", stranger.pid, "ticks:1").write(
        folder / "server.json"
    )
    assert not (await embedded.status()).running
    assert await embedded.stop() is False
    await embedded.start()
    assert await pid_of(embedded) != stranger.pid
    assert stranger.poll() is None


async def test_a_server_of_another_folder_is_not_taken_for_ours(
    embedded: Embedded, short_dir: Path
) -> None:
    other = Embedded(short_dir / "other")
    foreign = await other.start()
    try:
        folder = short_dir / "redis"
        folder.mkdir()
        Record(foreign.url).write(folder / "server.json")
        ours = await embedded.start()
        assert ours.url != foreign.url
        assert await pid_of(embedded) != await pid_of(other)
    finally:
        await other.stop()


async def test_a_lost_record_never_leads_to_a_second_server(
    embedded: Embedded, short_dir: Path
) -> None:
    address = await embedded.start()
    pid = await pid_of(embedded)
    record = short_dir / "redis" / "server.json"
    text = record.read_text()
    record.unlink()
    with pytest.raises(ServerUnresponsive):
        await Embedded(short_dir, patience_s=0.2).start()
    record.write_text(text)
    assert await embedded.start() == address
    assert await pid_of(embedded) == pid


async def test_a_start_waits_for_a_stop_that_is_under_way(embedded: Embedded) -> None:
    await embedded.start()
    first = await pid_of(embedded)
    _, address = await asyncio.gather(embedded.stop(), embedded.start())
    await ping(address.url)
    assert await pid_of(embedded) != first


async def test_a_suspended_server_is_reported_and_can_still_be_stopped(short_dir: Path) -> None:
    embedded = Embedded(short_dir, patience_s=0.3)
    await embedded.start()
    pid = await pid_of(embedded)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(ServerUnresponsive, match="control plane"):
        await embedded.start()
    status = await embedded.status()
    assert (status.running, status.responding, status.pid) == (True, False, pid)
    assert await embedded.stop(grace_s=0.2) is True
    assert birth(pid) is None


async def test_somebody_elses_lock_is_not_broken(
    short_dir: Path, stranger: subprocess.Popen[bytes]
) -> None:
    """The lock is held by a process that the record does not describe: hands off."""
    folder = short_dir / "redis"
    folder.mkdir()
    Record(f"unix://{folder}/x.sock?db=0", stranger.pid, "ticks:1").write(folder / "server.json")
    held = try_lock(folder / "server.lock")
    assert held is not None
    with pytest.raises(StopFailed):
        await Embedded(short_dir, patience_s=0.2).stop(grace_s=0.1)
    os.close(held)
    assert stranger.poll() is None


async def test_a_start_that_takes_too_long_elsewhere_is_named(short_dir: Path) -> None:
    (short_dir / "redis").mkdir()
    held = try_lock(short_dir / "redis" / "start.lock")
    assert held is not None
    with pytest.raises(FolderLocked, match=r"start\.lock"):
        await Embedded(short_dir, patience_s=0.1).start()
    os.close(held)


async def test_a_path_too_long_for_a_socket_uses_the_runtime_folder(short_dir: Path) -> None:
    runtime = short_dir / "run"
    runtime.mkdir()
    embedded = Embedded(short_dir / ("x" * 120), runtime_dir=runtime)
    address = await embedded.start()
    try:
        assert address.url.startswith(f"unix://{runtime}/dcf-")
        await ping(address.url)
    finally:
        await embedded.stop()
    assert list(runtime.iterdir()) == []


async def test_without_a_runtime_folder_it_is_a_loopback_port_with_a_password(
    short_dir: Path,
) -> None:
    home = short_dir / ("x" * 120)
    embedded = Embedded(home)
    address = await embedded.start()
    try:
        assert address.url.startswith("redis://:")
        assert address.label.startswith("redis://127.0.0.1:")
        await ping(address.url)
        assert await Embedded(home).start() == address
        password = address.url.removeprefix("redis://:").partition("@")[0]
        command = Path(f"/proc/{await pid_of(embedded)}/cmdline").read_bytes()
        assert password.encode() not in command
        assert password not in repr(await embedded.status())
    finally:
        await embedded.stop()


@pytest.mark.parametrize("name", ["with blank", "it's", 'a"b', "ü", "per%20cent", "a@b?c#d"])
async def test_any_folder_name_will_do(short_dir: Path, name: str) -> None:
    embedded = Embedded(short_dir / name)
    address = await embedded.start()
    try:
        await ping(address.url)
        assert await embedded.start() == address
    finally:
        await embedded.stop()


async def test_a_folder_behind_a_symlink_is_recognised(short_dir: Path) -> None:
    (short_dir / "real").mkdir()
    (short_dir / "link").symlink_to("real")
    embedded = Embedded(short_dir / "link")
    address = await embedded.start()
    try:
        assert await embedded.start() == address
    finally:
        await embedded.stop()


async def test_a_folder_that_cannot_be_is_named(short_dir: Path) -> None:
    (short_dir / "file").touch()
    with pytest.raises(DataFolderUnusable, match="file/redis"):
        await Embedded(short_dir / "file").start()


async def test_a_server_that_refuses_its_data_shows_its_last_words(
    embedded: Embedded, short_dir: Path
) -> None:
    folder = short_dir / "redis" / "appendonlydir"
    folder.mkdir(parents=True)
    (folder / "appendonly.aof.manifest").write_text(STUCK)
    with pytest.raises(StartFailed, match="manifest") as caught:
        await embedded.start()
    assert "server.log" in caught.value.hint
    assert not (await embedded.status()).running


async def test_a_spec_without_modules_is_a_plain_redis(short_dir: Path) -> None:
    server = ServerProcess(ServerSpec("plain", "plain", ()), short_dir / "plain")
    await server.start()
    try:
        assert (await server.status()).json_version is None
    finally:
        await server.stop()
    assert CONTROL_PLANE.modules
