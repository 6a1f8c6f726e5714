"""A real server in cluster mode, alone with all slots, and a world on it."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import ConnectionError
from worlds import World

from control_plane import INDEX, Backend, RedisBackend, keys
from control_plane.embedded.binaries import REDIS_SERVER, REJSON, require
from control_plane.script import Script

_PATIENCE_S = 20.0


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def cluster_server(folder: Path) -> Iterator[str]:
    """The URL of the server; it refuses scripts that touch keys of several slots."""
    program, rejson = require(REDIS_SERVER, REJSON)
    port, bus = _free_port(), _free_port()
    options = {
        "port": port, "cluster-port": bus, "bind": "127.0.0.1", "cluster-enabled": "yes",
        "dir": folder, "save": "", "appendonly": "no", "hz": 500, "loadmodule": rejson,
        "logfile": folder / "log",
    }  # fmt: skip
    command = [str(program)]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _assign_slots(port)
        yield f"redis://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _assign_slots(port: int) -> None:
    with Redis(port=port, decode_responses=True) as client:
        client.response_callbacks.clear()
        end = time.monotonic() + _PATIENCE_S
        while time.monotonic() < end:
            try:
                info = str(client.execute_command("CLUSTER", "INFO"))
            except ConnectionError:
                time.sleep(0.02)
                continue
            if "cluster_state:ok" in info:
                return
            if "cluster_slots_assigned:0" in info:
                client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            time.sleep(0.02)
    raise AssertionError("the cluster did not form")


def clock_key(key: str) -> str:
    """A clock in the slot of ``key``."""
    _, opening, rest = key.partition("{")
    return f"{{{rest.partition('}')[0] if opening else key}}}:clock"


def _strict(script: Script) -> Script:
    """The same script with the first line that makes a server check the slots of all its keys."""
    return Script(script.name, f"#!lua\n{script.source}")


class _SlotClocks(RedisBackend):
    """Scripts read the time from a key in their own slot."""

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        return await super().run(_strict(script.with_clock(clock_key(keys[0]))), keys, args)

    async def command(self, *args: str | int) -> Any:
        if args == ("TIME",):
            return await super().command("HMGET", clock_key(INDEX), "seconds", "microseconds")
        return await super().command(*args)


class ClusterWorld(World):
    """A control plane on a cluster; the clock knows the runs it is made for."""

    def __init__(self, url: str, runs: Sequence[str]) -> None:
        super().__init__()
        self._backend = _SlotClocks.from_url(url)
        self._clocks = [
            clock_key(INDEX),
            clock_key(keys.runs("running")),
            *(clock_key(f"{{{run}}}") for run in runs),
        ]

    @property
    def backend(self) -> Backend:
        return self._backend

    async def advance(self, ms: int) -> None:
        await super().advance(ms)
        seconds, rest = divmod(self.now_ms, 1000)
        for key in self._clocks:
            await self._backend.command(
                "HSET", key, "seconds", seconds, "microseconds", rest * 1000
            )

    async def keys(self) -> list[str]:
        return [key for key in await super().keys() if not key.endswith(":clock")]
