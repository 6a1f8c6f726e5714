"""What workers import: handlers whose effects are written down outside of DCF, Tasks that kill
their workers, and a clock of the wall that is wrong."""

from __future__ import annotations

import asyncio
import mmap
import os
import signal
import sqlite3
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dcf.worker import current_work

_SECONDS = struct.Struct("d")
CLOCK = "DCF_CHAOS_CLOCK"
"""The environment's word for the file of the clock."""
LEDGER = "DCF_CHAOS_LEDGER"
"""The environment's word for the file of the ledger."""


class Clock:
    """How wrong the clock of all workers is, in seconds: in a file that they look at."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def change(self, offset_s: float) -> bool:
        # In place: workers have the file open, and its length stays.
        file = os.open(self.file, os.O_WRONLY | os.O_CREAT, 0o600)
        os.pwrite(file, _SECONDS.pack(offset_s), 0)
        os.close(file)
        return True

    def install(self) -> None:
        """Make the clock of this process wrong."""
        right = time.time_ns
        offset = mmap.mmap(os.open(self.file, os.O_RDONLY), _SECONDS.size, prot=mmap.PROT_READ)

        def wrong_ns() -> int:
            return right() + int(_SECONDS.unpack(offset)[0] * 1e9)

        time.time_ns = wrong_ns
        time.time = lambda: wrong_ns() / 1e9


class Ledger:
    """What was done, by idempotency key: ``effects`` took place, ``attempts`` were made."""

    def __init__(self, file: Path) -> None:
        self.file = file
        with self._open() as db:
            db.executescript(
                "CREATE TABLE IF NOT EXISTS effects (key TEXT PRIMARY KEY, at REAL);"
                "CREATE TABLE IF NOT EXISTS attempts (key TEXT, pid INTEGER, at REAL);"
            )

    def attempt(self, key: str) -> None:
        with self._open() as db:
            db.execute("INSERT INTO attempts VALUES (?, ?, ?)", (key, os.getpid(), time.time()))

    def take_effect(self, key: str) -> None:
        """As a tool that remembers keys: the second time changes nothing."""
        with self._open() as db:
            db.execute("INSERT OR IGNORE INTO effects VALUES (?, ?)", (key, time.time()))

    def effects(self) -> set[str]:
        with self._open() as db:
            return {key for (key,) in db.execute("SELECT key FROM effects")}

    def attempts(self) -> int:
        with self._open() as db:
            [(count,)] = db.execute("SELECT count(*) FROM attempts")
            return int(count)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # One for each: whoever is killed leaves nothing open.
        db = sqlite3.connect(self.file, timeout=60)
        try:
            with db:
                yield db
        finally:
            db.close()


async def effect(given: Any) -> Any:
    """Takes effect after a while, once for all that try."""
    key = current_work().idempotency_key
    ledger = Ledger(Path(os.environ[LEDGER]))
    await asyncio.to_thread(ledger.attempt, key)
    await asyncio.sleep(float(given.get("for_s", 0.2)))
    await asyncio.to_thread(ledger.take_effect, key)
    return {"did": key.split("/")[1]}


async def die(_given: Any) -> Any:
    """A Task that the kernel kills its worker for."""
    print("killed for its memory", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
    return None


async def leave(_given: Any) -> Any:
    """A Task whose library ends the process."""
    os._exit(9)


HANDLERS = {"effect": effect, "die": die, "leave": leave}

if CLOCK in os.environ:
    Clock(Path(os.environ[CLOCK])).install()
