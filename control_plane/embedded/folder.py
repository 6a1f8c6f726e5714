"""The files of one embedded server, all below its data folder."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from control_plane.embedded.errors import DataFolderUnusable
from control_plane.embedded.record import Record

LOG_LIMIT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class DataFolder:
    """``path`` holds Redis's own files (``appendonlydir``) and the ones named here."""

    path: Path

    @property
    def start_lock(self) -> Path:
        """Held while somebody starts or stops the server."""
        return self.path / "start.lock"

    @property
    def server_lock(self) -> Path:
        """Held by the server process while it lives."""
        return self.path / "server.lock"

    @property
    def record(self) -> Path:
        """Address and pid of the server last started."""
        return self.path / "server.json"

    @property
    def config(self) -> Path:
        """The redis.conf it was started with."""
        return self.path / "redis.conf"

    @property
    def log(self) -> Path:
        """What it prints; the one before it is ``server.log.1``."""
        return self.path / "server.log"

    def prepare(self) -> None:
        """Makes the folder, private to its owner. Raises DataFolderUnusable."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            if stat.S_IMODE(self.path.stat().st_mode) != 0o700:
                self.path.chmod(0o700)
        except OSError as error:
            raise DataFolderUnusable(folder=self.path, reason=error.strerror or error) from error
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise DataFolderUnusable(folder=self.path, reason="it is not writable")

    def forget(self, socket: Path | None) -> None:
        """Removes what a server that is gone left behind, but for its data: its record, and the
        sockets that it listened on, one of them maybe ``socket``."""
        record = Record.read(self.record)
        for left in (socket, record and record.hidden and Path(record.hidden)):
            if left:
                left.unlink(missing_ok=True)
        self.record.unlink(missing_ok=True)

    def is_at(self, other: str) -> bool:
        """Whether ``other``, as a server names its folder, is this one behind all symlinks."""
        return os.path.realpath(other) == os.path.realpath(self.path)

    def open_log(self) -> int:
        """A descriptor that appends to the log; a long log is put aside first."""
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT_BYTES:
            self.log.replace(self.log.with_name("server.log.1"))
        return os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def log_size(self) -> int:
        """Bytes logged so far."""
        return self.log.stat().st_size if self.log.exists() else 0

    def logged(self, start: int) -> str:
        """What was logged from byte ``start`` on."""
        try:
            with self.log.open("rb") as file:
                # A log shorter than it was is a new one.
                file.seek(start if start <= self.log_size() else 0)
                return file.read().decode(errors="replace")
        except FileNotFoundError:
            return ""

    def log_tail(self, start: int = 0, lines: int = 8) -> str:
        """The last lines that were logged from byte ``start`` on, or a note that there are none."""
        if not self.log.exists():
            return "(there is no log)"
        return "\n".join(self.logged(start).splitlines()[-lines:]) or "(the log is empty)"
