"""One redis-server process over one data folder: started once, found again, stopped cleanly."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from redis.exceptions import RedisError

from control_plane.embedded.address import Address
from control_plane.embedded.birth import signal_process
from control_plane.embedded.endpoint import socket_path
from control_plane.embedded.errors import FolderLocked, StopFailed
from control_plane.embedded.filelock import locked
from control_plane.embedded.folder import DataFolder
from control_plane.embedded.launch import launch
from control_plane.embedded.presence import Presence
from control_plane.embedded.record import Record
from control_plane.embedded.spec import Fsync, ServerSpec
from control_plane.embedded.status import OnProgress, Status
from control_plane.embedded.vitals import connection

PATIENCE_S = 60.0
_KILL_GRACE_S = 10.0


class ServerProcess:
    """The server that ``spec`` describes, with its data in ``data_dir``.

    Any number of processes may hold one of these for the same folder: there is never more than
    one server, and it outlives them all. ``patience_s`` is how long a living server may stay
    silent before that is an error; loading is not silence and may take any time.
    """

    def __init__(
        self,
        spec: ServerSpec,
        data_dir: Path,
        *,
        fsync: Fsync = "everysec",
        runtime_dir: Path | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._spec = spec
        self._folder = DataFolder(data_dir.absolute())
        self._fsync: Fsync = fsync
        self._runtime_dir = runtime_dir
        self._lock_wait_s = 2 * patience_s
        self._presence = Presence(self._folder, spec.title, patience_s)

    async def start(self, on_progress: OnProgress | None = None) -> Address:
        """Starts the server, or joins the one that runs, and waits until its data is loaded.

        ``on_progress`` is called with a ``LoadProgress`` for as long as the server loads.
        Raises BinariesMissing, DataFolderUnusable, FolderLocked, StartFailed, ServerUnresponsive.
        """
        self._folder.prepare()
        log_start = self._folder.log_size()
        async with self._exclusively():
            url = await self._presence.url()
            if url is None:
                url = await launch(self._spec, self._folder, self._fsync, self._runtime_dir)
        await self._presence.loaded(url, on_progress, log_start)
        await self._tighten_fsync(url)
        return Address(url, "embedded")

    async def stop(self, grace_s: float = 30.0) -> bool:
        """Ends the server after its data is on the disk; False when none ran.

        SHUTDOWN first; after ``grace_s`` seconds SIGTERM, after as many again SIGKILL, which
        with ``everysec`` may cost what Redis held back while the disk was busy.
        Raises FolderLocked or StopFailed.
        """
        if not self._folder.path.is_dir():
            return False
        async with self._exclusively():
            ran = self._presence.lives()
            if ran:
                await self._end(grace_s)
            self._folder.forget(socket_path(self._folder.path, self._runtime_dir))
        return ran

    async def demand_answer(self) -> None:
        """Raises ServerUnresponsive where a server runs and stays silent. Starts nothing."""
        await self._presence.url()

    async def status(self) -> Status:
        """What is known now. Starts nothing, changes nothing and waits for nobody."""
        data_dir = self._folder.path
        lives, record = self._presence.lives(), Record.read(self._folder.record)
        if not lives:
            # Who stops a server takes its record away.
            return Status(data_dir, died=record is not None)
        if record is None:
            return Status(data_dir, running=True)
        loading = self._presence.loads(record)
        vitals = None if loading else await self._presence.vitals(record.url)
        if vitals is None:
            return Status(data_dir, running=True, pid=record.pid, url=record.url, loading=loading)
        return Status(
            data_dir,
            running=True,
            responding=True,
            pid=vitals.pid,
            url=record.url,
            version=vitals.version,
            modules=vitals.modules,
            loading=vitals.loading,
            memory_bytes=vitals.memory_bytes,
        )

    @asynccontextmanager
    async def _exclusively(self) -> AsyncIterator[None]:
        """Nobody else starts or stops this server during the block."""
        lock = self._folder.start_lock
        entered = False
        try:
            async with locked(lock, self._lock_wait_s):
                entered = True
                yield
        except TimeoutError as error:
            if entered:
                raise
            raise FolderLocked(
                folder=self._folder.path, seconds=self._lock_wait_s, lock=lock
            ) from error

    async def _tighten_fsync(self, url: str) -> None:
        """Raises the durability of a server that was started with less; never lowers it."""
        if self._fsync == "always":
            async with connection(url) as client:
                await client.config_set("appendfsync", "always")

    async def _end(self, grace_s: float) -> None:
        """SHUTDOWN, SIGTERM, SIGKILL, each only if the one before did not do."""
        record = Record.read(self._folder.record)
        pid, born = (record.pid, record.born) if record is not None else (None, None)
        heard = record is not None and not self._presence.loads(record)
        if heard and record is not None and await self._presence.vitals(record.url) is not None:
            await self._shut_down(record.url)
            if await self._presence.ends_within(grace_s):
                return
        for number, wait_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, _KILL_GRACE_S)):
            if pid is not None and signal_process(pid, born, number):
                await self._presence.ends_within(wait_s)
            if not self._presence.lives():
                return
        raise StopFailed(
            title=self._spec.title,
            folder=self._folder.path,
            pid=pid if pid is not None else "unknown",
            log=self._folder.log,
        )

    async def _shut_down(self, url: str) -> None:
        """SHUTDOWN writes and syncs the append-only file, then closes the connection."""
        try:
            async with connection(url) as client:
                await client.shutdown()
        except (RedisError, OSError):
            # A refusal, or no answer: either shows by the process living on.
            return
