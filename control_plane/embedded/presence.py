"""Whether a server runs on a data folder, and whether it answers."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from redis.exceptions import RedisError

from control_plane.embedded.endpoint import socket_of
from control_plane.embedded.errors import ServerUnresponsive, StartFailed
from control_plane.embedded.filelock import is_locked, try_lock
from control_plane.embedded.folder import DataFolder
from control_plane.embedded.load_log import LoadLog
from control_plane.embedded.pause import pauses
from control_plane.embedded.record import Record
from control_plane.embedded.status import LoadProgress, OnProgress
from control_plane.embedded.vitals import ANSWER_TIMEOUT_S, Vitals, connection, take_vitals


class Presence:
    """The server on ``folder`` as others see it.

    ``patience_s``: how long a living server may stay silent before that is an error.
    """

    def __init__(self, folder: DataFolder, title: str, patience_s: float) -> None:
        self._folder = folder
        self._title = title
        self._patience_s = patience_s
        self._watched: tuple[Record, LoadLog] | None = None

    def lives(self) -> bool:
        """Whether the process exists: it holds its lock."""
        return is_locked(self._folder.server_lock)

    def loads(self, record: Record) -> bool:
        """Whether the server of ``record`` is one that loads alone, and not done: then nobody may
        connect to it. One that is done is let out here, by whoever sees it first."""
        if record.log_start is None:
            return False
        socket = socket_of(record.url)
        if socket is not None and socket.exists():
            self._note_loaded(record)
            return False
        if self._watched is None or self._watched[0] != record:
            self._watched = record, LoadLog(self._folder.log, record.log_start)
        if not self._watched[1].says_loaded():
            return True
        if socket is not None and record.hidden is not None:
            with suppress(FileNotFoundError):
                Path(record.hidden).rename(socket)
        self._note_loaded(record)
        return False

    def _note_loaded(self, record: Record) -> None:
        """The log is not asked again, whatever becomes of it. While somebody starts or stops a
        server the record is theirs: then whoever comes next notes it."""
        held = try_lock(self._folder.start_lock)
        if held is None:
            return
        try:
            if Record.read(self._folder.record) == record:
                replace(record, log_start=None, hidden=None).write(self._folder.record)
        finally:
            os.close(held)

    async def vitals(self, url: str) -> Vitals | None:
        """The vitals of the server at ``url`` if it answers and works on *this* folder."""
        try:
            async with connection(url, min(ANSWER_TIMEOUT_S, self._patience_s)) as client:
                vitals = await take_vitals(client)
                place = await client.config_get("dir")
        except (RedisError, OSError):
            # Not up yet, not down yet, or a stranger at that address: in any case not ours.
            return None
        return vitals if self._folder.is_at(str(place.get("dir", ""))) else None

    async def url(self) -> str | None:
        """The URL of the server that runs; None when none does.

        A server that lives but does not answer is about to: it is starting or ending.
        Raises ServerUnresponsive when patience ends.
        """
        try:
            async with asyncio.timeout(self._patience_s):
                async for _ in pauses():
                    if not self.lives():
                        return None
                    record = Record.read(self._folder.record)
                    if record is None:
                        continue
                    if self.loads(record) or await self.vitals(record.url) is not None:
                        return record.url
        except TimeoutError as error:
            raise self._unresponsive() from error
        raise AssertionError("pauses() never ends")

    async def loaded(self, url: str, on_progress: OnProgress | None, log_start: int) -> None:
        """Waits until the data is loaded: for as long as the server lives and answers, or, where it
        loads alone, lives.

        Raises StartFailed with what it logged after byte ``log_start``, or ServerUnresponsive.
        """
        clock = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(self._patience_s) as limit:
                async for _ in pauses():
                    record = Record.read(self._folder.record)
                    if record is not None and self.loads(record):
                        self._demand_life(log_start)
                        limit.reschedule(clock() + self._patience_s)
                        continue
                    vitals = await self.vitals(url)
                    if vitals is None:
                        self._demand_life(log_start)
                        continue
                    if not vitals.loading:
                        return
                    limit.reschedule(clock() + self._patience_s)
                    if on_progress is not None:
                        on_progress(LoadProgress(vitals.loaded, vitals.eta_seconds))
        except TimeoutError as error:
            raise self._unresponsive() from error

    async def ends_within(self, seconds: float) -> bool:
        """Whether the process is gone in time."""
        try:
            async with asyncio.timeout(seconds):
                async for _ in pauses():
                    if not self.lives():
                        return True
        except TimeoutError:
            return False
        raise AssertionError("pauses() never ends")

    def _demand_life(self, log_start: int) -> None:
        if not self.lives():
            tail = self._folder.log_tail(log_start)
            raise StartFailed(title=self._title, log=self._folder.log, tail=tail)

    def _unresponsive(self) -> ServerUnresponsive:
        return ServerUnresponsive(
            title=self._title, folder=self._folder.path, seconds=self._patience_s
        )
