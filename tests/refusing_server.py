"""A real server with JSON that refuses for a while, and one in between that says what servers say
that cannot be made here."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import hiredis
from redis import Redis
from redis.exceptions import ConnectionError, RedisError

from control_plane.embedded.binaries import REDIS_SERVER, REJSON, require

_PATIENCE_S = 20.0


class RefusingServer:
    """The server. ``refusing[code]`` makes it refuse until the block ends."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self.port = port
        self.url = f"redis://127.0.0.1:{port}"
        self.admin = Redis(port=port, decode_responses=True)
        self.refusing: dict[str, Callable[[], AbstractContextManager[None]]] = {
            "OOM": lambda: self._set(("maxmemory", "1", "0")),
            "NOREPLICAS": lambda: self._set(("min-replicas-to-write", "1", "0")),
            "READONLY": self._replica,
            "MASTERDOWN": self._cut_off,
            "MISCONF": self._unsaved,
            "BUSY": self._busy,
            "MAXCLIENTS": self._full,
        }

    @contextmanager
    def _set(self, *settings: tuple[str, str, str]) -> Iterator[None]:
        for name, value, _ in settings:
            self.admin.config_set(name, value)
        try:
            yield
        finally:
            for name, _, value in settings:
                self.admin.config_set(name, value)

    @contextmanager
    def _replica(self) -> Iterator[None]:
        """Of a server that is not there: what it holds, it keeps."""
        self.admin.execute_command("REPLICAOF", "127.0.0.1", "1")
        try:
            yield
        finally:
            self.admin.execute_command("REPLICAOF", "NO", "ONE")

    @contextmanager
    def _cut_off(self) -> Iterator[None]:
        with self._set(("replica-serve-stale-data", "no", "yes")), self._replica():
            yield

    @contextmanager
    def _unsaved(self) -> Iterator[None]:
        """Its folder is gone, so that it cannot save."""
        shutil.rmtree(self._folder)
        try:
            with self._set(("save", "3600 1", ""), ("stop-writes-on-bgsave-error", "yes", "no")):
                with suppress(RedisError):
                    self.admin.bgsave()
                self._until(lambda: self._info("persistence")["rdb_last_bgsave_status"] == "err")
                yield
        finally:
            self._folder.mkdir()
            self.admin.config_set("dir", str(self._folder))

    @contextmanager
    def _busy(self) -> Iterator[None]:
        def loop() -> None:
            with Redis(port=self.port) as client, suppress(RedisError):
                client.eval("while true do end", 0)

        with self._set(("busy-reply-threshold", "1", "5000")):
            looping = threading.Thread(target=loop)
            looping.start()
            self._until(self._is_busy)
            try:
                yield
            finally:
                self.admin.script_kill()
                looping.join()

    def _is_busy(self) -> bool:
        try:
            self.admin.ping()
        except RedisError as error:
            return str(error).startswith("BUSY")
        return False

    @contextmanager
    def _full(self) -> Iterator[None]:
        """Nobody gets in but who is in already, and nobody else is."""
        with self._set(("maxclients", "1", "10000")):
            self.admin.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            yield

    @contextmanager
    def loading(self) -> Iterator[None]:
        """It reads its data again, slowly."""
        # It looks up from its reading after each kilobyte, and what repeats itself has few.
        self.admin.mset({f"load-{number}": os.urandom(2_000).hex() for number in range(20)})

        def reload() -> None:
            with Redis(port=self.port) as client, suppress(RedisError):
                client.execute_command("DEBUG", "RELOAD")

        with self._set(("key-load-delay", "50000", "0")):
            reloading = threading.Thread(target=reload)
            reloading.start()
            self._until(lambda: self._info("persistence")["loading"] == 1)
            yield
            reloading.join()

    def _info(self, section: str) -> dict[str, Any]:
        found: dict[str, Any] = self.admin.info(section)
        return found

    def _until(self, there: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not there():
            assert time.monotonic() < end, "the server does not come to it"
            time.sleep(0.005)


@contextmanager
def refusing_server(folder: Path) -> Iterator[RefusingServer]:
    """The server, empty; its data is in a folder in ``folder``."""
    program, rejson = require(REDIS_SERVER, REJSON)
    data = folder / "data"
    data.mkdir()
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = int(found.getsockname()[1])
    options = {
        "port": port, "bind": "127.0.0.1", "dir": data, "save": "", "appendonly": "no",
        "loadmodule": rejson, "logfile": folder / "log", "enable-debug-command": "yes",
        "enable-protected-configs": "yes", "loading-process-events-interval-bytes": 1_024,
    }  # fmt: skip
    command = [str(program)]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    server = RefusingServer(data, port)
    try:
        end = time.monotonic() + _PATIENCE_S
        while True:
            try:
                server.admin.ping()
                break
            except ConnectionError:
                assert time.monotonic() < end and process.poll() is None
                time.sleep(0.02)
        yield server
    finally:
        server.admin.close()
        process.kill()
        process.wait()


class Between:
    """Hands commands on to a server, one after the other; while ``says`` is set it answers each
    with that error instead."""

    def __init__(self) -> None:
        self.port = 0
        self.says: str | None = None
        self.refused = 0

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    async def serve(
        self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """One connection."""
        behind, to_behind = await asyncio.open_connection("127.0.0.1", port)
        asked, answered = hiredis.Reader(), hiredis.Reader()
        try:
            while data := await reader.read(65_536):
                asked.feed(data)
                while (command := asked.gets()) is not False:
                    if self.says is not None:
                        self.refused += 1
                        writer.write(f"-{self.says}\r\n".encode())
                        continue
                    to_behind.write(hiredis.pack_command(tuple(command)))
                    while answered.gets() is False:
                        answer = await behind.read(65_536)
                        if not answer:
                            return
                        answered.feed(answer)
                        writer.write(answer)
                await writer.drain()
        except OSError:
            return  # whoever asked, or the server, hung up
        finally:
            writer.close()
            to_behind.close()


@asynccontextmanager
async def between(port: int) -> AsyncIterator[Between]:
    """In front of the server at ``port``."""
    there = Between()
    connections: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(there.serve(port, reader, writer))
        connections.add(task)
        task.add_done_callback(connections.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    there.port = server.sockets[0].getsockname()[1]
    try:
        yield there
    finally:
        server.close()
        for task in tuple(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
