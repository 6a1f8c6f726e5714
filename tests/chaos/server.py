"""The Redis of a run of chaos and its disk, which can die, refuse and be full."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.exceptions import RedisError

from control_plane.embedded import Embedded

# What clients are prepared for.
_NO_REFUSALS = ("BUSYGROUP", "NOSCRIPT")
_DISK_BYTES = 256 << 20
_CHUNK = 1 << 16
# A port of this machine that nobody listens on: a replica of it takes no writes and keeps its data.
_NO_MASTER = ("127.0.0.1", "1")


class RedisServer:
    """The Redis of a run of chaos, which can die, and can refuse."""

    def __init__(self, home: Path) -> None:
        self._embedded = Embedded(home, fsync="always")
        # One fault of the server at a time.
        self._busy = asyncio.Lock()
        self.socket = Path()
        self.refused: Counter[str] = Counter()

    async def open(self) -> None:
        address = await self._embedded.start()
        self.socket = Path(urlsplit(address.url).path)

    async def close(self) -> None:
        await self._embedded.stop()

    def client(self) -> Redis:
        return Redis(unix_socket_path=str(self.socket), decode_responses=True)

    async def kill(self, down_s: float) -> bool:
        """SIGKILL, and a start after a while."""
        async with self._busy:
            await self._count()
            status = await self._embedded.status()
            if status.pid is None:
                return False
            os.kill(status.pid, signal.SIGKILL)
            await asyncio.sleep(down_s)
            await self.open()
            return True

    async def out_of_memory(self, seconds: float) -> bool:
        """Every write is refused with OOM."""
        return await self._refuse(
            seconds, ("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0")
        )

    async def read_only(self, seconds: float) -> bool:
        """A replica without its master: every write is refused with READONLY."""
        return await self._refuse(seconds, ("REPLICAOF", *_NO_MASTER), ("REPLICAOF", "NO", "ONE"))

    async def disk_full(self, disk: Disk, seconds: float) -> bool:
        """Nothing can be written. A server that writes each command at once ends itself then, and
        is started again when there is room."""
        async with self._busy:
            await self._count()
            disk.fill()
            await asyncio.sleep(seconds)
            disk.clear()
            await self.open()
            return True

    async def refusals(self) -> Counter[str]:
        """How many commands were refused, by reason."""
        await self._count()
        return self.refused

    async def _refuse(self, seconds: float, begin: tuple[str, ...], end: tuple[str, ...]) -> bool:
        async with self._busy, self.client() as client:
            try:
                await client.execute_command(*begin)
                await asyncio.sleep(seconds)
            finally:
                await client.execute_command(*end)
        return True

    async def _count(self) -> None:
        """Add what the server counted, which it forgets when it dies."""
        with suppress(RedisError, OSError):
            async with self.client() as client:
                told = await client.info("errorstats")
                await client.config_resetstat()
            for name, value in told.items():
                if (reason := name.removeprefix("errorstat_")) not in _NO_REFUSALS:
                    self.refused[reason] += int(value["count"])


class Disk:
    """A small disk of its own for everything in ``home``, which can be full. Where none can be
    mounted, ``why_not`` says why, and it is the disk of the machine; "" otherwise."""

    def __init__(self, home: Path, *, why_not: str) -> None:
        self._filler = home / "filler"
        self.why_not = why_not

    @classmethod
    @contextmanager
    def made(cls, home: Path) -> Iterator[Self]:
        home.mkdir(mode=0o700)
        mount = ("mount", "-t", "tmpfs", "-o", f"size={_DISK_BYTES},mode=700", "dcf-chaos")
        why_not = ""
        try:
            subprocess.run([*mount, home], check=True, capture_output=True, text=True)
        except subprocess.CalledProcessError as error:
            why_not = f"no small disk can be mounted: {error.stderr.strip() or error}"
        except OSError as error:
            why_not = f"no small disk can be mounted: {error}"
        try:
            yield cls(home, why_not=why_not)
        finally:
            if not why_not:
                subprocess.run(["umount", "--lazy", home], check=True)

    def fill(self) -> None:
        """Leave no room."""
        with suppress(OSError), self._filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(_CHUNK))

    def clear(self) -> None:
        self._filler.unlink(missing_ok=True)
