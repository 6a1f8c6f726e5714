"""What goes wrong: each fault for a while, several at a time, chosen by a seed."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.exceptions import RedisError

from control_plane.embedded import Embedded
from tests.chaos.deployment import Crew
from tests.chaos.effects import Clock
from tests.chaos.network import Network

# What clients are prepared for.
_NO_REFUSALS = ("BUSYGROUP", "NOSCRIPT")
_DISK_BYTES = 256 << 20
_CHUNK = 1 << 16
# How wrong a clock may become.
_CLOCK_S = 3600.0
# A port of this machine that nobody listens on: a replica of it takes no writes and keeps its data.
_NO_MASTER = ("127.0.0.1", "1")


class Store:
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
    """A small disk of its own for everything in ``home``, which can be full. Without the right to
    mount one, ``is_small`` is False and it is the disk of the machine."""

    def __init__(self, home: Path, *, is_small: bool) -> None:
        self._filler = home / "filler"
        self.is_small = is_small

    @classmethod
    @contextmanager
    def made(cls, home: Path) -> Iterator[Self]:
        home.mkdir(mode=0o700)
        mount = ("mount", "-t", "tmpfs", "-o", f"size={_DISK_BYTES},mode=700", "dcf-chaos")
        is_small = subprocess.run([*mount, home], stderr=subprocess.DEVNULL).returncode == 0
        try:
            yield cls(home, is_small=is_small)
        finally:
            if is_small:
                subprocess.run(["umount", "--lazy", home], check=True)

    def fill(self) -> None:
        """Leave no room."""
        with suppress(OSError), self._filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(_CHUNK))

    def clear(self) -> None:
        self._filler.unlink(missing_ok=True)


class Faults:
    """Lets faults of every kind happen, ``each_s`` seconds apart on average. ``happened`` counts
    them."""

    def __init__(
        self,
        store: Store,
        crew: Crew,
        network: Network,
        disk: Disk,
        clock: Clock,
        rng: random.Random,
        *,
        lease_s: float,
        each_s: float,
    ) -> None:
        self._rng = rng
        self._each_s = each_s
        self.happened: Counter[str] = Counter()
        short, long = (0.3, 1.5), (0.5 * lease_s, 3 * lease_s)
        self._kinds: dict[str, tuple[int, Callable[[], Awaitable[bool]]]] = {
            "worker killed": (35, lambda: _now(crew.kill(rng))),
            "worker stopped": (10, lambda: crew.freeze(rng, rng.uniform(*long))),
            "Redis killed": (5, lambda: store.kill(rng.uniform(*short))),
            "Redis out of memory": (4, lambda: store.out_of_memory(rng.uniform(*long))),
            "Redis read-only": (3, lambda: store.read_only(rng.uniform(*long))),
            "connections dropped": (4, lambda: _now(_drop(network))),
            "network stalled": (3, lambda: network.stall(rng.uniform(*long))),
            "clock changed": (3, lambda: _now(clock.change(rng.uniform(-_CLOCK_S, _CLOCK_S)))),
        }
        if disk.is_small:
            self._kinds["disk full"] = 2, lambda: store.disk_full(disk, rng.uniform(*long))

    async def happen(self, seconds: float) -> None:
        """For so long; returns when the last one is over."""
        ends = asyncio.get_running_loop().time() + seconds
        kinds = list(self._kinds)
        weights = [weight for weight, _ in self._kinds.values()]
        async with asyncio.TaskGroup() as group:
            while asyncio.get_running_loop().time() < ends:
                await asyncio.sleep(self._rng.expovariate(1 / self._each_s))
                [kind] = self._rng.choices(kinds, weights)
                group.create_task(self._one(kind))

    async def _one(self, kind: str) -> None:
        if await self._kinds[kind][1]():
            self.happened[kind] += 1


def _drop(network: Network) -> bool:
    network.drop()
    return True


async def _now(done: bool) -> bool:
    return done
